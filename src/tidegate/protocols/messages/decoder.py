"""Reads a Messages stream as the events of an answer."""

from msgspec.structs import replace

from tidegate.core.events import Finished, Started, Stop, UsageTold
from tidegate.core.sse import Frame
from tidegate.core.usage import Usage
from tidegate.protocols.blocks import Broken, CallIds
from tidegate.protocols.decoding import NOT_JSON, StreamDecoder
from tidegate.protocols.endings import CUTS
from tidegate.protocols.loose import mapping, text
from tidegate.protocols.messages import errors, heard
from tidegate.protocols.messages.content import Content, content_of
from tidegate.protocols.messages.usage import read_usage
from tidegate.protocols.reading import load

_ERRORS = frozenset({"error", "response.failed"})
_STOPS = {
    "max_tokens": Stop.LENGTH,
    "model_context_window_exceeded": Stop.CONTEXT,
    "stop_sequence": Stop.STOP_SEQUENCE,
    "tool_use": Stop.TOOL_CALLS,
    "refusal": Stop.REFUSAL,
    "pause_turn": Stop.PAUSE,
}
"""`end_turn`, and every word that this version does not know, is a natural end."""
_UNANNOUNCED: dict[str | None, dict[str, object]] = {
    "text_delta": {"type": "text"},
    "thinking_delta": {"type": "thinking"},
}
"""What a delta begins on servers that leave out `content_block_start`; a call needs its name."""


class MessagesDecoder(StreamDecoder):
    """Reads the events of one message. Blocks that are interleaved come one after the other."""

    def __init__(self) -> None:
        super().__init__()
        self._open: dict[int, Content] = {}
        self._begun: set[int] = set()
        self._unannounced: Content | None = None
        self._ids = CallIds()
        self._started = False
        self._usage: Usage | None = None
        self._reason: str | None = None
        self._stop_sequence: str | None = None
        self._details: dict[str, object] = {}

    @property
    def finished(self) -> bool:
        """Whether a stop reason came and no block is open: some servers leave out `message_stop`."""
        return self._reason is not None and not self._open

    def _read(self, frame: Frame) -> None:
        data = frame.data
        if data.startswith(b"[DONE]"):
            return
        event = heard.parse(data)
        if event is None:
            raise Broken(NOT_JSON)
        kind = event.type
        if kind is None and frame.event is not None:
            kind = frame.event.decode("utf-8", "replace")
        if event.error or kind in _ERRORS:
            self._fail(errors.read_error_event(load(data)))
        elif kind == "content_block_delta":
            self._grow(event)
        else:
            self._read_lifecycle(kind, event, data)

    def _read_lifecycle(self, kind: str | None, event: heard.Event, data: bytes) -> None:
        match kind:
            case "message_start":
                self._start(mapping(event.message))
            case "content_block_start":
                self._begin(event, data)
            case "content_block_stop":
                self._block_of(event).ended = True
                self._open.pop(-1 if event.index is None else event.index)
                self._blocks.advance()
            case "message_delta":
                self._note_end(event)
            case "message_stop":
                self._close_answer()
            case _:  # ping, and events that this version does not know
                pass

    def _start(self, message: dict[str, object]) -> None:
        if self._started:
            raise Broken("the upstream began its message twice")
        self._started = True
        self._ids.answer = text(message.get("id")) or ""
        self._blocks.tell(Started(text(message.get("id"))))
        usage = read_usage(message.get("usage"))
        if usage is not None:
            # Output told at the start is only a first word, not what was produced.
            self._tell_usage(replace(usage, output=None, reasoning=None))

    def _begin(self, event: heard.Event, data: bytes) -> None:
        index = event.index
        if not self._started or index is None or index in self._begun:
            raise Broken("a block of the upstream begins before its message, without a number or twice")
        self._end_unannounced()
        self._begun.add(index)
        block = self._open[index] = content_of(mapping(event.content_block), self._ids, data)
        self._blocks.begin(block)

    def _grow(self, event: heard.Event) -> None:
        delta = event.delta
        if delta is not None and event.index not in self._begun and delta.type in _UNANNOUNCED:
            event.content_block = _UNANNOUNCED[delta.type]
            self._begin(event, b"")
            self._unannounced = self._block_of(event)
        block = self._block_of(event)
        if delta is not None:
            block.grow(delta)

    def _end_unannounced(self) -> None:
        """A block without a start may lack its stop as well: what comes next ends it."""
        block, self._unannounced = self._unannounced, None
        if block is not None and not block.ended:
            block.ended = True
            self._open = {index: each for index, each in self._open.items() if each is not block}

    def _block_of(self, event: heard.Event) -> Content:
        block = None if event.index is None else self._open.get(event.index)
        if block is None:
            raise Broken("an event of the upstream belongs to no open block")
        return block

    def _note_end(self, event: heard.Event) -> None:
        """Several may come; the last value that is told counts."""
        if not self._started:
            raise Broken("the upstream ended a message that it had not begun")
        delta = event.delta or heard.Delta()
        if delta.stop_reason is not None:
            self._end_unannounced()
        self._reason = delta.stop_reason or self._reason
        self._stop_sequence = delta.stop_sequence or self._stop_sequence
        self._details = mapping(delta.stop_details) or self._details
        usage = read_usage(event.usage)
        if usage is not None:
            self._tell_usage(usage)

    def _tell_usage(self, usage: Usage) -> None:
        """Counts are cumulative: each one that is told replaces the one before."""
        merged = usage if self._usage is None else self._usage.merged(usage)
        if merged != self._usage:
            self._usage = merged
            if replace(merged, service_tier=None) != Usage():
                self._blocks.tell(UsageTold(merged))

    def _close_answer(self) -> None:
        if self._reason is None:
            raise Broken("the upstream ended its message without a stop reason")
        if self._open:
            raise Broken("the upstream ended its message in the middle of a block")
        stop = _STOPS.get(self._reason, Stop.END)
        finished = Finished(
            stop,
            stop_sequence=self._stop_sequence if stop is Stop.STOP_SEQUENCE else None,
            explanation=text(self._details.get("explanation")),
            category=text(self._details.get("category")),
        )
        self._end(finished, cut=stop in CUTS)
