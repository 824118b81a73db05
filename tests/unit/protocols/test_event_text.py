"""Events as every client reads them."""

from tidegate.protocols.event_text import DONE, data_event, named_event


def test_events() -> None:
    assert data_event({"a": "é\n"}) == 'data: {"a":"é\\n"}\n\n'.encode()
    assert named_event({"type": "ping"}) == b'event: ping\ndata: {"type":"ping"}\n\n'
    assert DONE == b"data: [DONE]\n\n"
