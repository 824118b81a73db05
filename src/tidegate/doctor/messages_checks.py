"""Checks the order and the members of a Messages stream."""

from collections.abc import Iterator

from tidegate.core.protocol import Protocol
from tidegate.doctor.blocks import Block
from tidegate.doctor.expectation import Expectation, Summary
from tidegate.doctor.findings import Finding, at
from tidegate.doctor.framing import Event
from tidegate.doctor.members import Object, count, part, word
from tidegate.doctor.phase import Phase
from tidegate.doctor.usage_checks import check_usage

STOPS = frozenset(
    {
        *("end_turn", "max_tokens", "stop_sequence", "tool_use", "pause_turn", "refusal"),
        *("model_context_window_exceeded", "compaction"),
    }
)


class MessagesReader:
    """Follows one stream."""

    def __init__(self, expected: Expectation) -> None:
        self._expected = expected
        self._phase = Phase.BEFORE
        self._open: Block | None = None
        self._blocks: list[Block] = []
        self._stop: str | None = None
        self._usage: Object = {}

    def see_done(self, event: Event) -> Iterator[Finding]:
        """An end mark of another protocol."""
        yield at(event, "foreign-end-mark", "[DONE] belongs to Chat Completions")

    def see(self, event: Event, told: Object) -> Iterator[Finding]:
        """An event with a type."""
        kind = word(told, "type")
        yield from self._check_place(event, kind)
        match kind:
            case "message_start":
                yield from self._start(event, told)
            case "content_block_start" | "content_block_delta" | "content_block_stop":
                yield from self._block(event, kind, told)
            case "message_delta":
                yield from self._delta(event, told)
            case "message_stop":
                self._phase = Phase.ENDED
            case "error":
                self._phase = Phase.FAILED
                yield from _check_error(event, told)
            case "ping":
                pass
            case "":
                yield at(event, "event-type", "its data has no type")
            case _:  # the protocol may grow
                yield at(event, "unknown-event", f"{kind} is no event that is known")

    def _check_place(self, event: Event, kind: str) -> Iterator[Finding]:
        if self._phase.is_over:
            yield at(event, "after-end", "it comes after the end of the stream")
        if self._phase is Phase.BEFORE and kind not in ("message_start", "error"):
            yield at(event, "messages-first", f"the stream begins with {kind or 'no type'}")
            self._phase = Phase.RUNNING

    def end(self) -> Iterator[Finding]:
        """What is missing."""
        if self._phase is Phase.FAILED:
            return
        if self._open is not None:
            yield Finding("messages-block", f"block {self._open.index} is never stopped")
        if self._stop is None:
            yield Finding("finish", "no message_delta tells a stop_reason")
        if self._phase is not Phase.ENDED:
            yield Finding("end-mark", "the stream ends without message_stop")
        yield from self._end_calls()
        if self._usage:
            spoken = any(block.spoken for block in self._blocks)
            yield from check_usage(self._usage, Protocol.MESSAGES, spoken=spoken)
        else:
            yield Finding("usage-missing", "no event tells usage")

    def _end_calls(self) -> Iterator[Finding]:
        if self._stop != "max_tokens":
            for block in self._blocks:
                yield from block.end()
        called = any(block.kind == "tool_use" for block in self._blocks)
        if called and self._stop in ("end_turn", "stop_sequence"):
            yield Finding("tool-finish", f"the stop_reason is {self._stop}, though tools are called")
        if self._stop == "tool_use" and not called:
            yield Finding("tool-finish", "the stop_reason is tool_use, but no tool is called")

    def summary(self) -> Summary:
        """What it said."""
        return Summary(
            spoken=sum(block.spoken for block in self._blocks),
            calls=tuple(block.name for block in self._blocks if block.kind == "tool_use"),
            stop=self._stop,
            failed=self._phase is Phase.FAILED,
            output_tokens=count(self._usage, "output_tokens"),
            heard=tuple(heard for block in self._blocks for heard in block.heard),
        )

    def _start(self, event: Event, told: Object) -> Iterator[Finding]:
        if self._phase is Phase.BEFORE:
            self._phase = Phase.RUNNING
        else:
            yield at(event, "messages-first", "a second message_start")
        message, usage = part(told, "message"), part(part(told, "message"), "usage")
        self._add(usage)
        for name, right in (
            ("id", bool(word(message, "id"))),
            ("type", message.get("type") == "message"),
            ("role", message.get("role") == "assistant"),
            ("model", bool(word(message, "model"))),
            ("content", message.get("content") == []),
            ("stop_reason", message.get("stop_reason") is None),
            ("usage.input_tokens", count(usage, "input_tokens") is not None),
            ("usage.output_tokens", count(usage, "output_tokens") is not None),
        ):
            if not right:
                yield at(event, "messages-start", f"message.{name} is missing, or not as at the start")

    def _add(self, usage: Object) -> None:
        """Later counts replace earlier ones; null tells nothing."""
        self._usage |= {name: value for name, value in usage.items() if value is not None}

    def _open_block(self, event: Event, index: int | None, opening: Object) -> Iterator[Finding]:
        if self._stop is not None:
            yield at(event, "messages-delta", "a block begins after the message_delta with the stop_reason")
        if self._open is not None:
            yield at(event, "messages-block", f"block {self._open.index} is still open")
        if index != len(self._blocks):
            yield at(event, "messages-block", f"its index is {index}, not {len(self._blocks)}")
        others = {block.identifier for block in self._blocks if block.kind == "tool_use"}
        self._open = Block(len(self._blocks) if index is None else index, opening)
        self._blocks.append(self._open)
        yield from self._open.start(event)
        if self._open.kind == "tool_use" and self._open.identifier in others:
            yield at(event, "tool-call-id", "the id of a tool_use block is that of another")

    def _block(self, event: Event, kind: str, told: Object) -> Iterator[Finding]:
        index = count(told, "index")
        if kind == "content_block_start":
            yield from self._open_block(event, index, part(told, "content_block"))
            return
        if self._open is None or self._open.index != index:
            yield at(event, "messages-block", f"block {index} is not open")
            return
        if kind == "content_block_delta":
            yield from self._open.see(event, part(told, "delta"))
        else:
            yield from self._open.stop(event)
            self._open = None

    def _delta(self, event: Event, told: Object) -> Iterator[Finding]:
        stop, usage = part(told, "delta").get("stop_reason"), part(told, "usage")
        if self._open is not None:
            yield at(event, "messages-delta", f"block {self._open.index} is still open")
        if self._stop is not None or stop is None:
            yield at(event, "messages-delta", "not one message_delta with a stop_reason, after the blocks")
        elif not isinstance(stop, str):
            yield at(event, "messages-delta", "delta.stop_reason is no text")
        elif stop not in STOPS:
            yield at(event, "finish-word", f"{stop!r} is no stop_reason of the protocol")
        if count(usage, "output_tokens") is None:
            yield at(event, "messages-delta", "usage.output_tokens is missing")
        self._add(usage)
        if stop is not None:
            self._stop = str(stop)


def _check_error(event: Event, told: Object) -> Iterator[Finding]:
    error = part(told, "error")
    yield at(event, "error-event", f"the stream ends with an error: {word(error, 'message')}"[:300])
    if not word(error, "message") or not word(error, "type"):
        yield at(event, "error-form", "error is no object with type and message")
