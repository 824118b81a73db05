"""The shapes of a chunk as a conversion reads them; every member may be missing."""

from typing import Any

import msgspec
from msgspec import Struct

from tidegate.protocols.reading import read, salvage


class Function(Struct, gc=False):
    """The function of a call fragment. Arguments are a text, at some servers an object."""

    name: str | None = None
    arguments: Any = None


class Custom(Struct, gc=False):
    """The custom tool of a call fragment."""

    name: str | None = None
    input: Any = None


class ToolCall(Struct, gc=False):
    """A fragment of a tool call."""

    index: int | None = None
    id: str | None = None
    function: Function | None = None
    custom: Custom | None = None


class Delta(Struct, gc=False):
    """What a chunk adds to a choice, vendors' members included."""

    content: str | list[Any] | None = None
    refusal: str | None = None
    reasoning_content: Any = None
    reasoning: Any = None
    reasoning_details: Any = None
    tool_calls: list[ToolCall] | None = None
    function_call: Function | None = None
    annotations: Any = None


class Logprobs(Struct, gc=False):
    """Log probabilities of the tokens of a delta."""

    content: list[Any] | None = None
    refusal: list[Any] | None = None


class Choice(Struct, gc=False):
    """One choice of a chunk. Some servers send all of it as a `message`; Moonshot tells `usage` here."""

    index: int = 0
    delta: Delta | None = None
    finish_reason: str | None = None
    logprobs: Logprobs | None = None
    message: Any = None
    usage: Any = None


class Chunk(Struct, gc=False):
    """A chunk, or an error in its place. `type` is no member of Chat; `x_groq` is where Groq tells usage."""

    id: str | None = None
    choices: list[Choice] | None = None
    usage: Any = None
    service_tier: str | None = None
    error: Any = None
    type: str | None = None
    x_groq: Any = None


_CHUNK = msgspec.json.Decoder(Chunk)


def parse(text: bytes) -> Chunk | None:
    """The chunk, leniently; None: no JSON object."""
    return read(_CHUNK, Chunk, text)


def as_delta(message: object) -> Delta | None:
    """A whole message in a delta's place; None: no message."""
    found: Delta | None = salvage(message, Delta)
    return found
