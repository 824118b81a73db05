"""Chunks from parts that are made once."""

import json
from typing import Any

from tests.unit.protocols.encoding import context, payloads

from tidegate.core.protocol import Protocol
from tidegate.protocols.chat.chunks import Chunks


def begun(**more: Any) -> tuple[Chunks, bytes]:
    chunks = Chunks(context(Protocol.CHAT, Protocol.MESSAGES, **more))
    assert not chunks.begun
    first = chunks.begin(None)
    assert chunks.begun
    return chunks, first


def test_only_a_stream_has_content_from_the_start() -> None:
    [streamed] = payloads(begun()[1])
    [told] = payloads(begun(stream=False)[1])
    assert streamed["choices"][0]["delta"] == {"role": "assistant", "content": ""}
    assert told["choices"][0]["delta"] == {"role": "assistant", "content": None}


def test_a_model_name_may_hold_anything() -> None:
    [told] = payloads(begun(body={"model": 'a"b\n\x00\\'})[1])
    assert told["model"] == 'a"b\n\x00\\'


def test_a_quoted_chunk_is_the_delta_with_its_text() -> None:
    chunks, _ = begun()
    quoted = chunks.quoted(b'{"content":', b"}")
    assert quoted.chunk('say "x"') == chunks.delta({"content": 'say "x"'})


def test_every_chunk_is_one_line_of_data() -> None:
    chunks, first = begun()
    for event in (
        first,
        chunks.delta({"content": "a\nb"}),
        chunks.finish("stop"),
        chunks.usage({"total_tokens": 1}),
    ):
        assert event.startswith(b"data: {")
        assert event.endswith(b"}\n\n")
        assert event.count(b"\n") == 2
        assert json.loads(event[6:])["object"] == "chat.completion.chunk"
