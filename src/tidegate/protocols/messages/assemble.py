"""Gathers a complete stream of Messages into the whole answer that it says."""

from msgspec import Raw

from tidegate.core.failure import Failure
from tidegate.core.sse import Frame, Overflow
from tidegate.protocols.base import Asked
from tidegate.protocols.loose import decoded, encoded, listing, mapping, text
from tidegate.protocols.messages.errors import read_error_event
from tidegate.protocols.whole_answers import broken_stream
from tidegate.protocols.whole_streams import events_of, is_done

Object = dict[str, object]

_GROWS = {"text_delta": "text", "thinking_delta": "thinking", "compaction_delta": "content"}
_UNANNOUNCED: dict[str, Object] = {
    "text_delta": {"type": "text"},
    "thinking_delta": {"type": "thinking", "signature": ""},
}


class _Broken(Exception):
    """The stream says nothing that could be told as one answer; the text says why."""


def assemble(asked: Asked, stream: bytes) -> bytes | Failure:
    """The answer's JSON; a Failure if the stream told one, has no `message_stop`, or cut tool input.

    Tool input that is no JSON is never told as `{}`: a tool would run without it (conversion.md §9.1).
    """
    del asked
    gathered = _Gathered()
    try:
        for frame in events_of(stream):
            event = _event(frame)
            if event.get("type") == "error" or event.get("error"):
                return read_error_event(event)
            gathered.add(event)
            if event.get("type") == "message_stop":
                return gathered.whole()
    except (Overflow, RecursionError):
        return broken_stream("an event of the upstream has too many lines or levels")
    except _Broken as broken:
        return broken_stream(str(broken))
    return broken_stream("the upstream ended the stream without message_stop")


class _Gathered:
    """What the events have told so far."""

    def __init__(self) -> None:
        self._message: Object | None = None
        self._usage: Object = {}
        self._blocks: dict[int, Object] = {}
        self._texts: dict[tuple[int, str], list[str]] = {}
        self._last = -1

    def add(self, event: Object) -> None:
        """Take an event; one of an unknown type says nothing. Raises _Broken."""
        match event.get("type"):
            case "message_start":
                self._start(mapping(event.get("message")))
            case "content_block_start":
                self._last = self._index(event, self._last + 1)
                self._blocks[self._last] = dict(mapping(event.get("content_block")))
            case "content_block_delta":
                self._add_delta(self._index(event, self._last), mapping(event.get("delta")))
            case "message_delta":
                self._end(event)
            case _:  # pings, block ends, and events of later versions
                pass

    def whole(self) -> bytes:
        """The answer. Raises _Broken."""
        if self._message is None:
            raise _Broken("the upstream's stream has no message_start")
        for (index, member), pieces in self._texts.items():
            block, written = self._blocks[index], "".join(pieces)
            if member != "input":
                block[member] = (text(block.get(member)) or "") + written
            elif written:
                block[member] = _input(written)
        blocks = [block for _, block in sorted(self._blocks.items())]
        message = self._message
        message["content"] = blocks or listing(message.get("content"))
        if self._usage:
            message["usage"] = self._usage
        return encoded(message)

    def _start(self, message: Object) -> None:
        """Output told here is only a first word: without a later count nobody has told what was produced."""
        if self._message is None:
            opening = {"type": "message", "role": "assistant", "stop_reason": None, "stop_sequence": None}
            self._message = {**opening, **_without(message, "usage")}
        self._count(_without(mapping(message.get("usage")), "output_tokens"))

    def _add_delta(self, index: int, delta: Object) -> None:
        kind = text(delta.get("type")) or ""
        block = self._blocks.get(index)
        if block is None:
            block = self._unannounced(index, kind)
        if kind in _GROWS:
            self._grow(index, _GROWS[kind], delta.get(_GROWS[kind]))
        elif kind == "signature_delta":
            block["signature"] = delta.get("signature")
        elif kind == "citations_delta":
            block["citations"] = [*listing(block.get("citations")), delta.get("citation")]
        elif kind == "input_json_delta":
            self._grow(index, "input", delta.get("partial_json"))

    def _unannounced(self, index: int, kind: str) -> Object:
        """The block that a delta begins on servers that leave out its start; a call needs its name."""
        if index < 0 or kind not in _UNANNOUNCED:
            raise _Broken("the upstream sent a delta before its block")
        self._last = index
        block: Object = dict(_UNANNOUNCED[kind])
        self._blocks[index] = block
        return block

    def _grow(self, index: int, member: str, piece: object) -> None:
        """Texts come in many small pieces, which are joined once."""
        self._texts.setdefault((index, member), []).append(text(piece) or "")

    def _end(self, event: Object) -> None:
        """Several may come; the last value that is told counts."""
        if self._message is None:
            raise _Broken("the upstream's stream has no message_start")
        beside = {name: value for name, value in event.items() if name not in ("type", "delta", "usage")}
        told = {**mapping(event.get("delta")), **beside}
        self._message.update({name: value for name, value in told.items() if value is not None})
        self._count(event.get("usage"))

    def _count(self, usage: object) -> None:
        self._usage.update({name: value for name, value in mapping(usage).items() if value is not None})

    @staticmethod
    def _index(event: Object, default: int) -> int:
        index = event.get("index")
        return index if isinstance(index, int) else default


def _without(members: Object, name: str) -> Object:
    return {each: value for each, value in members.items() if each != name}


def _event(frame: Frame) -> Object:
    """The event with its type, which may stand in the `event:` line alone. Raises _Broken."""
    if is_done(frame):
        return {}
    event = decoded(frame.data)
    if not isinstance(event, dict):
        raise _Broken("an event of the upstream is not a JSON object")
    if text(event.get("type")) is None and frame.event is not None:
        event["type"] = frame.event.decode("utf-8", "replace")
    return event


def _input(written: str) -> Raw:
    if decoded(written.encode()) is None:
        raise _Broken("the input of a tool call is not JSON")
    return Raw(written.encode())
