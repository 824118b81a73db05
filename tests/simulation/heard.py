"""What a caller has got, read as its protocol's client reads it, whether it is whole or breaks off."""

import json
from dataclasses import dataclass
from typing import Any

from tests.harness import sse
from tests.harness.dialects import CHAT, MESSAGES, RESPONSES, Side
from tests.harness.invariants import check_stream
from tests.simulation.client import PlayedClient

from tidegate.core.protocol import Protocol

SIDES: dict[Protocol, Side] = {
    Protocol.CHAT: CHAT,
    Protocol.RESPONSES: RESPONSES,
    Protocol.MESSAGES: MESSAGES,
}


@dataclass
class Heard:
    """The words of an answer; `ended` with its end mark, or with `error`."""

    text: str = ""
    thought: str = ""
    call: str = ""
    ended: bool = False
    error: Any = None


def hear(protocol: Protocol, client: PlayedClient) -> Heard:
    """Check the form of what the client has got, and read it."""
    if client.status is None:
        return Heard()
    if client.streamed:
        return _hear_stream(SIDES[protocol], sse.read(client.written))
    answer = json.loads(client.written)
    if client.status != 200:
        assert isinstance(answer["error"]["message"], str)
        return Heard(error=answer["error"])
    if "input_tokens" in answer:  # of count_tokens
        assert answer["input_tokens"] > 0
        return Heard(ended=True)
    heard = _READ_WHOLE[protocol](answer)
    heard.ended = True
    return heard


def _hear_stream(side: Side, stream: sse.Stream) -> Heard:
    ends = [number for number, event in enumerate(stream.events) if side.is_end(event)]
    errors = [number for number, event in enumerate(stream.events) if _error(side, event) is not None]
    marks = ends + errors
    assert len(marks) <= 1, f"{len(ends)} end marks and {len(errors)} errors"
    assert marks in ([], [len(stream.events) - 1]), "an event after the end mark or error"
    values = stream.json()
    if side is RESPONSES:
        numbers = [value["sequence_number"] for value in values]
        assert numbers == list(range(len(values))), f"sequence_number: {numbers}"
    heard = _READ_EVENTS[side.name](values)
    if ends:
        heard.ended = True
        check_stream(side, stream)
    if errors:
        heard.error = _error(side, stream.events[-1])
    return heard


def _error(side: Side, event: sse.Event) -> Any:
    return None if event.data == "[DONE]" else side.error_of(event)


def _chat_events(values: list[Any]) -> Heard:
    heard = Heard()
    for choice in (choice for value in values for choice in value.get("choices", ())):
        delta = choice["delta"]
        heard.text += delta.get("content") or ""
        heard.thought += delta.get("reasoning_content") or ""
        for call in delta.get("tool_calls") or ():
            heard.call += call["function"].get("arguments") or ""
    return heard


def _messages_events(values: list[Any]) -> Heard:
    heard = Heard()
    for delta in (value["delta"] for value in values if value["type"] == "content_block_delta"):
        heard.text += delta.get("text", "")
        heard.thought += delta.get("thinking", "")
        heard.call += delta.get("partial_json", "")
    return heard


def _responses_events(values: list[Any]) -> Heard:
    heard = Heard()
    for value in values:
        match value["type"]:
            case "response.output_text.delta":
                heard.text += value["delta"]
            case "response.reasoning_summary_text.delta" | "response.reasoning_text.delta":
                heard.thought += value["delta"]
            case "response.function_call_arguments.delta":
                heard.call += value["delta"]
            case _:  # an event that tells no words
                pass
    return heard


def _chat_whole(answer: Any) -> Heard:
    (choice,) = answer["choices"]
    message = choice["message"]
    calls = message.get("tool_calls") or ()
    return Heard(
        message.get("content") or "",
        message.get("reasoning_content") or "",
        "".join(call["function"]["arguments"] for call in calls),
    )


def _messages_whole(answer: Any) -> Heard:
    heard = Heard()
    for block in answer["content"]:
        heard.text += block.get("text", "")
        heard.thought += block.get("thinking", "")
        if block["type"] == "tool_use":
            heard.call += json.dumps(block["input"], separators=(",", ":"), ensure_ascii=False)
    return heard


def _responses_whole(answer: Any) -> Heard:
    heard = Heard()
    for item in answer["output"]:
        heard.text += "".join(part["text"] for part in item["content"]) if item["type"] == "message" else ""
        heard.thought += (
            "".join(part["text"] for part in [*item.get("summary", ()), *(item.get("content") or ())])
            if item["type"] == "reasoning"
            else ""
        )
        heard.call += item.get("arguments", "")
    return heard


_READ_EVENTS = {"chat": _chat_events, "messages": _messages_events, "responses": _responses_events}
_READ_WHOLE = {
    Protocol.CHAT: _chat_whole,
    Protocol.MESSAGES: _messages_whole,
    Protocol.RESPONSES: _responses_whole,
}
