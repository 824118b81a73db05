"""A complete stream, event by event."""

from tidegate.protocols.whole_streams import events_of, is_done


def datas(stream: bytes) -> list[bytes]:
    return [frame.data for frame in events_of(stream)]


def test_events_with_data_only() -> None:
    assert datas(b": hi\n\ndata: {}\n\nevent: x\n\ndata:\n\ndata: [DONE]\n\n") == [b"{}", b"[DONE]"]


def test_a_last_event_without_its_blank_line_counts_if_it_is_whole() -> None:
    assert datas(b'data: {"a":1}') == [b'{"a":1}']
    assert datas(b"data: [DONE]\n") == [b"[DONE]"]
    assert datas(b'data: {"a":') == []


def test_done() -> None:
    assert [is_done(frame) for frame in events_of(b"data: [DONE] x\n\ndata: {}\n\n")] == [True, False]
