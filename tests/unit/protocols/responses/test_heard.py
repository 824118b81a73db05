"""Events with members of unexpected types are still read."""

from tidegate.protocols.responses.heard import Event, parse


def test_an_event() -> None:
    text = b'{"type":"response.output_text.delta","output_index":1,"delta":"a","logprobs":[]}'
    assert parse(text) == Event("response.output_text.delta", output_index=1, delta="a", logprobs=[])


def test_members_of_other_types_count_as_absent() -> None:
    text = b'{"type":7,"output_index":"1","logprobs":{},"text":null,"delta":{"a":1}}'
    assert parse(text) == Event(delta={"a": 1})


def test_what_is_no_object() -> None:
    assert parse(b"[]") is None
    assert parse(b"{") is None
