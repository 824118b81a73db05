"""What the answer to a request should be like."""

from msgspec import Struct


class Expectation(Struct, frozen=True, kw_only=True):
    """What was asked for. `tool` is the name of a forced tool, `limit` the output tokens allowed."""

    usage: bool = True
    """Whether usage must be told; on Chat Completions it must not where it was not asked for."""
    tool: str | None = None
    limit: int | None = None
    long: bool = False
    """Whether the answer is long enough to see how it is flushed."""


class Summary(Struct, frozen=True, kw_only=True):
    """What an answer said, as far as it could be read."""

    spoken: int = 0
    """Events, or parts, with output."""
    calls: tuple[str, ...] = ()
    """Names of called tools."""
    stop: str | None = None
    """Why it ended, in the protocol's own word."""
    failed: bool = False
    """It was ended by an error."""
    output_tokens: int | None = None
    heard: tuple[tuple[float, int], ...] = ()
    """When output came, and how many characters of it."""
