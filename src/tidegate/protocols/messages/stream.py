"""Watches a Messages stream on its way to a caller of the same protocol."""

from tidegate.core.failure import Failure, Kind
from tidegate.core.sse import Form, Frame, reframed
from tidegate.core.usage import Usage
from tidegate.protocols.base import NO_IMPRINT, Asked, Clean, Imprint, Said, Seed
from tidegate.protocols.cleaning import cleaned_failure
from tidegate.protocols.event_edits import cleaned, event_name, with_data, with_known_model
from tidegate.protocols.loose import mapping
from tidegate.protocols.messages import errors, usage, wire
from tidegate.protocols.reading import load
from tidegate.protocols.transcript import Transcript

_CUT_BY_LIMIT = frozenset({"max_tokens", "model_context_window_exceeded"})
_TOOL_BLOCKS = ("_tool_use", "_tool_result")
_WHOLE_BLOCKS = frozenset({"tool_use", "redacted_thinking", "container_upload", "compaction", "image"})
_ERRORS = frozenset({"error", "response.failed"})
_EMPTY = "the upstream ended a message that it had not begun"
_KEEPALIVES = frozenset({"keepalive", "done"})


class MessagesWatcher:
    """Reads the events of one message."""

    def __init__(self, asked: Asked, clean: Clean, seed: Seed) -> None:
        del seed  # a Messages error event carries neither id nor time
        self._asked = asked
        self._clean = clean
        self._said = Transcript()
        self._event = wire.Event()
        self._opened = False
        self.usage: Usage | None = None
        self.finish_reason: str | None = None
        self.failure: Failure | None = None
        self.ids: list[str] = []
        self.imprint = NO_IMPRINT

    @property
    def incomplete(self) -> bool:
        """Cut by the token limit or the end of the context."""
        return self.finish_reason in _CUT_BY_LIMIT

    @property
    def may_end(self) -> bool:
        """Never: on the same protocol the caller looks for the end mark itself."""
        return False

    @property
    def owes_usage(self) -> bool:
        """Never: usage stands in the protocol's own events."""
        return False

    def read(self, frame: Frame) -> Said:
        """What the event means; see `Watcher.read`."""
        data = frame.data
        if not data or data.isspace() or data.startswith(b"[DONE]"):
            return Said.DROPPED
        event = wire.parse(data)
        if event is None:
            return self._broken("an event of the upstream is not a JSON object")
        if event.type is None and frame.event is not None:
            event.type = frame.event.decode()
        self._event = event
        return self._read_event(event, data)

    def outgoing(self, frame: Frame) -> bytes:
        """The event for the caller: named after its type, `message.model` the caller's."""
        event = self._event
        name = event_name(event.type)
        if self.failure is not None:
            return self._outgoing_error(frame)
        message = event.message
        if message is not None and message.model is not None and message.model != self._asked.model:
            return with_data(frame, with_known_model(frame.data, self._asked.model, "message"), name)
        if frame.form is Form.PLAIN and frame.event == name:
            return frame.raw
        return reframed(frame, name)

    def text(self, start: int = 0) -> str:
        """Text, thinking and tool input, in order."""
        return self._said.text(start)

    @property
    def spoken(self) -> int:
        """See `Watcher`."""
        return len(self._said)

    def error_event(self, failure: Failure) -> bytes:
        """`event: error`."""
        return errors.error_event(failure)

    def closing(self, estimate: Usage | None) -> bytes:
        """Nothing: `message_stop` came from the upstream."""
        del estimate
        return b""

    def _read_event(self, event: wire.Event, data: bytes) -> Said:
        kind = event.type
        if kind == "content_block_delta":
            return Said.NOISE if event.delta is None else self._read_delta(event.delta)
        if kind in _ERRORS or event.error:
            self.failure = errors.read_error_event(load(data))
            return Said.ERROR
        if kind is not None and (kind in _KEEPALIVES or kind.startswith("response.")):
            return Said.DROPPED
        return self._read_lifecycle(kind, event)

    def _broken(self, message: str) -> Said:
        self.failure = Failure(kind=Kind.UPSTREAM, message=message)
        return Said.BROKEN

    def _read_lifecycle(self, kind: str | None, event: wire.Event) -> Said:
        match kind:
            case "message_start":
                self._opened = True
                message = event.message or wire.Message()
                self.imprint = Imprint(message.id, message.model)
                self._tell_usage(message.usage, final=False)
                return Said.OPENING
            case "content_block_start":
                return Said.NOISE if event.content_block is None else self._read_start(event.content_block)
            case "content_block_stop":
                return Said.OPENING
            case "message_delta":
                return self._read_message_delta(event)
            case "message_stop":
                return Said.END if self._opened or self._said.text() else self._broken(_EMPTY)
            case _:  # ping, and events this version does not know
                return Said.NOISE

    def _read_start(self, block: wire.Block) -> Said:
        kind = block.type or ""
        if kind == "thinking":
            said = block.thinking
            quiet = Said.OUTPUT if block.signature else Said.REASONING
        elif kind == "text":
            said = block.text
            quiet = Said.OPENING
        else:
            self._said.add(block.name or "")
            known = kind in _WHOLE_BLOCKS or kind.endswith(_TOOL_BLOCKS)
            return Said.OUTPUT if known else Said.NOISE
        if not said:
            return quiet
        self._said.add(said)
        return Said.OUTPUT

    def _read_delta(self, delta: wire.Delta) -> Said:
        text = delta.text or delta.thinking or delta.partial_json
        if text:
            self._said.add(text)
            return Said.OUTPUT
        if delta.signature or delta.type in ("citations_delta", "compaction_delta"):
            return Said.OUTPUT
        return Said.NOISE

    def _read_message_delta(self, event: wire.Event) -> Said:
        self._tell_usage(event.usage, final=True)
        if event.delta is None or event.delta.stop_reason is None:
            return Said.OPENING
        self.finish_reason = event.delta.stop_reason
        return Said.OUTPUT

    def _tell_usage(self, value: object, *, final: bool) -> None:
        """Counts are cumulative. Output told at the start is only a first word, not what was produced."""
        told = usage.read_usage(value)
        if told is None:
            return
        if not final:
            told = Usage(
                input=told.input,
                cache_read=told.cache_read,
                cache_write=told.cache_write,
                cache_write_1h=told.cache_write_1h,
                web_searches=told.web_searches,
                service_tier=told.service_tier,
            )
        self.usage = told if self.usage is None else self.usage.merged(told)

    def _outgoing_error(self, frame: Frame) -> bytes:
        """The upstream's own error, cleaned; one in another protocol's form is told in this one's."""
        data = cleaned(frame.data, self._clean)
        if data is None or not _is_error_event(load(data)):
            failure = self.failure or Failure(kind=Kind.UPSTREAM, message="")
            return errors.error_event(cleaned_failure(failure, self._clean))
        if data == frame.data and frame.form is Form.PLAIN and frame.event == b"error":
            return frame.raw
        return with_data(frame, data, b"error")


def _is_error_event(payload: object) -> bool:
    """`{"type":"error","error":{"type":…,"message":…}}`, which is what clients read."""
    event = mapping(payload)
    error = mapping(event.get("error"))
    return event.get("type") == "error" and all(
        isinstance(error.get(name), str) for name in ("type", "message")
    )
