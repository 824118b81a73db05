"""A Messages answer, whole and event by event."""

from collections.abc import Iterator

import msgspec

from tidegate.core.protocol import Protocol
from tidegate.simulator.ask import Ask, Json
from tidegate.simulator.plot import (
    QUERY,
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

_STOP_REASON = {
    Stop.END: "end_turn",
    Stop.LIMIT: "max_tokens",
    Stop.TOOLS: "tool_use",
    Stop.SEQUENCE: "stop_sequence",
    Stop.REFUSAL: "refusal",
}
_EXPLANATION = "This request was declined under the usage policy."


class MessagesTranscript:
    """The answer of a plot as blocks that open, grow and close, one at a time."""

    def __init__(self, ask: Ask, plot: Plot) -> None:
        self._ask = ask
        self._plot = plot
        self._index = 0

    def beats(self) -> Iterator[Beat]:
        start = _message(self._plot, [], None)
        if self._plot.tells_usage:
            start["usage"] = {
                **_prompt_usage(self._plot.tokens),
                "output_tokens": 1,
                "service_tier": "standard",
            }
        yield _beat(Part.PREAMBLE, "message_start", message=start)
        for block in self._plot.blocks:
            yield from self._block(block)
        ending: Json = {"delta": _ending(self._plot)}
        if self._plot.tells_usage:
            ending["usage"] = _usage(self._plot.tokens)
        yield _beat(Part.FINISH, "message_delta", **ending)
        yield _beat(Part.END, "message_stop")

    def said(self, beat: Beat) -> bytes:
        return beat.data

    def failure(self, trouble: Trouble, form: ErrorForm) -> Beat:
        del form  # this protocol has one
        return _beat(Part.FRAME, "error", error=error_object(Protocol.MESSAGES, trouble))

    def ping(self) -> Beat:
        return _beat(Part.FRAME, "ping")

    def _block(self, block: Block) -> Iterator[Beat]:
        match block:
            case Reasoning():
                yield from self._reasoned(block)
            case Text(pieces=pieces, cited=cited):
                yield self._start(Part.FRAME, {"type": "text", "text": ""})
                if cited:
                    yield self._grow({"type": "citations_delta", "citation": _citation()})
                yield from (self._grow({"type": "text_delta", "text": piece}) for piece in pieces)
                yield self._stop()
            case Refused():
                pass  # a refusal of this protocol is a stop reason
            case Call(tool=tool, pieces=pieces):
                named = {"type": "tool_use", "id": _call_id(block), "name": tool.name, "input": {}}
                yield from self._jsonish(named, pieces)
            case Search():
                used, found = _search(block, {})
                yield from self._jsonish(used, (msgspec.json.encode({"query": QUERY}).decode(),))
                yield self._start(Part.FRAME, found)
                yield self._stop()

    def _reasoned(self, block: Reasoning) -> Iterator[Beat]:
        yield self._start(Part.FRAME, {"type": "thinking", "thinking": "", "signature": ""})
        if block.shown:
            yield from (self._grow({"type": "thinking_delta", "thinking": piece}) for piece in block.pieces)
        yield self._grow({"type": "signature_delta", "signature": block.carrier})
        yield self._stop()
        if block.redacted:
            yield self._start(Part.OUTPUT, {"type": "redacted_thinking", "data": block.carrier})
            yield self._stop()

    def _jsonish(self, named: Json, pieces: tuple[str, ...]) -> Iterator[Beat]:
        yield self._start(Part.OUTPUT, named)
        yield self._delta(Part.FRAME, {"type": "input_json_delta", "partial_json": ""})
        yield from (self._grow({"type": "input_json_delta", "partial_json": piece}) for piece in pieces)
        yield self._stop()

    def _start(self, part: Part, block: Json) -> Beat:
        return _beat(part, "content_block_start", index=self._index, content_block=block)

    def _grow(self, delta: Json) -> Beat:
        return self._delta(Part.OUTPUT, delta)

    def _delta(self, part: Part, delta: Json) -> Beat:
        return _beat(part, "content_block_delta", index=self._index, delta=delta)

    def _stop(self) -> Beat:
        index, self._index = self._index, self._index + 1
        return _beat(Part.FRAME, "content_block_stop", index=index)


def whole(ask: Ask, plot: Plot) -> bytes:
    """The answer to a request that does not stream."""
    del ask  # the plot tells all
    content = [entry for block in plot.blocks for entry in _content(block)]
    answer = _message(plot, content, None)
    answer.update(_ending(plot))
    if plot.tells_usage:
        answer["usage"] = {**_usage(plot.tokens), "service_tier": "standard"}
    return msgspec.json.encode(answer)


def count(tokens: int) -> bytes:
    """The answer of `count_tokens`."""
    return msgspec.json.encode({"input_tokens": tokens})


def _message(plot: Plot, content: list[Json], stop: str | None) -> Json:
    return {
        "id": f"msg_{plot.stem}",
        "type": "message",
        "role": "assistant",
        "model": plot.model,
        "content": content,
        "stop_reason": stop,
        "stop_sequence": None,
    }


def _ending(plot: Plot) -> Json:
    ending: Json = {
        "stop_reason": plot.finish or _STOP_REASON[plot.stop],
        "stop_sequence": plot.stop_sequence,
    }
    if plot.stop is Stop.REFUSAL:
        ending["stop_details"] = {"type": "refusal", "category": None, "explanation": _EXPLANATION}
    return ending


def _content(block: Block) -> list[Json]:
    match block:
        case Reasoning(pieces=pieces, carrier=carrier):
            thought = "".join(pieces) if block.shown else ""
            hidden = [{"type": "redacted_thinking", "data": carrier}] if block.redacted else []
            return [{"type": "thinking", "thinking": thought, "signature": carrier}, *hidden]
        case Text(pieces=pieces, cited=cited):
            text: Json = {"type": "text", "text": "".join(pieces)}
            return [{**text, "citations": [_citation()]} if cited else text]
        case Refused():
            return []
        case Call(tool=tool):
            return [{"type": "tool_use", "id": _call_id(block), "name": tool.name, "input": _input(block)}]
        case Search():
            return list(_search(block, {"query": QUERY}))


def _input(call: Call) -> object:
    """The arguments; an empty object where the token limit, or `tool_input`, left no JSON."""
    try:
        return msgspec.json.decode("".join(call.pieces))
    except msgspec.DecodeError:
        return {}


def _search(block: Search, query: Json) -> tuple[Json, Json]:
    used = f"srvtoolu_{block.id}"
    found = {"type": "web_search_result", **SOURCE, "encrypted_content": "sim_found", "page_age": None}
    return (
        {"type": "server_tool_use", "id": used, "name": "web_search", "input": query},
        {"type": "web_search_tool_result", "tool_use_id": used, "content": [found]},
    )


def _citation() -> Json:
    return {
        "type": "web_search_result_location",
        **SOURCE,
        "cited_text": "High tide is at noon.",
        "encrypted_index": "sim_index",
    }


def _call_id(call: Call) -> str:
    return f"toolu_{call.id}"


def _prompt_usage(tokens: Tokens) -> Json:
    return {
        "input_tokens": tokens.fresh,
        "cache_creation_input_tokens": tokens.cache_write + tokens.cache_write_1h,
        "cache_read_input_tokens": tokens.cache_read,
        "cache_creation": {
            "ephemeral_5m_input_tokens": tokens.cache_write,
            "ephemeral_1h_input_tokens": tokens.cache_write_1h,
        },
    }


def _usage(tokens: Tokens) -> Json:
    usage = {**_prompt_usage(tokens), "output_tokens": tokens.output}
    if tokens.reasoning:
        usage["output_tokens_details"] = {"thinking_tokens": tokens.reasoning}
    if tokens.searches:
        usage["server_tool_use"] = {"web_search_requests": tokens.searches, "web_fetch_requests": 0}
    return usage


def _beat(part: Part, name: str, **members: object) -> Beat:
    return Beat(part, msgspec.json.encode({"type": name, **members}), name)
