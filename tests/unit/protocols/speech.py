"""One short answer as each upstream says it, and what a caller of each protocol reads in a stream."""

from typing import Any

from tests.harness import sse
from tests.property.stream_grammars import accumulated
from tests.unit.protocols import upstreams as up
from tests.unit.protocols.frames import data

from tidegate.core.protocol import Protocol

CHAT_USAGE = data({"choices": [], "usage": {"prompt_tokens": 7, "completion_tokens": 2}})
STOP = up.chunk({}, "stop")


def spoken(upstream: Protocol, *texts: str) -> list[bytes]:
    """The beginning of an answer: some text that may go on."""
    match upstream:
        case Protocol.CHAT:
            return [up.chunk({"role": "assistant"}), *(up.chunk({"content": text}) for text in texts)]
        case Protocol.RESPONSES:
            part = {"type": "output_text", "text": "", "annotations": []}
            item = {"id": "msg_1", "type": "message", "content": []}
            deltas = [up.event("output_text.delta", content_index=0, delta=text) for text in texts]
            return [
                up.created(),
                up.added(0, item),
                up.event("content_part.added", content_index=0, part=part),
                *deltas,
            ]
        case Protocol.MESSAGES:
            grown = [up.grow(0, text=text) for text in texts]
            return [up.message({"input_tokens": 7}), up.begin(0, {"type": "text", "text": ""}), *grown]


def ended(upstream: Protocol, *texts: str) -> list[bytes]:
    """The rest of an answer that ends well, with its usage: 7 tokens in, 2 out."""
    match upstream:
        case Protocol.CHAT:
            return [STOP, CHAT_USAGE, up.DONE]
        case Protocol.RESPONSES:
            usage = {"input_tokens": 7, "output_tokens": 2}
            return [up.completed(up.spoken("".join(texts), id="msg_1"), usage=usage)]
        case Protocol.MESSAGES:
            return [up.stop(0), up.ending("end_turn", {"output_tokens": 2}), up.MESSAGE_STOP]


def text_of(client: Protocol, stream: bytes) -> str:
    """The text that the official SDK reads."""
    final = accumulated(client, stream)
    if client is Protocol.CHAT:
        return final["choices"][0]["message"]["content"] or ""
    parts = final["content"] if client is Protocol.MESSAGES else _parts(final["output"])
    return "".join(part.get("text", "") for part in parts)


def _parts(items: list[Any]) -> list[Any]:
    return [part for item in items for part in item.get("content", ())]


def usage_of(client: Protocol, stream: bytes) -> tuple[int, int]:
    """The two counts that the caller was told last."""
    found = None
    for value in sse.read(stream).json():
        for place in (value, value.get("message") or {}, value.get("response") or {}):
            found = place.get("usage") or found
    assert found is not None
    names = (
        ("prompt_tokens", "completion_tokens")
        if client is Protocol.CHAT
        else ("input_tokens", "output_tokens")
    )
    return found[names[0]], found[names[1]]


def whole(upstream: Protocol, text: str, *, usage: bool = True) -> dict[str, Any]:
    """The same as a whole answer."""
    answer = {**_whole(upstream, text), "model": "up"}
    if not usage:
        del answer["usage"]
    return answer


def _whole(upstream: Protocol, text: str) -> dict[str, Any]:
    counts = {"input_tokens": 7, "output_tokens": 2}
    match upstream:
        case Protocol.CHAT:
            message = {"role": "assistant", "content": text}
            choice = {"index": 0, "message": message, "finish_reason": "stop"}
            told = {"prompt_tokens": 7, "completion_tokens": 2}
            return {"id": "c1", "object": "chat.completion", "choices": [choice], "usage": told}
        case Protocol.RESPONSES:
            output = [up.spoken(text, id="msg_1", role="assistant")]
            answer = {"id": "r1", "object": "response", "status": "completed", "output": output}
            return {**answer, "usage": counts}
        case Protocol.MESSAGES:
            content = [{"type": "text", "text": text}]
            answer = {"id": "m1", "type": "message", "role": "assistant", "content": content}
            return {**answer, "stop_reason": "end_turn", "stop_sequence": None, "usage": counts}
