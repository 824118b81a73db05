"""A Chat Completions answer, whole and event by event."""

from collections.abc import Iterator
from itertools import count
from typing import Any

import msgspec

from tidegate.core.protocol import Protocol
from tidegate.simulator.ask import Ask, Json, ToolForm
from tidegate.simulator.plot import (
    CREATED,
    SOURCE,
    Block,
    Call,
    Plot,
    Reasoning,
    Refused,
    Search,
    Stop,
    Text,
    Tokens,
)
from tidegate.simulator.script import Beat, Part
from tidegate.simulator.trouble import ErrorForm, Trouble, error_object

_FINISH = {
    Stop.END: "stop",
    Stop.LIMIT: "length",
    Stop.TOOLS: "tool_calls",
    Stop.SEQUENCE: "stop",
    Stop.REFUSAL: "stop",
}


class ChatTranscript:
    """The answer of a plot as chunks; every choice says the same, turn by turn."""

    def __init__(self, ask: Ask, plot: Plot) -> None:
        self._ask = ask
        self._plot = plot

    def beats(self) -> Iterator[Beat]:
        yield from self._all(Part.PREAMBLE, {"role": "assistant", "content": ""})
        calls = count()
        for block in self._plot.blocks:
            yield from self._block(block, calls)
        if notes := _annotations(self._plot):
            yield from self._all(Part.OUTPUT, {"annotations": notes})
        yield from self._all(Part.FINISH, {}, _finish(self._plot))
        if self._ask.wants_usage and self._plot.tells_usage:
            yield Beat(Part.USAGE, self._chunk([], usage=_usage(self._plot.tokens)))
        yield Beat(Part.END, b"[DONE]")

    def _block(self, block: Block, calls: Iterator[int]) -> Iterator[Beat]:
        match block:
            case Call():
                yield from self._called(block, next(calls))
            case Reasoning() | Text() | Refused() | Search():
                member, pieces = _said(block)
                for piece in pieces:
                    yield from self._all(Part.OUTPUT, {member: piece})

    def said(self, beat: Beat) -> bytes:
        return beat.data

    def failure(self, trouble: Trouble, form: ErrorForm) -> Beat:
        error = error_object(Protocol.CHAT, trouble)
        match form:
            case ErrorForm.TEXT:
                return _beat({"error": trouble.message})
            case ErrorForm.CHUNK:
                choice = {"index": 0, "delta": {"content": ""}, "finish_reason": "error"}
                return Beat(Part.FRAME, self._chunk([choice], error=error))
            case ErrorForm.USUAL | ErrorForm.FLAT | ErrorForm.NESTED:
                return _beat({"error": error})

    def ping(self) -> None:
        return None

    def _called(self, call: Call, index: int) -> Iterator[Beat]:
        pieces = call.pieces
        if call.tool.form is ToolForm.CUSTOM:
            # Deltas know functions only, so free text travels as the one member of an object.
            pieces = (msgspec.json.encode({"input": "".join(pieces)}).decode(),)
        for choice in range(self._ask.choices):
            function: Json = {"name": call.tool.name, "arguments": ""}
            start = {"index": index, "id": _call_id(call, choice), "type": "function", "function": function}
            yield self._delta(Part.OUTPUT, choice, {"tool_calls": [start]})
        for piece in pieces:
            yield from self._all(
                Part.OUTPUT, {"tool_calls": [{"index": index, "function": {"arguments": piece}}]}
            )

    def _all(self, part: Part, delta: Json, finish: str | None = None) -> Iterator[Beat]:
        for choice in range(self._ask.choices):
            yield self._delta(part, choice, delta, finish)

    def _delta(self, part: Part, choice: int, delta: Json, finish: str | None = None) -> Beat:
        return Beat(part, self._chunk([{"index": choice, "delta": delta, "finish_reason": finish}]))

    def _chunk(self, choices: list[Json], **more: object) -> bytes:
        head = {"id": f"chatcmpl-{self._plot.stem}", "object": "chat.completion.chunk", "created": CREATED}
        return msgspec.json.encode({**head, "model": self._plot.model, "choices": choices, **more})


def whole(ask: Ask, plot: Plot) -> bytes:
    """The answer to a request that does not stream."""
    answer: Json = {
        "id": f"chatcmpl-{plot.stem}",
        "object": "chat.completion",
        "created": CREATED,
        "model": plot.model,
        "choices": [
            {
                "index": choice,
                "message": _message(plot, choice),
                "finish_reason": _finish(plot),
                "logprobs": None,
            }
            for choice in range(ask.choices)
        ],
    }
    if plot.tells_usage:
        answer["usage"] = _usage(plot.tokens)
    return msgspec.json.encode(answer)


def _message(plot: Plot, choice: int) -> Json:
    calls = [_whole_call(block, choice) for block in plot.blocks if isinstance(block, Call)]
    spoken = [_said(block) for block in plot.blocks if not isinstance(block, Call)]
    said = {member: "".join(pieces) for member, pieces in spoken if member}
    message: Json = {"role": "assistant", "content": None, "refusal": None, **said}
    if calls:
        message["tool_calls"] = calls
    if notes := _annotations(plot):
        message["annotations"] = notes
    return message


def _said(block: Reasoning | Text | Refused | Search) -> tuple[str, tuple[str, ...]]:
    """The member that a block's text goes into; none for what chat has no form for."""
    match block:
        case Reasoning(pieces=pieces, shown=True):
            return "reasoning_content", pieces
        case Reasoning() | Search():
            return "", ()
        case Text(pieces=pieces):
            return "content", pieces
        case Refused(pieces=pieces):
            return "refusal", pieces


def _whole_call(call: Call, choice: int) -> Json:
    text, named = "".join(call.pieces), {"id": _call_id(call, choice), "type": call.tool.form.value}
    match call.tool.form:
        case ToolForm.FUNCTION:
            return {**named, "function": {"name": call.tool.name, "arguments": text}}
        case ToolForm.CUSTOM:
            return {**named, "custom": {"name": call.tool.name, "input": text}}


def _annotations(plot: Plot) -> list[Json]:
    return [
        {
            "type": "url_citation",
            "url_citation": {**SOURCE, "start_index": 0, "end_index": len("".join(block.pieces))},
        }
        for block in plot.blocks
        if isinstance(block, Text) and block.cited
    ]


def _call_id(call: Call, choice: int) -> str:
    return f"call_{call.id}" if choice == 0 else f"call_{call.id}c{choice}"


def _finish(plot: Plot) -> str:
    return plot.finish or _FINISH[plot.stop]


def _usage(tokens: Tokens) -> dict[str, Any]:
    return {
        "prompt_tokens": tokens.prompt,
        "completion_tokens": tokens.output,
        "total_tokens": tokens.prompt + tokens.output,
        "prompt_tokens_details": {
            "cached_tokens": tokens.cache_read,
            "cache_write_tokens": tokens.cache_write + tokens.cache_write_1h,
        },
        "completion_tokens_details": {"reasoning_tokens": tokens.reasoning},
    }


def _beat(value: Json) -> Beat:
    return Beat(Part.FRAME, msgspec.json.encode(value))
