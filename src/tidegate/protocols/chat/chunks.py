"""Writes the chunks of one Chat Completions stream, from parts that are made once."""

import msgspec

from tidegate.protocols.conversion import AnswerContext
from tidegate.protocols.loose import encoded

_json = msgspec.json.Encoder().encode


class Quoted:
    """Writes chunks that differ in one string only: the deltas, which are nearly all of a stream."""

    __slots__ = ("_after", "_before")

    def __init__(self, before: bytes, after: bytes) -> None:
        self._before = before
        self._after = after

    def chunk(self, text: str) -> bytes:
        """The chunk with this text."""
        return self._before + _json(text) + self._after


class Chunks:
    """Chunks with one id, time and model."""

    def __init__(self, context: AnswerContext) -> None:
        self._context = context
        self._head = b""

    @property
    def begun(self) -> bool:
        """Whether the role has been told."""
        return bool(self._head)

    def begin(self, service_tier: str | None) -> bytes:
        """The chunk that tells the role. Only of a stream the content is a string from the start."""
        seed, asked = self._context.seed, self._context.asked
        head: dict[str, object] = {
            "id": f"chatcmpl-{seed.id}",
            "object": "chat.completion.chunk",
            "created": seed.now,
            "model": asked.model,
        }
        if service_tier is not None:
            head["service_tier"] = service_tier
        self._head = b"data: " + encoded(head)[:-1] + b',"choices":['
        return self.delta({"role": "assistant", "content": "" if asked.stream else None})

    def delta(self, delta: dict[str, object], logprobs: object = None) -> bytes:
        """A chunk that adds to the choice."""
        told = b"" if logprobs is None else b',"logprobs":' + encoded(logprobs)
        return self._choice(encoded(delta), told, b"null")

    def quoted(self, before: bytes, after: bytes) -> Quoted:
        """Chunks whose delta is one string between two pieces of JSON text."""
        start, end = self._choice(before + b"\0" + after, b"", b"null").split(b"\0")
        return Quoted(start, end)

    def finish(self, reason: str) -> bytes:
        """The chunk that finishes the choice."""
        return self._choice(b"{}", b"", encoded(reason))

    def usage(self, usage: dict[str, object]) -> bytes:
        """The chunk that tells the usage, and no choice."""
        return self._head + b'],"usage":' + encoded(usage) + b"}\n\n"

    def _choice(self, delta: bytes, logprobs: bytes, reason: bytes) -> bytes:
        entry = b'{"index":0,"delta":' + delta + logprobs + b',"finish_reason":' + reason + b"}"
        return self._head + entry + b"]}\n\n"
