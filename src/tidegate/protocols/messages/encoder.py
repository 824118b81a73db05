"""Writes an answer as a stream of Messages events (conversion.md §8.5, §8.6)."""

from enum import Enum

import msgspec

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
from tidegate.core.usage import Usage
from tidegate.protocols.call_inputs import CallInput
from tidegate.protocols.client_calls import ClientCall, ClientCalls
from tidegate.protocols.conversion import AnswerContext
from tidegate.protocols.endings import is_wanted_back, settled_stop
from tidegate.protocols.event_text import named_event
from tidegate.protocols.messages import errors
from tidegate.protocols.messages.usage import write_usage
from tidegate.protocols.transcript import Transcript

_PART_GAP = "\n\n"
_REASONS = {
    Stop.END: "end_turn",
    Stop.LENGTH: "max_tokens",
    Stop.CONTEXT: "model_context_window_exceeded",
    Stop.TOOL_CALLS: "tool_use",
    Stop.STOP_SEQUENCE: "stop_sequence",
    Stop.REFUSAL: "refusal",
    Stop.CONTENT_FILTER: "refusal",
    Stop.PAUSE: "pause_turn",
}
_NO_ARGUMENTS = "{}"
_json = msgspec.json.Encoder().encode


class _Block(Enum):
    """What is open. Text, refusals and thinking are only told of once they say something."""

    BEFORE = "before"
    """The message has not been started."""
    NONE = "none"
    TEXT = "text"
    REFUSAL = "refusal"
    THINKING = "thinking"
    CALL = "call"


class _Delta:
    """Writes the deltas of one block, which differ in one string only."""

    __slots__ = ("_before",)

    def __init__(self, index: int, kind: str, member: str) -> None:
        start = f'{{"type":"content_block_delta","index":{index},"delta":{{"type":"{kind}","{member}":'
        self._before = b"event: content_block_delta\ndata: " + start.encode()

    def event(self, text: str) -> bytes:
        """The delta with this text."""
        return self._before + _json(text) + b"}}\n\n"


