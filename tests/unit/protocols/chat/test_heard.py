"""Chunks with members of unexpected types are still read."""

from tidegate.protocols.chat.heard import Choice, Chunk, Delta, Function, ToolCall, as_delta, parse


def test_a_chunk() -> None:
    text = b'{"id":"c1","choices":[{"index":0,"delta":{"content":"a"},"finish_reason":null}]}'
    assert parse(text) == Chunk("c1", [Choice(delta=Delta(content="a"))])


def test_members_of_other_types_count_as_absent() -> None:
    text = b'{"id":7,"choices":[{"index":null,"delta":{"content":5,"refusal":"no"},"finish_reason":1},"x"]}'
    assert parse(text) == Chunk(choices=[Choice(delta=Delta(refusal="no"))])


def test_arguments_stay_as_they_came() -> None:
    text = b'{"choices":[{"delta":{"tool_calls":[{"index":"0","id":5,"function":{"arguments":{"a":1}}}]}}]}'
    function = Function(arguments={"a": 1})
    assert parse(text) == Chunk(choices=[Choice(delta=Delta(tool_calls=[ToolCall(function=function)]))])


def test_a_message_in_the_place_of_a_delta() -> None:
    assert as_delta({"role": "assistant", "content": "a", "refusal": 5}) == Delta(content="a")
    assert as_delta(None) is None
    assert as_delta("text") is None


def test_what_is_no_object() -> None:
    assert parse(b"1") is None
    assert parse(b"{") is None
