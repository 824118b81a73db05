"""Adds up a stream and says in closing how it went."""

from enum import Enum
from typing import assert_never

import msgspec
from msgspec import Struct

from tidegate.cli.exit_codes import Exit
from tidegate.cli.stream.drawing import Span, printable
from tidegate.cli.stream.said import (
    Counted,
    Ended,
    Failed,
    Piece,
    Reasoning,
    Refusal,
    Stopped,
    Text,
    ToolArguments,
    ToolOpened,
    Unreadable,
)
from tidegate.core.protocol import Protocol
from tidegate.core.usage import Usage


class Close(Enum):
    """How the connection came to its end."""

    IN_ORDER = "in order"
    BROKEN = "broken"
    INTERRUPTED = "interrupted"
    """By the user."""


class Tally(Struct, frozen=True, kw_only=True):
    """What a stream has told so far. `first_token` and `ended_at` are in seconds since the request."""

    usage: Usage = Usage()
    reason: str | None = None
    mark: str | None = None
    failure: Failed | None = None
    unreadable: int = 0
    first_token: float | None = None
    ended_at: float | None = None

    def with_piece(self, piece: Piece, at: float) -> "Tally":
        """The tally after `piece`, which came `at` seconds after the request."""
        match piece:
            case Text() | Reasoning() | Refusal() | ToolOpened() | ToolArguments():
                return self if self.first_token is not None else msgspec.structs.replace(self, first_token=at)
            case Stopped(reason):
                return msgspec.structs.replace(self, reason=reason)
            case Counted(usage):
                return msgspec.structs.replace(self, usage=self.usage.merged(usage))
            case Failed():
                return msgspec.structs.replace(self, failure=piece)
            case Ended(mark):
                return msgspec.structs.replace(self, mark=mark, ended_at=at)
            case Unreadable():
                return msgspec.structs.replace(self, unreadable=self.unreadable + 1)
            case _ as never:
                assert_never(never)

    def exit_code(self, close: Close) -> Exit:
        """What a script should learn."""
        if self.failure is not None or (self.unreadable and self.mark):
            return Exit.FAILED
        if self.mark is not None:
            return Exit.OK
        match close:
            case Close.INTERRUPTED:
                return Exit.INTERRUPTED
            case Close.IN_ORDER | Close.BROKEN:
                return Exit.NO_END_MARK
            case _ as never:
                assert_never(never)


def end_mark(protocol: Protocol) -> str:
    """The end mark that a whole stream of `protocol` has."""
    match protocol:
        case Protocol.CHAT:
            return "[DONE]"
        case Protocol.RESPONSES:
            return "response.completed"
        case Protocol.MESSAGES:
            return "message_stop"
        case _ as never:
            assert_never(never)


def verdict(tally: Tally, close: Close, protocol: Protocol) -> Span:
    """One line that says whether the stream is whole."""
    reason = f", finish reason {printable(tally.reason)}" if tally.reason else ""
    missing = f"without the end mark {end_mark(protocol)}{reason}"
    if tally.failure is not None:
        how = f"ended with {tally.mark}" if tally.mark else f"ended by an error event, {missing}"
        return Span(f"failed: {how}\n", "red")
    if tally.mark is not None and tally.unreadable:
        return Span(
            f"failed: ended with {tally.mark}, but {tally.unreadable} of its events cannot be read\n", "red"
        )
    if tally.mark is not None:
        return Span(f"whole: ended with its end mark {tally.mark}{reason}\n", "green")
    match close:
        case Close.INTERRUPTED:
            return Span("interrupted before the end mark\n", "yellow")
        case Close.IN_ORDER:
            return Span(f"not whole: the stream was closed {missing}\n", "red")
        case Close.BROKEN:
            return Span(f"not whole: the connection broke {missing}\n", "red")
        case _ as never:
            assert_never(never)


def figures(tally: Tally, closed_at: float) -> Span:
    """The closing line: usage, time to the first token and time in all, to the end mark if it came."""
    total = closed_at if tally.ended_at is None else tally.ended_at
    first = "none" if tally.first_token is None else seconds(tally.first_token)
    return Span(f"usage: {counts(tally.usage)} · first token: {first} · total: {seconds(total)}\n", "bold")


def counts(usage: Usage) -> str:
    """The token counts that were told; a cache that was not used is not mentioned."""
    told = [
        f"{number} {name}"
        for name, number in (
            ("input", usage.input),
            ("cache read", usage.cache_read or None),
            ("cache write", usage.cache_write or None),
            ("output", usage.output),
        )
        if number is not None
    ]
    reasoning = f" ({usage.reasoning} of it reasoning)" if usage.reasoning else ""
    return ", ".join(told) + reasoning if told else "not told"


def seconds(duration: float) -> str:
    """A duration as people read it."""
    return f"{duration * 1000:.0f} ms" if duration < 1 else f"{duration:.2f} s"