class MessagesEncoder:
    """Blocks one after the other, numbered without gaps; refusals are text, citations are left out.

    An M client would send citations back with an index that no upstream knows.
    """

    def __init__(self, context: AnswerContext) -> None:
        self._context = context
        self._calls = ClientCalls(context.names, context.seed.id)
        self._block = _Block.BEFORE
        self._index = -1
        self._delta: _Delta | None = None
        """Where more of the open block goes; None until the block has been told of."""
        self._form: ReasoningForm | None = None
        """In which form the open reasoning is told; None until it has said something."""
        self._part = 0
        self._input = CallInput(CallKind.FUNCTION, CallKind.FUNCTION)
        self._refused = Transcript()
        self._usage = Usage()
        self._finish_reason: str | None = None

    @property
    def finish_reason(self) -> str | None:
        """See `Encoder.finish_reason`."""
        return self._finish_reason

    def encode(self, event: Spoken) -> bytes:
        """The events that say it; see `Encoder.encode`."""
        if type(event) is TextDelta and self._block is _Block.TEXT and self._delta is not None and event.text:
            return self._delta.event(event.text)
        if type(event) is ReasoningDelta and event.text and self._form is event.form:
            return self._thought(event)
        if isinstance(event, UsageTold):
            self._usage = self._usage.merged(event.usage)
            return b""
        return self._opening() + self._written(event)

    def finish(self, finished: Finished, usage: Usage | None) -> bytes:
        """`message_delta` and `message_stop`; see `Encoder.finish`."""
        before = self._opening() + self._stopped()
        refusal = self._refused.text()
        stop = settled_stop(finished, called=bool(self._calls), refused=bool(refusal))
        sequence = finished.stop_sequence if stop is Stop.STOP_SEQUENCE else None
        self._finish_reason = _REASONS[stop]
        delta: dict[str, object] = {"stop_reason": self._finish_reason, "stop_sequence": sequence}
        if stop in (Stop.REFUSAL, Stop.CONTENT_FILTER):
            why = finished.explanation or refusal or None
            delta["stop_details"] = {"type": "refusal", "category": finished.category, "explanation": why}
        # What is told last counts, so an estimate of the input stands until the input is told.
        counts = Usage(input=self._context.input_estimate).merged(self._usage if usage is None else usage)
        end = {"type": "message_delta", "delta": delta, "usage": write_usage(counts)}
        return before + named_event(end) + named_event({"type": "message_stop"})

    def error_event(self, failure: Failure) -> bytes:
        """The `error` event; nothing may follow it."""
        return errors.error_event(failure)

    def _opening(self) -> bytes:
        if self._block is not _Block.BEFORE:
            return b""
        self._block = _Block.NONE
        message: dict[str, object] = {
            "id": f"msg_{self._context.seed.id}",
            "type": "message",
            "role": "assistant",
            "model": self._context.asked.model,
            "content": [],
            "stop_reason": None,
            "stop_sequence": None,
            "usage": write_usage(Usage(input=self._context.input_estimate)),
        }
        return named_event({"type": "message_start", "message": message})

    def _written(self, event: Spoken) -> bytes:
        match event:
            case TextDelta() | ReasoningDelta() | CallDelta():
                return self._more(event) if event.text else b""
            case TextOpened() | RefusalOpened() | ReasoningOpened() | CallOpened():
                return self._stopped() + self._open(event)
            case Closed():
                return self._close(event)
            case Started() | Cited() | Searched() | UsageTold():
                return b""

    def _open(self, event: Opened) -> bytes:
        match event:
            case TextOpened():
                self._block = _Block.TEXT
            case RefusalOpened():
                self._block = _Block.REFUSAL
            case ReasoningOpened():
                self._block = _Block.THINKING
            case CallOpened():
                self._block = _Block.CALL
                return self._open_call(self._calls.open(event))
        return b""

    def _open_call(self, call: ClientCall) -> bytes:
        self._input = CallInput(call.arrives, CallKind.FUNCTION)
        block: dict[str, object] = {"type": "tool_use", "id": call.id, "name": call.name, "input": {}}
        return self._start(block, "input_json_delta", "partial_json")[0]

    def _more(self, event: TextDelta | ReasoningDelta | CallDelta) -> bytes:
        match event:
            case TextDelta() if self._block is _Block.TEXT:
                return self._grown(event.text)
            case TextDelta() if self._block is _Block.REFUSAL:
                self._refused.add(event.text)
                return self._grown(event.text)
            case ReasoningDelta() if self._block is _Block.THINKING:
                return self._thought(event)
            case CallDelta() if self._block is _Block.CALL:
                said = self._input.add(event.text)
                return self._grown(said) if said else b""
            case TextDelta() | ReasoningDelta() | CallDelta():
                return b""

    def _thought(self, event: ReasoningDelta) -> bytes:
        """An item that is told twice is taken in the form it began in; its parts become one text."""
        apart = self._form is not None and event.part != self._part
        self._form = self._form or event.form
        if event.form is not self._form:
            return b""
        self._part = event.part
        return self._grown(_PART_GAP + event.text if apart else event.text)

    def _grown(self, text: str) -> bytes:
        if self._delta is not None:
            return self._delta.event(text)
        before, delta = self._start_prose()
        return before + delta.event(text)

    def _start_prose(self) -> tuple[bytes, _Delta]:
        if self._block is _Block.THINKING:
            block: dict[str, object] = {"type": "thinking", "thinking": "", "signature": ""}
            return self._start(block, "thinking_delta", "thinking")
        return self._start({"type": "text", "text": ""}, "text_delta", "text")

    def _start(self, block: dict[str, object], kind: str, member: str) -> tuple[bytes, _Delta]:
        self._index += 1
        self._delta = delta = _Delta(self._index, kind, member)
        started = {"type": "content_block_start", "index": self._index, "content_block": block}
        return named_event(started), delta

    def _close(self, closed: Closed) -> bytes:
        match self._block:
            case _Block.THINKING:
                return self._signature(closed) + self._stopped()
            case _Block.CALL:
                rest = self._input.rest(cut=closed.cut)
                more = self._grown(rest) if rest and rest != _NO_ARGUMENTS else b""
                return more + self._stopped()
            case _Block.TEXT | _Block.REFUSAL | _Block.NONE | _Block.BEFORE:
                return self._stopped()

    def _signature(self, closed: Closed) -> bytes:
        """The carrier of reasoning; reasoning without a word is only told of if it is wanted back."""
        opaque = closed.opaque
        if opaque is None or (self._delta is None and not is_wanted_back(opaque)):
            return b""
        before = b"" if self._delta is not None else self._start_prose()[0]
        return before + _Delta(self._index, "signature_delta", "signature").event(self._context.seal(opaque))

    def _stopped(self) -> bytes:
        self._block = _Block.NONE
        self._form = None
        if self._delta is None:
            return b""
        self._delta = None
        return named_event({"type": "content_block_stop", "index": self._index})
