"""The shapes of a Chat Completions chunk that are read; every member may be missing."""

from typing import Any

import msgspec
from msgspec import Struct

from tidegate.protocols.reading import read


class Function(Struct, gc=False):
    """The function of a tool call fragment; some servers send the arguments as an object."""

    name: str | None = None
    arguments: str | dict[str, Any] | None = None


class ToolCall(Struct, gc=False):
    """A fragment of a tool call."""

    index: int | None = None
    id: str | None = None
    function: Function | None = None
    custom: Any = None


class Delta(Struct, gc=False):
    """What one chunk adds to a choice, vendors' members included."""

    content: str | list[Any] | None = None
    refusal: str | None = None
    reasoning_content: str | None = None
    reasoning: str | dict[str, Any] | None = None
    reasoning_details: Any = None
    tool_calls: list[ToolCall] | None = None
    function_call: Any = None
    annotations: Any = None
    audio: Any = None
    images: Any = None


class Choice(Struct, gc=False):
    """One choice of a chunk. Some servers send all of it as a `message`; Moonshot tells `usage` here."""

    index: int = 0
    delta: Delta | None = None
    finish_reason: str | None = None
    message: Any = None
    usage: Any = None


class Chunk(Struct, gc=False):
    """A chunk, or an error in a chunk's place. `type` is no member of Chat: it betrays a foreign event.

    `x_groq` is where Groq tells usage beside the usage chunk.
    """

    id: str | None = None
    created: int | float | None = None
    model: str | None = None
    choices: list[Choice] | None = None
    usage: Any = None
    error: Any = None
    type: str | None = None
    x_groq: Any = None


_CHUNK = msgspec.json.Decoder(Chunk)


def parse(text: bytes) -> Chunk | None:
    """The chunk, leniently; None: no JSON object."""
    return read(_CHUNK, Chunk, text)
