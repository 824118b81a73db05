"""Writes an answer as a stream of Responses events (conversion.md §8.3, §8.4)."""

from tidegate.core.events import (
    CallDelta,
    CallKind,
    CallOpened,
    Cited,
    Closed,
    Finished,
    Opened,
    ReasoningDelta,
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
from tidegate.protocols.client_calls import ClientCalls
from tidegate.protocols.conversion import AnswerContext
from tidegate.protocols.endings import CUTS, is_wanted_back, settled_stop
from tidegate.protocols.responses.call_items import CallItem, search
from tidegate.protocols.responses.echo import ResponseObject
from tidegate.protocols.responses.errors import stream_code
from tidegate.protocols.responses.items import MessageItem, ReasoningItem
from tidegate.protocols.responses.numbered import Events, Place
from tidegate.protocols.responses.usage import write_usage

_COMPLETED = "completed"
_INCOMPLETE = "incomplete"
_REASONS = {
    Stop.LENGTH: "max_output_tokens",
    Stop.CONTEXT: "max_output_tokens",
    Stop.CONTENT_FILTER: "content_filter",
}
"""Why an answer is incomplete; every other stop completes it."""
_NO_IMAGES = {
    "input_tokens": 0,
    "input_tokens_details": {"image_tokens": 0, "text_tokens": 0},
    "output_tokens": 0,
    "total_tokens": 0,
}
"""The SDK wants this beside the count of searches."""


class ResponsesEncoder:
    """Items one after the other.

    The last item stays open until it is known what comes next, because only then it is known whether a limit
    cut it. An item is opened when it has something to say.
    """

    def __init__(self, context: AnswerContext) -> None:
        self._context = context
        self._events = Events()
        self._calls = ClientCalls(context.names, context.seed.id)
        self._response = ResponseObject(context)
        self._tier: dict[str, object] = {}
        self._block: Opened | None = None
        """The block that its item is opened for, until it is closed."""
        self._item: MessageItem | ReasoningItem | CallItem | None = None
        self._flow: MessageItem | None = None
        """Where more text goes as it is."""
        self._closing: Closed | None = None
        self._output: list[bytes] = []
        self._refused = False
        self._usage = Usage()
        self._finish_reason: str | None = None

    @property
    def finish_reason(self) -> str | None:
        """See `Encoder.finish_reason`."""
        return self._finish_reason

    def encode(self, event: Spoken) -> bytes:
        """The events that say it; see `Encoder.encode`."""
        if self._flow is not None and type(event) is TextDelta and event.text:
            return self._flow.grown(event)
        if isinstance(event, UsageTold):
            self._usage = self._usage.merged(event.usage)
            return b""
        if isinstance(event, Started) and event.service_tier is not None:
            self._tier = {"service_tier": event.service_tier}
        return self._opening() + self._written(event)

    def finish(self, finished: Finished, usage: Usage | None) -> bytes:
        """The rest of the last item and the terminal event; see `Encoder.finish`."""
        stop = settled_stop(finished, called=bool(self._calls), refused=self._refused)
        explained = stop is Stop.CONTENT_FILTER and bool(finished.explanation) and not self._refused
        before = self._opening() + self._flushed(cut=stop in CUTS and not explained)
        if explained:
            before += self._open(RefusalOpened()) + self._more(TextDelta(finished.explanation or ""))
            before += self._flushed(cut=False)
        told = self._usage if usage is None else usage
        state: dict[str, object] = {"usage": None if told == Usage() else write_usage(told)}
        if told.web_searches:
            state["tool_usage"] = {"image_gen": _NO_IMAGES, "web_search": {"num_requests": told.web_searches}}
        reason = _REASONS.get(stop)
        self._finish_reason = _COMPLETED if reason is None else reason
        if reason is None:
            state["completed_at"] = self._context.seed.now
            return before + self._lifecycle(_COMPLETED, _COMPLETED, **state)
        state["incomplete_details"] = {"reason": reason}
        return before + self._lifecycle(_INCOMPLETE, _INCOMPLETE, **state)

    def error_event(self, failure: Failure) -> bytes:
        """`response.failed`; nothing is closed. SDKs take no event before `response.created`."""
        before = b"" if self._events.begun else self._lifecycle("created", "in_progress")
        if self._item is not None:
            self._output.append(self._item.so_far())
            self._item = None
        error = {"code": stream_code(failure), "message": failure.message}
        return before + self._lifecycle("failed", "failed", error=error)

    def _opening(self) -> bytes:
        if self._events.begun:
            return b""
        return self._lifecycle("created", "in_progress") + self._lifecycle("in_progress", "in_progress")

    def _lifecycle(self, name: str, status: str, **told: object) -> bytes:
        response = self._response.written(status, b",".join(self._output), **self._tier, **told)
        return self._events.raw(f"response.{name}", b'"response":' + response)

    def _written(self, event: Spoken) -> bytes:
        match event:
            case TextDelta() | ReasoningDelta() | CallDelta():
                return self._more(event) if self._closing is None else b""
            case TextOpened() | RefusalOpened() | ReasoningOpened() | CallOpened():
                return self._flushed(cut=False) + self._open(event)
            case Closed():
                return self._close(event)
            case Cited():
                return self._cite(event)
            case Searched():
                return self._flushed(cut=False) + self._search(event)
            case Started() | UsageTold():
                return b""

    def _open(self, event: Opened) -> bytes:
        self._block = event
        if not isinstance(event, CallOpened):
            return b""
        call = self._calls.open(event)
        item = CallItem(self._events, self._place("fc" if call.kind is CallKind.FUNCTION else "ctc"), call)
        self._item = item
        return item.opened()

    def _more(self, event: TextDelta | ReasoningDelta | CallDelta) -> bytes:
        logged = isinstance(event, TextDelta) and bool(event.logprobs)
        if not event.text and not logged:
            return b""
        before = self._begun() if self._item is None else b""
        match event, self._item:
            case TextDelta(), MessageItem() as item:
                return before + item.grown(event)
            case ReasoningDelta(), ReasoningItem() as item:
                return before + item.grown(event)
            case CallDelta(), CallItem() as item:
                return before + item.grown(event)
            case _:  # a delta that is of another kind than the block has no place
                return before

    def _begun(self) -> bytes:
        """Open the item of a block that now has something to say."""
        match self._block:
            case TextOpened() | RefusalOpened():
                refusal = isinstance(self._block, RefusalOpened)
                self._refused = self._refused or refusal
                message = MessageItem(self._events, self._place("msg"), refusal=refusal)
                self._item = self._flow = message
                return message.opened()
            case ReasoningOpened():
                summarized = self._context.conversation.reasoning.summary is not None
                reasoning = ReasoningItem(self._events, self._place("rs"), summarized=summarized)
                self._item = reasoning
                return reasoning.opened()
            case CallOpened() | None:
                return b""

    def _cite(self, cited: Cited) -> bytes:
        before = self._begun() if self._item is None and isinstance(self._block, TextOpened) else b""
        if isinstance(self._item, MessageItem):
            self._item.cite(cited)
        return before

    def _close(self, closed: Closed) -> bytes:
        """Note the end; reasoning without a word only has an item if the upstream wants it back."""
        self._flow = None
        self._closing = closed
        silent = self._item is None and isinstance(self._block, ReasoningOpened)
        wanted = closed.opaque is not None and is_wanted_back(closed.opaque)
        return self._begun() if silent and wanted else b""

    def _flushed(self, *, cut: bool) -> bytes:
        """The end of the item that is open."""
        item, closing = self._item, self._closing
        self._item = self._flow = self._block = self._closing = None
        if item is None:
            return b""
        opaque = None if closing is None else closing.opaque
        status = _INCOMPLETE if cut or (closing is not None and closing.cut) else _COMPLETED
        written, text = item.closed(status, None if opaque is None else self._context.seal(opaque))
        self._output.append(text)
        return written

    def _search(self, event: Searched) -> bytes:
        written, text = search(self._events, self._place("ws"), event.query)
        self._output.append(text)
        return written

    def _place(self, prefix: str) -> Place:
        index = len(self._output)
        return Place(f"{prefix}_{self._context.seed.id}{index}", index)
