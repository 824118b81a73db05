"""Reads Responses events into what there is to show."""

from collections.abc import Iterator

from tidegate.cli.stream.reading import (
    Object,
    arguments,
    counted,
    failed,
    kind_of,
    parse,
    part,
    rest,
    word,
)
from tidegate.cli.stream.said import (
    Ended,
    Piece,
    Reasoning,
    Refusal,
    Stopped,
    Text,
    ToolArguments,
    ToolOpened,
    Unreadable,
)
from tidegate.core.sse import Frame
from tidegate.core.usage import Usage, count


class ResponsesReader:
    """Reads one stream; a terminal event (`response.completed` or another) is its end mark.

    What came in deltas is not shown again when a later event repeats it whole; what came only whole is shown
    then.
    """

    def __init__(self) -> None:
        self._names: dict[str, str] = {}
        """Output index -> name of the tool it calls."""
        self._shown: set[str] = set()
        """Output indices of which something was shown."""

    def read(self, frame: Frame) -> tuple[Piece, ...]:
        match parse(frame):
            case Unreadable() if frame.data.strip() == b"[DONE]":
                return ()  # some servers add it; here it ends nothing
            case Unreadable() as unreadable:
                return (unreadable,)
            case {} as event:
                return tuple(self._event(str(kind_of(frame, event)), event))

    def _event(self, kind: str, event: Object) -> Iterator[Piece]:
        place = str(event.get("output_index"))
        match kind:
            case "response.output_item.added":
                yield from self._added(place, part(event, "item"))
            case "response.output_item.done":
                yield from self._done(place, part(event, "item"))
            case "response.completed" | "response.incomplete" | "response.failed" | "response.cancelled":
                yield from _terminal(kind, part(event, "response"))
            case "error":
                yield failed(event.get("error") or event)
            case _ if kind.endswith(".delta"):
                yield from self._delta(kind, place, word(event.get("delta")))
            case _:  # progress, repetitions and what the protocol may grow
                return

    def _added(self, place: str, item: Object) -> Iterator[Piece]:
        kind = word(item.get("type"))
        if kind.endswith("_call"):
            yield self._opened(place, item)
            yield from self._arguments(place, arguments(item.get("arguments", item.get("input"))))

    def _opened(self, place: str, item: Object) -> ToolOpened:
        name = self._names[place] = word(item.get("name")) or word(item.get("type"))
        return ToolOpened(place, name)

    def _arguments(self, place: str, text: str) -> Iterator[Piece]:
        if text:
            self._shown.add(place)
            yield ToolArguments(place, self._names.get(place, ""), text)

    def _delta(self, kind: str, place: str, text: str) -> Iterator[Piece]:
        if not text:
            return
        match kind:
            case "response.output_text.delta":
                piece: Piece = Text(text)
            case "response.refusal.delta":
                piece = Refusal(text)
            case "response.reasoning_text.delta" | "response.reasoning_summary_text.delta":
                piece = Reasoning(text)
            case _ if "_call" in kind:
                piece = ToolArguments(place, self._names.get(place, ""), text)
            case _:  # audio and other deltas that are no text
                return
        self._shown.add(place)
        yield piece

    def _done(self, place: str, item: Object) -> Iterator[Piece]:
        kind = word(item.get("type"))
        if kind.endswith("_call"):
            if place not in self._names:
                yield self._opened(place, item)
            if place not in self._shown:
                yield from self._arguments(place, arguments(item.get("arguments", item.get("input"))))
        elif place not in self._shown:
            yield from _whole(item)


def _whole(item: Object) -> Iterator[Piece]:
    for name in ("summary", "content"):
        parts = item.get(name)
        for content in parts if isinstance(parts, list) else ():
            match content:
                case {"type": "output_text", "text": str(text)} if text:
                    yield Text(text)
                case {"type": "refusal", "refusal": str(text)} if text:
                    yield Refusal(text)
                case {"type": "summary_text" | "reasoning_text", "text": str(text)} if text:
                    yield Reasoning(text)
                case _:  # parts that are no text
                    continue


def _terminal(kind: str, response: Object) -> Iterator[Piece]:
    yield from counted(_usage(part(response, "usage")))
    if reason := word(part(response, "incomplete_details").get("reason")):
        yield Stopped(reason)
    if kind == "response.failed":
        yield failed(response.get("error"))
    yield Ended(kind)


def _usage(usage: Object) -> Usage:
    """Cached and written tokens stand inside `input_tokens`, reasoning inside `output_tokens`."""
    details = part(usage, "input_tokens_details")
    read, written = count(details.get("cached_tokens")), count(details.get("cache_write_tokens"))
    return Usage(
        input=rest(count(usage.get("input_tokens")), read, written),
        cache_read=read,
        cache_write=written,
        output=count(usage.get("output_tokens")),
        reasoning=count(part(usage, "output_tokens_details").get("reasoning_tokens")),
    )
