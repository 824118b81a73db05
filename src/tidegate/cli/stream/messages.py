"""Reads Messages events into what there is to show."""

from collections.abc import Iterator

from tidegate.cli.stream.reading import Object, arguments, counted, failed, kind_of, parse, part, word
from tidegate.cli.stream.said import (
    Ended,
    Piece,
    Reasoning,
    Stopped,
    Text,
    ToolArguments,
    ToolOpened,
    Unreadable,
)
from tidegate.core.sse import Frame
from tidegate.core.usage import Usage, count


class MessagesReader:
    """Reads one stream; `message_stop` is its end mark."""

    def __init__(self) -> None:
        self._names: dict[str, str] = {}
        """Index of a block -> name of the tool it calls."""

    def read(self, frame: Frame) -> tuple[Piece, ...]:
        match parse(frame):
            case Unreadable() as unreadable:
                return (unreadable,)
            case {} as event:
                return tuple(self._event(kind_of(frame, event), event))

    def _event(self, kind: object, event: Object) -> Iterator[Piece]:
        match kind:
            case "message_start":
                yield from counted(_usage(part(part(event, "message"), "usage")))
            case "content_block_start":
                yield from self._opened(str(event.get("index")), part(event, "content_block"))
            case "content_block_delta":
                yield from self._delta(str(event.get("index")), part(event, "delta"))
            case "message_delta":
                yield from counted(_usage(part(event, "usage")))
                if reason := word(part(event, "delta").get("stop_reason")):
                    yield Stopped(reason)
            case "message_stop":
                yield Ended("message_stop")
            case "error":
                yield failed(event.get("error"))
            case _:  # pings, block ends and what the protocol may grow
                return

    def _opened(self, index: str, block: Object) -> Iterator[Piece]:
        match block:
            case {"type": "text", "text": str(text)} if text:
                yield Text(text)
            case {"type": "thinking", "thinking": str(thought)} if thought:
                yield Reasoning(thought)
            case {"type": "redacted_thinking"}:
                yield Reasoning("[redacted]")
            case {"type": "tool_use" | "server_tool_use" | "mcp_tool_use"}:
                name = self._names[index] = word(block.get("name"))
                yield ToolOpened(index, name)
                if text := arguments(block.get("input")):
                    yield ToolArguments(index, name, text)
            case _:  # empty blocks and block types that show nothing
                return

    def _delta(self, index: str, delta: Object) -> Iterator[Piece]:
        match delta:
            case {"text": str(text)} if text:
                yield Text(text)
            case {"thinking": str(thought)} if thought:
                yield Reasoning(thought)
            case {"partial_json": str(text)} if text:
                yield ToolArguments(index, self._names.get(index, ""), text)
            case _:  # signatures, citations and delta types that show nothing
                return


def _usage(usage: Object) -> Usage:
    """`input_tokens` is without cache reads and writes already."""
    return Usage(
        input=count(usage.get("input_tokens")),
        cache_read=count(usage.get("cache_read_input_tokens")),
        cache_write=count(usage.get("cache_creation_input_tokens")),
        cache_write_1h=count(part(usage, "cache_creation").get("ephemeral_1h_input_tokens")),
        output=count(usage.get("output_tokens")),
        reasoning=count(part(usage, "output_tokens_details").get("thinking_tokens")),
    )
