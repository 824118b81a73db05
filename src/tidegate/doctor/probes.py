"""The requests that an endpoint is examined with."""

from enum import Enum

import msgspec
from msgspec import Struct

from tidegate.core.protocol import Protocol

PROMPT = "Say hello in one short sentence."


class Kind(Enum):
    """What an answer is expected to be."""

    STREAM = "stream"
    WHOLE = "whole"


class Probe(Struct, frozen=True, kw_only=True):
    """One request: `path` comes after the base URL."""

    name: str
    kind: Kind
    path: str
    body: bytes


def path_of(protocol: Protocol) -> str:
    """Where the protocol is served, after what its own SDKs take as base URL."""
    match protocol:
        case Protocol.CHAT:
            return "/chat/completions"
        case Protocol.RESPONSES:
            return "/responses"
        case Protocol.MESSAGES:
            return "/v1/messages"


def plain_stream(protocol: Protocol, model: str) -> Probe:
    """A short text as a stream."""
    return Probe(
        name="plain stream",
        kind=Kind.STREAM,
        path=path_of(protocol),
        body=msgspec.json.encode({"model": model, "stream": True} | _asked(protocol, PROMPT)),
    )


def _asked(protocol: Protocol, prompt: str) -> dict[str, object]:
    turn = [{"role": "user", "content": prompt}]
    match protocol:
        case Protocol.CHAT:
            return {"messages": turn}
        case Protocol.RESPONSES:
            return {"input": turn, "store": False}
        case Protocol.MESSAGES:
            return {"messages": turn, "max_tokens": 1024}
