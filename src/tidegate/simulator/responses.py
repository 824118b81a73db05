"""A Responses answer, whole and event by event."""

from collections.abc import Callable, Iterator
from enum import Enum
from functools import partial

import msgspec

from tidegate.core.protocol import Protocol
from tidegate.simulator.ask import Ask, Json, ToolForm
from tidegate.simulator.plot import (
    CREATED,
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
from tidegate.simulator.trouble import ErrorForm, Trouble, error_object, words_of

_NO_IMAGES: Json = {
    "input_tokens": 0,
    "input_tokens_details": {"image_tokens": 0, "text_tokens": 0},
    "output_tokens": 0,
    "total_tokens": 0,
}
"""Where tool usage is told, families without any have zero counts."""


class Status(Enum):
    """How far a response, or an item of it, has come."""

    IN_PROGRESS = "in_progress"
    COMPLETED = "completed"
    INCOMPLETE = "incomplete"
    FAILED = "failed"


class ResponsesTranscript:
    """The answer of a plot as items with parts; every event has the next number."""

    def __init__(self, ask: Ask, plot: Plot) -> None:
        self._ask = ask
        self._plot = plot
        self._number = 0
        self._done: list[Json] = []
        self._open: _Open | None = None
        self._coming: tuple[Beat, Callable[[], object]] | None = None

    def beats(self) -> Iterator[Beat]:
        begun = _response(self._ask, self._plot, Status.IN_PROGRESS, [])
        yield self._tell(Part.PREAMBLE, "response.created", response=begun)
        yield self._tell(Part.PREAMBLE, "response.in_progress", response=begun)
        for index, block in enumerate(self._plot.blocks):
            item = _item(self._plot, block, index, Status.IN_PROGRESS)
            opens = Part.FRAME if isinstance(block, Reasoning | Text | Refused) else Part.OUTPUT
            added = self._tell(opens, "response.output_item.added", output_index=index, item=item)
            yield self._then(added, partial(self._opened, _Open(item)))
            yield from self._grow(block, item, index)
            final = _item(self._plot, block, index, _status_of(self._plot, index))
            # An item that never said a word of its own says it here: its carrier is output.
            closes = Part.OUTPUT if isinstance(block, Reasoning) and not block.shown else Part.FRAME
            done = self._tell(closes, "response.output_item.done", output_index=index, item=final)
            yield self._then(done, partial(self._closed, final))
        status = _final_status(self._plot)
        response = _response(self._ask, self._plot, status, self._done)
        yield self._tell(Part.END, f"response.{status.value}", response=response)

    def said(self, beat: Beat) -> bytes:
        if self._coming is not None and self._coming[0] is beat:
            self._coming[1]()
            self._coming = None
        number, self._number = self._number, self._number + 1
        after_type = len(f'{{"type":"{beat.name}"')
        return b'%b,"sequence_number":%d%b' % (beat.data[:after_type], number, beat.data[after_type:])

    def failure(self, trouble: Trouble, form: ErrorForm) -> Beat:
        code = trouble.code or words_of(trouble.kind).responses_code
        match form:
            case ErrorForm.FLAT:
                flat = {"code": code, "message": trouble.message, "param": trouble.param}
                return self._tell(Part.END, "error", **flat)
            case ErrorForm.NESTED:
                return self._tell(Part.END, "error", error=error_object(Protocol.RESPONSES, trouble))
            case ErrorForm.USUAL | ErrorForm.TEXT | ErrorForm.CHUNK:
                cut = [self._open.cut()] if self._open else []
                response = _response(self._ask, self._plot, Status.FAILED, [*self._done, *cut])
                response["error"] = {"code": code, "message": trouble.message}
                return self._tell(Part.END, "response.failed", response=response)

    def ping(self) -> Beat:
        return self._tell(Part.FRAME, "keepalive")

    def _grow(self, block: Block, item: Json, index: int) -> Iterator[Beat]:
        place: Json = {"item_id": item["id"], "output_index": index}
        match block:
            case Reasoning(shown=False):
                return
            case Reasoning() | Text() | Refused():
                note = _citation(block) if isinstance(block, Text) and block.cited else None
                yield from self._part(block.pieces, item, place, _form_of(block), note)
            case Call():
                yield from self._called(block, item, place)
            case Search():
                for state in ("in_progress", "searching", "completed"):
                    yield self._tell(Part.FRAME, f"response.web_search_call.{state}", **place)

    def _part(
        self, pieces: tuple[str, ...], item: Json, place: Json, form: "_Form", note: Json | None
    ) -> Iterator[Beat]:
        place = {**place, form.index: 0}
        yield self._tell(Part.FRAME, f"response.{form.part}.added", **place, part=form.made("", None))
        growing = self._opened(_Open(item, form.member, form))
        for piece in pieces:
            more: Json = {"delta": piece, **form.extra}
            delta = self._tell(Part.OUTPUT, f"response.{form.event}.delta", **place, **more)
            yield self._then(delta, partial(growing.append, piece))
        if note is not None:
            yield self._tell(
                Part.OUTPUT,
                "response.output_text.annotation.added",
                **place,
                annotation_index=0,
                annotation=note,
            )
        said = "".join(pieces)
        final: Json = {form.text: said, **form.extra}
        yield self._tell(Part.FRAME, f"response.{form.event}.done", **place, **final)
        yield self._tell(Part.FRAME, f"response.{form.part}.done", **place, part=form.made(said, note))

    def _called(self, call: Call, item: Json, place: Json) -> Iterator[Beat]:
        event, member = _CALL_WORDS[call.tool.form]
        growing = self._opened(_Open(item, member))
        for piece in call.pieces:
            delta = self._tell(Part.OUTPUT, f"response.{event}.delta", **place, delta=piece)
            yield self._then(delta, partial(growing.append, piece))
        final: Json = {member: "".join(call.pieces)}
        yield self._tell(Part.FRAME, f"response.{event}.done", **place, **final)

    def _tell(self, part: Part, name: str, /, **members: object) -> Beat:
        # The number is put in when the event is said: other events may come between.
        return Beat(part, msgspec.json.encode({"type": name, **members}), name)

    def _then(self, beat: Beat, effect: Callable[[], object]) -> Beat:
        """Has `effect` when the event is said, and not before."""
        self._coming = (beat, effect)
        return beat

    def _opened(self, item: "_Open") -> list[str]:
        self._open = item
        return item.said

    def _closed(self, item: Json) -> None:
        self._open = None
        self._done.append(item)


class _Open(msgspec.Struct):
    """The item that is being told, with what was said of it: the text of a part, or of a call's `member`."""

    item: Json
    member: str | None = None
    form: "_Form | None" = None
    said: list[str] = []

    def cut(self) -> Json:
        """The item as it stands when the response fails."""
        item = {**self.item, "status": Status.INCOMPLETE.value}
        said = "".join(self.said)
        if self.member is not None and said:
            item[self.member] = said if self.form is None else [self.form.made(said, None)]
        return item


class _Form(msgspec.Struct, frozen=True):
    """The words for one kind of part: its events, the member that holds it, the member with its text."""

    part: str
    event: str
    index: str
    kind: str
    text: str
    member: str
    extra: Json = {}

    def made(self, said: str, note: Json | None) -> Json:
        made: Json = {"type": self.kind, self.text: said}
        if self.kind == "output_text":
            made.update(annotations=[note] if note else [], logprobs=[])
        return made


_TEXT = _Form(
    "content_part", "output_text", "content_index", "output_text", "text", "content", {"logprobs": []}
)
_REFUSED = _Form("content_part", "refusal", "content_index", "refusal", "refusal", "content")
_RAW = _Form("content_part", "reasoning_text", "content_index", "reasoning_text", "text", "content")
_SUMMARY = _Form(
    "reasoning_summary_part", "reasoning_summary_text", "summary_index", "summary_text", "text", "summary"
)


def _form_of(block: Reasoning | Text | Refused) -> _Form:
    match block:
        case Reasoning(raw=raw):
            return _RAW if raw else _SUMMARY
        case Text():
            return _TEXT
        case Refused():
            return _REFUSED


_CALL_WORDS = {
    ToolForm.FUNCTION: ("function_call_arguments", "arguments"),
    ToolForm.CUSTOM: ("custom_tool_call_input", "input"),
}


def whole(ask: Ask, plot: Plot) -> bytes:
    """The answer to a request that does not stream."""
    output = [_item(plot, block, index, _status_of(plot, index)) for index, block in enumerate(plot.blocks)]
    return msgspec.json.encode(_response(ask, plot, _final_status(plot), output))


def _final_status(plot: Plot) -> Status:
    return Status.INCOMPLETE if plot.stop is Stop.LIMIT or plot.finish else Status.COMPLETED


def _status_of(plot: Plot, index: int) -> Status:
    """Only the last item can have been cut by the limit."""
    cut = plot.stop is Stop.LIMIT and index == len(plot.blocks) - 1
    return Status.INCOMPLETE if cut else Status.COMPLETED


def _response(ask: Ask, plot: Plot, status: Status, output: list[Json]) -> Json:
    ended = status in (Status.COMPLETED, Status.INCOMPLETE)
    incomplete = {"reason": plot.finish or "max_output_tokens"} if status is Status.INCOMPLETE else None
    response: Json = {
        "id": f"resp_{plot.stem}",
        "object": "response",
        "created_at": CREATED,
        "status": status.value,
        "error": None,
        "incomplete_details": incomplete,
        "model": plot.model,
        "output": output,
        "usage": _usage(plot.tokens) if ended and plot.tells_usage else None,
        **ask.echo,
    }
    if ended:
        response["completed_at"] = CREATED
    if plot.tokens.searches and ended:
        response["tool_usage"] = {
            "image_gen": _NO_IMAGES,
            "web_search": {"num_requests": plot.tokens.searches},
        }
    return response


def _item(plot: Plot, block: Block, index: int, status: Status) -> Json:
    """The item of a block: bare while it is in progress, else with all it says."""
    ended = status is not Status.IN_PROGRESS
    match block:
        case Reasoning():
            return _reasoning_item(plot, block, index, status)
        case Text(pieces=pieces):
            note = _citation(block) if block.cited else None
            content = [_TEXT.made("".join(pieces), note)] if ended else []
            return _message_item(plot, index, status, content)
        case Refused(pieces=pieces):
            content = [_REFUSED.made("".join(pieces), None)] if ended else []
            return _message_item(plot, index, status, content)
        case Call():
            return _call_item(block, "".join(block.pieces) if ended else "", status)
        case Search(id=stem):
            action = {"type": "search", "query": QUERY, "queries": [QUERY]}
            shown = status.value if status is Status.IN_PROGRESS else Status.COMPLETED.value
            return {"id": f"ws_{stem}", "type": "web_search_call", "status": shown, "action": action}


def _message_item(plot: Plot, index: int, status: Status, content: list[Json]) -> Json:
    return {
        "id": f"msg_{plot.stem}{index}",
        "type": "message",
        "status": status.value,
        "role": "assistant",
        "content": content,
    }


def _reasoning_item(plot: Plot, block: Reasoning, index: int, status: Status) -> Json:
    item: Json = {
        "id": f"rs_{plot.stem}{index}",
        "type": "reasoning",
        "status": status.value,
        "summary": [],
    }
    if status is Status.IN_PROGRESS:
        return item
    form = _form_of(block)
    if block.shown:
        item[form.member] = [form.made("".join(block.pieces), None)]
    return {**item, "encrypted_content": block.carrier}


def _call_item(call: Call, said: str, status: Status) -> Json:
    named: Json = {"status": status.value, "call_id": f"call_{call.id}", "name": call.tool.name}
    if call.tool.namespace is not None:
        named["namespace"] = call.tool.namespace
    match call.tool.form:
        case ToolForm.FUNCTION:
            return {"id": f"fc_{call.id}", "type": "function_call", **named, "arguments": said}
        case ToolForm.CUSTOM:
            return {"id": f"ctc_{call.id}", "type": "custom_tool_call", **named, "input": said}


def _citation(block: Text) -> Json:
    return {"type": "url_citation", **SOURCE, "start_index": 0, "end_index": len("".join(block.pieces))}


def _usage(tokens: Tokens) -> Json:
    return {
        "input_tokens": tokens.prompt,
        "input_tokens_details": {
            "cached_tokens": tokens.cache_read,
            "cache_write_tokens": tokens.cache_write + tokens.cache_write_1h,
        },
        "output_tokens": tokens.output,
        "output_tokens_details": {"reasoning_tokens": tokens.reasoning},
        "total_tokens": tokens.prompt + tokens.output,
    }
