"""Writes an answer as a stream of Chat Completions chunks (conversion.md §8.1, §8.2)."""

from enum import Enum

from tidegate.core.events import (
    CallDelta,
    CallKind,
    CallOpened,
    Cited,
    Closed,
    Finished,
    Opened,
    ReasoningDelta,
    ReasoningForm,
    ReasoningOpened,
    RefusalOpened,
    Searched,
    Spoken,
    Started,
    Stop,
    TextDelta,
    TextOpened,
    UsageTold,
)
from tidegate.core.failure import Failure
from tidegate.core.protocol import Protocol
from tidegate.core.usage import Usage
from tidegate.protocols.call_inputs import CallInput
from tidegate.protocols.chat import errors
from tidegate.protocols.chat.chunks import Chunks, Quoted
from tidegate.protocols.chat.usage import write_usage
from tidegate.protocols.client_calls import ClientCall, ClientCalls
from tidegate.protocols.conversion import AnswerContext
from tidegate.protocols.endings import CUTS, is_wanted_back, settled_stop
from tidegate.protocols.event_text import DONE
from tidegate.protocols.logprobs import logprob_entries

_GAP = "\n\n"
"""What stands between texts that were apart upstream and are one string here."""
_REASONS = {
    Stop.END: "stop",
    Stop.LENGTH: "length",
    Stop.CONTEXT: "length",
    Stop.TOOL_CALLS: "tool_calls",
    Stop.STOP_SEQUENCE: "stop",
    Stop.REFUSAL: "stop",
    Stop.CONTENT_FILTER: "content_filter",
    Stop.PAUSE: "stop",
}


class _Block(Enum):
    """What is open; for prose the value is the member of the message that it adds to."""

    NONE = "none"
    TEXT = "content"
    REFUSAL = "refusal"
    REASONING = "reasoning_content"
    CALL = "call"
    ENDED_CALL = "ended_call"
    """Closed, but what it still has to say waits: the next event tells whether a limit cut it."""


class _Citation:
    """A page that is cited; its place in the content is only known when its block is whole."""

    __slots__ = ("_cited", "_place")

    def __init__(self, cited: Cited) -> None:
        self._cited = cited
        self._place: tuple[int, int] | None = None

    def settle(self, start: int, end: int) -> None:
        """The block stands from `start` to `end`; where no place in it was told, all of it cites."""
        if self._place is None:
            first, last = self._cited.start, self._cited.end
            self._place = (start + (first or 0), end if last is None else start + last)

    def written(self) -> dict[str, object]:
        """As an entry of `annotations`."""
        start, end = self._place or (0, 0)
        page = {"url": self._cited.url, "title": self._cited.title}
        return {"type": "url_citation", "url_citation": {**page, "start_index": start, "end_index": end}}


