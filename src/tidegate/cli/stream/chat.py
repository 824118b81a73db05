"""Reads Chat Completions chunks into what there is to show."""

from collections.abc import Iterator

from tidegate.cli.stream.reading import Object, arguments, counted, failed, parse, part, rest, word
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


class ChatReader:
    """Reads one stream of chunks; `[DONE]` is its end mark."""

    def __init__(self) -> None:
        self._calls: dict[str, tuple[str, str]] = {}
        """Place of a tool call -> its id and name."""
        self._last_place: dict[object, str] = {}
        """Choice -> place of the call that a delta without an index goes on with."""

    def read(self, frame: Frame) -> tuple[Piece, ...]:
        if frame.data.strip() == b"[DONE]":
            return (Ended("[DONE]"),)
        match parse(frame):
            case Unreadable() as unreadable:
                return (unreadable,)
            case {"error": error} if error:
                return (failed(error),)
            case {} as chunk:
                return tuple(self._chunk(chunk))

    def _chunk(self, chunk: Object) -> Iterator[Piece]:
        choices = chunk.get("choices")
        for choice in choices if isinstance(choices, list) else ():
            if not isinstance(choice, dict):
                continue
            yield from self._delta(choice.get("index"), part(choice, "delta"))
            if reason := word(choice.get("finish_reason")):
                yield Stopped(reason)
        yield from counted(_usage(part(chunk, "usage")))

    def _delta(self, choice: object, delta: Object) -> Iterator[Piece]:
        if thought := word(delta.get("reasoning_content")) or word(delta.get("reasoning")):
            yield Reasoning(thought)
        if text := word(delta.get("content")):
            yield Text(text)
        if refusal := word(delta.get("refusal")):
            yield Refusal(refusal)
        calls = delta.get("tool_calls")
        for call in calls if isinstance(calls, list) else ():
            if isinstance(call, dict):
                yield from self._call(choice, call)

    def _call(self, choice: object, call: Object) -> Iterator[Piece]:
        told = part(call, "function") or part(call, "custom")
        identifier = word(call.get("id"))
        place = self._place(choice, call.get("index"), identifier)
        known_id, name = self._calls.get(place, ("", ""))
        if place not in self._calls or (known_id and identifier not in {"", known_id}):
            name = word(told.get("name"))
            self._calls[place] = (identifier, name)
            yield ToolOpened(place, name)
        if text := arguments(told.get("arguments", told.get("input"))):
            yield ToolArguments(place, name, text)

    def _place(self, choice: object, index: object, identifier: str) -> str:
        """Some servers leave the index out: then the same id or none goes on with the last call."""
        if index is None:
            last = self._last_place.get(choice)
            same = last is not None and identifier in {"", self._calls[last][0]}
            index = last if same else f"id {identifier}"
        place = index if isinstance(index, str) and index in self._calls else f"{choice}/{index}"
        self._last_place[choice] = place
        return place


def _usage(usage: Object) -> Usage:
    """Cached and written tokens stand inside `prompt_tokens`, reasoning inside `completion_tokens`."""
    details = part(usage, "prompt_tokens_details")
    read, written = count(details.get("cached_tokens")), count(details.get("cache_write_tokens"))
    return Usage(
        input=rest(count(usage.get("prompt_tokens")), read, written),
        cache_read=read,
        cache_write=written,
        output=count(usage.get("completion_tokens")),
        reasoning=count(part(usage, "completion_tokens_details").get("reasoning_tokens")),
    )
