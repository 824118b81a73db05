"""Watches a Chat Completions stream on its way to a caller of the same protocol."""

import re
from collections.abc import Iterable

from msgspec import json

from tidegate.core.failure import Failure, Kind
from tidegate.core.sse import Form, Frame, reframed
from tidegate.core.usage import Usage, count
from tidegate.protocols.base import Asked, Clean, Imprint, Said, Seed
from tidegate.protocols.chat import errors, usage, wire
from tidegate.protocols.chat.answer import CUT_BY_LIMIT, said, tells_failure
from tidegate.protocols.cleaning import cleaned_failure
from tidegate.protocols.event_edits import cleaned, with_data, with_known_model, with_model
from tidegate.protocols.loose import mapping
from tidegate.protocols.reading import load
from tidegate.protocols.service_tier import tier_in, with_tier
from tidegate.protocols.transcript import Transcript

_DONE = b"data: [DONE]\n\n"
_FOREIGN = frozenset({"message_stop", "response.completed", "response.incomplete", "keepalive", "ping"})
_FOREIGN_ERRORS = frozenset({"error", "response.failed"})
_MODEL = re.compile(rb'"model"\s*:\s*"(?:[^"\\]|\\.)*"')


class ChatWatcher:
    """Reads chunks; knows when every choice has finished and what the caller is still owed."""

    def __init__(self, asked: Asked, clean: Clean, seed: Seed) -> None:
        self._asked = asked
        self._clean = clean
        self._seed = seed
        self._said = Transcript()
        self._finishes: dict[int, str | None] = {}
        self._finish_told = False
        self._done = _DONE
        self._last = wire.Chunk()
        self._prefix, self._renamed = b"\0", b""
        self._shown: Usage | None = None
        self.usage: Usage | None = None
        self.finish_reason: str | None = None
        self.failure: Failure | None = None
        self.ids: list[str] = []

    @property
    def imprint(self) -> Imprint:
        """Every chunk tells it."""
        return Imprint(self._last.id, self._last.model)

    @property
    def incomplete(self) -> bool:
        """A choice was cut by the token limit."""
        return not CUT_BY_LIMIT.isdisjoint(self._finishes.values())

    @property
    def may_end(self) -> bool:
        """Every choice has its finish."""
        return self._all_finished()

    @property
    def owes_usage(self) -> bool:
        """The caller asked for a usage chunk and the upstream told no usage, or where no client looks."""
        return self._asked.wants_usage and self._shown is None

    def read(self, frame: Frame) -> Said:
        """What the chunk means; see `Watcher.read`."""
        data = frame.data
        if data.startswith(b"[DONE]"):
            return self._read_done(frame)
        if not data or data.isspace():
            return Said.DROPPED
        chunk = wire.parse(data)
        if chunk is None:
            return self._broken("an event of the upstream is not a JSON object")
        self._last = chunk
        if chunk.error or frame.event == b"error" or chunk.type in _FOREIGN_ERRORS:
            return self._read_error(load(data))
        if chunk.usage is not None:
            self._shown = with_tier(usage.read_usage(chunk.usage), tier_in(data)) or self._shown
            self.usage = self._shown or self.usage
        if not chunk.choices:
            return self._read_without_choices(chunk, data)
        return self._read_choices(chunk.choices, data)

    def outgoing(self, frame: Frame) -> bytes:
        """The chunk for the caller: under the caller's model name, without an `event:` line."""
        plain = frame.form is Form.PLAIN and frame.event is None
        if self.failure is not None:
            return self._outgoing_error(frame)
        if frame.data[:1] == b"[":
            return b""  # the end mark waits for a usage chunk that may be owed: see closing
        chunk = self._last
        if chunk.model is None or chunk.model == self._asked.model:
            return frame.raw if plain else reframed(frame, None)
        if plain and frame.raw.startswith(self._prefix):
            return self._renamed + frame.raw[len(self._prefix) :]
        renamed = with_data(frame, with_known_model(frame.data, self._asked.model), None)
        if plain:
            self._remember_prefix(frame.raw, renamed)
        return renamed

    def text(self, start: int = 0) -> str:
        """Content, reasoning, refusals, tool names and arguments, in order."""
        return self._said.text(start)

    @property
    def spoken(self) -> int:
        """See `Watcher`."""
        return len(self._said)

    def error_event(self, failure: Failure) -> bytes:
        """The error object in a chunk's place."""
        return errors.error_event(failure)

    def closing(self, estimate: Usage | None) -> bytes:
        """The estimated usage chunk if one is owed, and the end mark: the upstream's if it sent one."""
        if estimate is None or not self.owes_usage:
            return self._done
        chunk: dict[str, object] = {
            "id": self._last.id or "chatcmpl-" + self._seed.id,
            "object": "chat.completion.chunk",
            "created": count(self._last.created) or self._seed.now,
            "model": self._asked.model,
            "choices": [],
            "usage": usage.write_usage(estimate),
        }
        return b"data: " + json.encode(chunk) + b"\n\n" + self._done

    def _read_done(self, frame: Frame) -> Said:
        # Some servers write "" for a finish; that counts only once the end mark confirms it.
        reasons = self._finishes.values()
        if None in reasons or len(reasons) < self._asked.choices:
            return self._broken("the upstream ended the stream without a finish reason")
        plain = frame.form is Form.PLAIN and frame.event is None
        self._done = frame.raw if plain else _DONE
        self.finish_reason = self.finish_reason or "stop"
        return Said.END

    def _read_error(self, payload: object) -> Said:
        self.failure = errors.read_error_event(payload)
        return Said.ERROR

    def _read_without_choices(self, chunk: wire.Chunk, data: bytes) -> Said:
        if (
            chunk.choices is None
            and b"error" in data
            and mapping(payload := load(data)).get("object") == "error"
        ):
            return self._read_error(payload)  # the flat form of older vLLM servers
        if chunk.type is not None and chunk.type in _FOREIGN:
            return Said.DROPPED
        if chunk.usage is not None and not self._asked.wants_usage:
            return Said.DROPPED
        return Said.NOISE

    def _read_choices(self, choices: list[wire.Choice], data: bytes) -> Said:
        told = Said.NOISE
        for choice in choices:
            reason = choice.finish_reason
            if reason:
                if tells_failure(reason):
                    return self._broken(f"the upstream ended with finish reason {reason!r}"[:200])
                self._read_finish(reason, choice, data)
                told = Said.OUTPUT
            if reason or self._finishes.get(choice.index) is None:
                self._finishes[choice.index] = reason
            if self._reads_output(choice):
                told = Said.OUTPUT
        if told is Said.OUTPUT and self.finish_reason and not self._finish_told and self._all_finished():
            self._finish_told = True
            return Said.FINISH
        return told

    def _read_finish(self, reason: str, choice: wire.Choice, data: bytes) -> None:
        """Note it, and the usage that some servers tell with it beside the protocol's own place.

        Of several choices the first one's reason is told, as in a whole answer.
        """
        if choice.index == 0 or not self._finishes.get(0):
            self.finish_reason = reason
        beside = choice.usage or mapping(self._last.x_groq).get("usage")
        if beside is not None and self._shown is None:
            self.usage = with_tier(usage.read_usage(beside), tier_in(data)) or self.usage

    def _reads_output(self, choice: wire.Choice) -> bool:
        """Whether the choice carries output; what is text of it is kept for an estimate."""
        delta = choice.delta
        if delta is None:
            return self._hears(said(mapping(choice.message)))
        found = False
        if isinstance(delta.content, str) and delta.content:
            self._said.add(delta.content)
            found = True
        if reasoning := delta.reasoning_content or delta.reasoning:
            self._said.add(reasoning if isinstance(reasoning, str) else str(reasoning))
            found = True
        if delta.tool_calls:
            self._read_calls(delta.tool_calls)
            found = True
        return found or self._reads_rarer_output(delta)

    def _read_calls(self, calls: list[wire.ToolCall]) -> None:
        for call in calls:
            if call.function is not None:
                self._said.add((call.function.name or "") + str(call.function.arguments or ""))
            elif call.custom:
                self._hears(said({"tool_calls": [{"custom": call.custom}]}))

    def _reads_rarer_output(self, delta: wire.Delta) -> bool:
        told = {
            "content": delta.content,
            "refusal": delta.refusal,
            "function_call": delta.function_call,
            "audio": delta.audio,
        }
        found = any(told.values())
        if found:
            self._hears(said(told))
        return found or any((delta.annotations, delta.images, delta.reasoning_details))

    def _hears(self, texts: Iterable[str]) -> bool:
        text = "".join(texts)
        if text:
            self._said.add(text)
        return bool(text)

    def _all_finished(self) -> bool:
        return len(self._finishes) >= self._asked.choices and all(self._finishes.values())

    def _broken(self, message: str) -> Said:
        self.failure = Failure(kind=Kind.UPSTREAM, message=message)
        return Said.BROKEN

    def _outgoing_error(self, frame: Frame) -> bytes:
        """The upstream's own error, cleaned; one that clients could not read is told in the usual form."""
        payload = load(frame.data)
        data = cleaned(frame.data, self._clean)
        if isinstance(payload, dict) and isinstance(payload.get("error"), dict) and data is not None:
            data = with_model(data, self._asked.model)
            plain = data == frame.data and frame.form is Form.PLAIN and frame.event is None
            return frame.raw if plain else with_data(frame, data, None)
        failure = self.failure or Failure(kind=Kind.UPSTREAM, message="")
        return errors.error_event(cleaned_failure(failure, self._clean))

    def _remember_prefix(self, raw: bytes, renamed: bytes) -> None:
        """Chunks of a stream begin alike; the next one with this beginning needs no second look."""
        match = _MODEL.search(raw)
        if match is None:
            return
        end = match.end()
        moved = end + len(renamed) - len(raw)
        if raw[end:] == renamed[moved:]:
            self._prefix, self._renamed = raw[:end], renamed[:moved]