class ChatEncoder:
    """One choice, in chunks that share id, time and model."""

    def __init__(self, context: AnswerContext) -> None:
        self._context = context
        self._chunks = Chunks(context)
        self._calls = ClientCalls(context.names, context.seed.id)
        self._block = _Block.NONE
        self._flow: Quoted | None = None
        """Where more text of the open block goes as it is; None until the block has said something."""
        self._quoted: dict[_Block, Quoted] = {}
        self._said = {_Block.TEXT: 0, _Block.REFUSAL: 0, _Block.REASONING: 0}
        """Characters of each member so far, gaps included."""
        self._interrupted = False
        """Whether another block stood after the last text."""
        self._from = 0
        """Where the text of the open or last text block begins in the content."""
        self._form: ReasoningForm | None = None
        """In which form the open reasoning is told; None until it has said something."""
        self._part = 0
        self._details = 0
        self._call: tuple[Quoted, CallInput] | None = None
        self._call_count = 0
        self._citations: list[_Citation] = []
        self._usage = Usage()
        self._finish_reason: str | None = None

    @property
    def finish_reason(self) -> str | None:
        """See `Encoder.finish_reason`."""
        return self._finish_reason

    def encode(self, event: Spoken) -> bytes:
        """The chunks that say it; see `Encoder.encode`."""
        if self._flow is not None and type(event) is TextDelta and event.text and not event.logprobs:
            self._said[self._block] += len(event.text)
            return self._flow.chunk(event.text)
        if type(event) is ReasoningDelta and event.text and self._form is event.form:
            return self._reasoning(event)
        if isinstance(event, UsageTold):
            self._usage = self._usage.merged(event.usage)
            return b""
        return self._opening(event) + self._settled(cut=False) + self._written(event)

    def finish(self, finished: Finished, usage: Usage | None) -> bytes:
        """Everything up to `[DONE]`; see `Encoder.finish`."""
        refused = self._said[_Block.REFUSAL] > 0
        stop = settled_stop(finished, called=bool(self._calls), refused=refused)
        before = self._opening(None) + self._settled(cut=stop in CUTS)
        if stop is Stop.CONTENT_FILTER and finished.explanation and not refused:
            before += self._chunks.delta({"refusal": finished.explanation})
        if self._citations:
            self._place_citations()
            before += self._chunks.delta({"annotations": [each.written() for each in self._citations]})
        legacy = stop is Stop.TOOL_CALLS and self._context.conversation.legacy_functions
        self._finish_reason = reason = "function_call" if legacy else _REASONS[stop]
        told = self._usage if usage is None else usage
        return before + self._chunks.finish(reason) + self.closing(None if told == Usage() else told)

    def closing(self, usage: Usage | None) -> bytes:
        """What comes after the finish: a usage chunk if the client asked for it, and `[DONE]`.

        A whole answer always tells its usage.
        """
        asked = self._context.asked
        if usage is None or not (asked.wants_usage or not asked.stream):
            return DONE
        return self._chunks.usage(write_usage(usage)) + DONE

    def error_event(self, failure: Failure) -> bytes:
        """The error in a chunk's place; nothing may follow it."""
        return errors.error_event(failure)

    def _opening(self, event: Spoken | None) -> bytes:
        if self._chunks.begun:
            return b""
        return self._chunks.begin(event.service_tier if isinstance(event, Started) else None)

    def _written(self, event: Spoken) -> bytes:
        match event:
            case TextDelta() | ReasoningDelta() | CallDelta():
                return self._more(event)
            case TextOpened() | RefusalOpened() | ReasoningOpened() | CallOpened():
                return self._open(event)
            case Closed():
                return self._close(event)
            case Cited():
                self._citations.append(_Citation(event))
            case Searched():
                self._interrupted = True
            case Started() | UsageTold():
                pass
        return b""

    def _more(self, event: TextDelta | ReasoningDelta | CallDelta) -> bytes:
        match event:
            case TextDelta() if self._block in (_Block.TEXT, _Block.REFUSAL):
                return self._text(event)
            case ReasoningDelta() if self._block is _Block.REASONING and event.text:
                return self._reasoning(event)
            case CallDelta() if self._call is not None and event.text:
                quoted, told = self._call
                said = told.add(event.text)
                return quoted.chunk(said) if said else b""
            case TextDelta() | ReasoningDelta() | CallDelta():
                return b""

    def _open(self, event: Opened) -> bytes:
        self._flow = None
        self._form = None
        match event:
            case TextOpened():
                self._block = _Block.TEXT
                self._from = self._said[_Block.TEXT]
                return b""
            case RefusalOpened():
                self._block = _Block.REFUSAL
            case ReasoningOpened():
                self._block = _Block.REASONING
            case CallOpened():
                self._block = _Block.CALL
        self._interrupted = True
        return self._open_call(self._calls.open(event)) if isinstance(event, CallOpened) else b""

    def _text(self, event: TextDelta) -> bytes:
        """More text or refusal, where `encode` did not take the short way."""
        block, text = self._block, event.text
        if self._flow is None and text:
            text = self._gap() + text
            self._flow = self._quoting(block)
        self._said[block] += len(text)
        if event.logprobs:
            told = {"content": None, "refusal": None, block.value: logprob_entries(event.logprobs)}
            return self._chunks.delta({block.value: text}, told)
        return self._quoting(block).chunk(text) if text else b""

    def _gap(self) -> str:
        """What comes before a block's first text: a gap where it stood apart from what was said before."""
        before = self._said[self._block]
        joins = self._context.upstream is Protocol.MESSAGES and not self._interrupted
        gap = _GAP if before and not joins else ""
        if self._block is _Block.TEXT:
            self._from = before + len(gap)
            self._interrupted = False
        return gap

    def _reasoning(self, event: ReasoningDelta) -> bytes:
        """One string for all items and parts; an item that is told twice is taken in the form it began in."""
        apart = event.part != self._part
        if self._form is None:
            self._form = event.form
            apart = self._said[_Block.REASONING] > 0
        if event.form is not self._form:
            return b""
        self._part = event.part
        text = _GAP + event.text if apart else event.text
        self._said[_Block.REASONING] += len(text)
        return self._quoting(_Block.REASONING).chunk(text)

    def _quoting(self, block: _Block) -> Quoted:
        """The chunks of the string that such blocks add to."""
        quoted = self._quoted.get(block)
        if quoted is None:
            quoted = self._quoted[block] = self._chunks.quoted(f'{{"{block.value}":'.encode(), b"}")
        return quoted

    def _open_call(self, call: ClientCall) -> bytes:
        """A custom tool's call is a function's in a stream: the SDK's accumulator knows no other kind."""
        chunks, index = self._chunks, self._call_count
        self._call_count += 1
        self._call = None
        kind = CallKind.FUNCTION if self._context.asked.stream else call.kind
        told = CallInput(call.arrives, kind)
        if self._context.conversation.legacy_functions:
            if index:  # the old form has room for one call
                return b""
            told = CallInput(call.arrives, CallKind.FUNCTION)
            self._call = chunks.quoted(b'{"function_call":{"arguments":', b"}}"), told
            return chunks.delta({"function_call": {"name": call.name, "arguments": ""}})
        member = "input" if kind is CallKind.CUSTOM else "arguments"
        more = f'{{"tool_calls":[{{"index":{index},"{kind.value}":{{"{member}":'
        self._call = chunks.quoted(more.encode(), b"}}]}"), told
        opened = {
            "index": index,
            "id": call.id,
            "type": kind.value,
            kind.value: {"name": call.name, member: ""},
        }
        return chunks.delta({"tool_calls": [opened]})

    def _close(self, closed: Closed) -> bytes:
        block, self._block = self._block, _Block.NONE
        self._flow = self._form = None
        if block is _Block.CALL:
            self._block = _Block.ENDED_CALL
            return self._settled(cut=True) if closed.cut else b""
        if block is _Block.TEXT:
            self._place_citations()
        wanted = closed.opaque is not None and is_wanted_back(closed.opaque)
        if block is not _Block.REASONING or closed.opaque is None or not wanted:
            return b""
        data = self._context.seal(closed.opaque)
        entry = {"type": "reasoning.encrypted", "index": self._details, "data": data}
        self._details += 1
        return self._chunks.delta({"reasoning_details": [entry]})

    def _settled(self, *, cut: bool) -> bytes:
        """What a call that has ended still has to say."""
        if self._block is not _Block.ENDED_CALL:
            return b""
        self._block = _Block.NONE
        if self._call is None:
            return b""
        (quoted, told), self._call = self._call, None
        rest = told.rest(cut=cut)
        return quoted.chunk(rest) if rest else b""

    def _place_citations(self) -> None:
        for each in self._citations:
            each.settle(self._from, self._said[_Block.TEXT])
