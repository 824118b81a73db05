"""Responses events are read as servers send them."""

import pytest

from tidegate.protocols.responses import wire


@pytest.mark.parametrize(
    ("text", "event"),
    [
        (b"{}", wire.Event()),
        (
            b'{"type":"response.output_text.delta","sequence_number":4,"delta":"a","logprobs":[]}',
            wire.Event(type="response.output_text.delta", sequence_number=4, delta="a"),
        ),
        (
            b'{"type":"response.output_item.added","output_index":0,"item":{"id":"i","type":"message","content":[]}}',
            wire.Event(type="response.output_item.added", item=wire.Item(id="i", type="message", content=[])),
        ),
        (
            b'{"type":"response.completed","response":{"id":"r","status":7,"output":[{"id":"i"},3],"usage":null}}',
            wire.Event(type="response.completed", response=wire.Response(id="r", output=[wire.Item(id="i")])),
        ),
        (b'{"type":"x","sequence_number":"4","error":{}}', wire.Event(type="x", error={})),
        (b'{"response":null,"item":[],"part":{"text":1}}', wire.Event(part=wire.Part())),
    ],
)
def test_what_is_read(text: bytes, event: wire.Event) -> None:
    assert wire.parse(text) == event


@pytest.mark.parametrize("text", [b"", b"[]", b"17", b"<html>", b'{"a"'])
def test_no_object_is_no_event(text: bytes) -> None:
    assert wire.parse(text) is None
