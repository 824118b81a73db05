"""Upstreams that speak as sparely as manuals of gateways print their streams, members and events left out."""

import pytest
from tests.harness.crossing import cross
from tests.harness.dialects import CHAT, MESSAGES, RESPONSES, Side
from tests.harness.notation import data, named
from tests.harness.pairs import NINE, Pair
from tests.harness.stage import Stage


def _chunk(**members: object) -> bytes:
    head = {"id": "chatcmpl-EXAMPLE", "object": "chat.completion.chunk", "model": "up"}
    return data({**head, **members})


def _choice(delta: dict[str, str], finish: str | None = None) -> list[object]:
    return [{"index": 0, "delta": delta, "finish_reason": finish}]


def _event(type_: str, **members: object) -> bytes:
    return named(type_, {"type": type_, **members})


_COUNTS = {"input_tokens": 14, "output_tokens": 58, "total_tokens": 72}
SPARE: dict[Side, list[bytes]] = {
    CHAT: [
        _chunk(choices=_choice({"role": "assistant", "content": "我是"})),
        _chunk(choices=_choice({}, "stop")),
        _chunk(choices=[], usage={"prompt_tokens": 14, "completion_tokens": 58, "total_tokens": 72}),
        b"data: [DONE]\n\n",
    ],
    RESPONSES: [
        _event("response.created", response={"id": "resp_EXAMPLE", "status": "in_progress"}),
        _event(
            "response.output_text.delta",
            item_id="msg_EXAMPLE",
            output_index=0,
            content_index=0,
            delta="我是",
        ),
        _event(
            "response.completed", response={"id": "resp_EXAMPLE", "status": "completed", "usage": _COUNTS}
        ),
    ],
    MESSAGES: [
        _event(
            "message_start",
            message={
                "id": "msg_EXAMPLE",
                "role": "assistant",
                "model": "up",
                "content": [],
                "usage": {"input_tokens": 14, "output_tokens": 1},
            },
        ),
        _event("content_block_delta", index=0, delta={"type": "text_delta", "text": "我是"}),
        _event("message_delta", delta={"stop_reason": "end_turn"}, usage={"output_tokens": 58}),
        _event("message_stop"),
    ],
}


@pytest.mark.parametrize("pair", NINE, ids=lambda pair: pair.name)
async def test_b048_what_a_spare_stream_says_arrives_whole(crossing: Stage, pair: Pair) -> None:
    modes = ["gathered"] if pair.client is pair.channel else ["stream", "gathered"]
    for mode in modes:
        crossed = await cross(crossing, pair, SPARE[pair.channel], mode=mode)
        heard = crossed.heard
        assert heard.text == "我是"
        assert heard.counts is not None
        assert (heard.counts.fresh, heard.counts.output) == (14, 58)


@pytest.mark.parametrize("side", list(SPARE), ids=lambda side: side.name)
async def test_a_spare_stream_keeps_its_bytes_on_the_same_protocol(crossing: Stage, side: Side) -> None:
    crossed = await cross(crossing, Pair(side, side), SPARE[side])
    model = crossed.played.model
    sent = b"".join(SPARE[side]).replace(b'"model":"up"', f'"model":"{model}"'.encode())
    assert crossed.played.reply.body == sent
