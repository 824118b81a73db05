"""Chunks are read as servers send them."""

import pytest

from tidegate.protocols.chat import wire


def test_a_whole_chunk() -> None:
    chunk = wire.parse(
        b'{"id":"c","created":1.5,"model":"m","usage":null,"choices":[{"index":1,"finish_reason":"stop",'
        b'"delta":{"role":"assistant","content":"x","tool_calls":[{"index":0,"id":"t","type":"function",'
        b'"function":{"name":"f","arguments":{"a":1}}}]}}],"vendor":[1]}'
    )
    assert chunk is not None
    assert (chunk.id, chunk.created, chunk.model, chunk.usage, chunk.error) == ("c", 1.5, "m", None, None)
    [choice] = chunk.choices or []
    assert (choice.index, choice.finish_reason) == (1, "stop")
    assert choice.delta is not None
    assert choice.delta.tool_calls is not None
    function = choice.delta.tool_calls[0].function
    assert function == wire.Function(name="f", arguments={"a": 1})


@pytest.mark.parametrize(
    ("text", "chunk"),
    [
        (b"{}", wire.Chunk()),
        (b'{"choices":{}}', wire.Chunk()),
        (b'{"choices":[null,{"index":"1"}]}', wire.Chunk(choices=[wire.Choice()])),
        (
            b'{"id":7,"choices":[{"delta":{"content":"a","tool_calls":"x"}}]}',
            wire.Chunk(choices=[wire.Choice(delta=wire.Delta(content="a"))]),
        ),
        (
            b'{"choices":[{"delta":{"content":[{"type":"text"}],"reasoning":{"text":"r"}}}]}',
            wire.Chunk(
                choices=[wire.Choice(delta=wire.Delta(content=[{"type": "text"}], reasoning={"text": "r"}))]
            ),
        ),
    ],
)
def test_members_of_other_types_are_absent(text: bytes, chunk: wire.Chunk) -> None:
    assert wire.parse(text) == chunk


@pytest.mark.parametrize("text", [b"", b"[]", b"17", b"<html>", b'{"a"'])
def test_no_object_is_no_chunk(text: bytes) -> None:
    assert wire.parse(text) is None
