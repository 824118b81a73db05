"""Builds the request that `tidegate stream` sends."""

from typing import assert_never
from urllib.parse import urlsplit

import msgspec
from msgspec import Struct

from tidegate.core.protocol import Protocol

DEFAULT_MESSAGES_LIMIT = 4096


class BadUrl(Exception):
    """A base URL that cannot be called; the text says why."""


class Question(Struct, frozen=True):
    """What to send where: `base_url` plus `path`; the headers are without the credential."""

    base_url: str
    path: str
    headers: tuple[tuple[str, str], ...]
    body: bytes


def question(
    protocol: Protocol, base_url: str, model: str, prompt: str, extra: dict[str, object] | None = None
) -> Question:
    """A streaming request with `prompt` as its only turn; members of `extra` go on top. Raises BadUrl."""
    base = checked(base_url)
    headers = (("content-type", "application/json"), ("accept", "text/event-stream"))
    body: dict[str, object] = {"model": model, "stream": True} | _members(protocol, prompt) | (extra or {})
    encoded = msgspec.json.encode(body)
    match protocol:
        case Protocol.CHAT:
            return Question(_with_version(base), "/chat/completions", headers, encoded)
        case Protocol.RESPONSES:
            return Question(_with_version(base), "/responses", headers, encoded)
        case Protocol.MESSAGES:
            version = ("anthropic-version", "2023-06-01")
            return Question(base.removesuffix("/v1"), "/v1/messages", (*headers, version), encoded)
        case _ as never:
            assert_never(never)


def _members(protocol: Protocol, prompt: str) -> dict[str, object]:
    turn = [{"role": "user", "content": prompt}]
    match protocol:
        case Protocol.CHAT:
            return {"messages": turn, "stream_options": {"include_usage": True}}
        case Protocol.RESPONSES:
            return {"input": prompt}
        case Protocol.MESSAGES:
            return {"max_tokens": DEFAULT_MESSAGES_LIMIT, "messages": turn}
        case _ as never:
            assert_never(never)


def checked(base_url: str) -> str:
    """`base_url` without a closing slash. Raises BadUrl."""
    try:
        parts = urlsplit(base_url)
        host, _port = parts.hostname, parts.port
    except ValueError as error:
        raise BadUrl(f"{base_url}: {error}") from error
    if parts.scheme not in {"http", "https"}:
        raise BadUrl(f"{base_url}: must begin with http:// or https://")
    if not host:
        raise BadUrl(f"{base_url}: names no host")
    if parts.query or parts.fragment:
        raise BadUrl(f"{base_url}: a base URL has no query and no fragment")
    if parts.username is not None or parts.password is not None:
        raise BadUrl(f"{parts.hostname}: give the credential with --key, not in the URL")
    return base_url.rstrip("/")


def _with_version(base: str) -> str:
    """Add `/v1`, unless a segment like `v1` or `v1beta` says already where the API begins."""
    segments = urlsplit(base).path.split("/")
    named = any(segment[:1] == "v" and segment[1:2].isdigit() for segment in segments)
    return base if named else base + "/v1"
