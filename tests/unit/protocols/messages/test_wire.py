"""Messages events are read as servers send them."""

import pytest

from tidegate.protocols.messages import wire


@pytest.mark.parametrize(
    ("text", "event"),
    [
        (b"{}", wire.Event()),
        (
            b'{"type":"message_start","message":{"id":"m","model":"x","content":[],"usage":{"input_tokens":1}}}',
            wire.Event(
                type="message_start", message=wire.Message(id="m", model="x", usage={"input_tokens": 1})
            ),
        ),
        (
            b'{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","name":"f","input":{}}}',
            wire.Event(type="content_block_start", content_block=wire.Block(type="tool_use", name="f")),
        ),
        (
            b'{"type":"content_block_delta","delta":{"type":"input_json_delta","partial_json":"{"}}',
            wire.Event(
                type="content_block_delta", delta=wire.Delta(type="input_json_delta", partial_json="{")
            ),
        ),
        (b'{"type":7,"delta":{"text":"a","signature":[]}}', wire.Event(delta=wire.Delta(text="a"))),
        (b'{"type":"message_start","message":null}', wire.Event(type="message_start")),
        (b'{"type":"x","error":"boom"}', wire.Event(type="x", error="boom")),
    ],
)
def test_what_is_read(text: bytes, event: wire.Event) -> None:
    assert wire.parse(text) == event


@pytest.mark.parametrize("text", [b"", b"[]", b"17", b"<html>", b'{"a"'])
def test_no_object_is_no_event(text: bytes) -> None:
    assert wire.parse(text) is None
