"""Which of the caller's headers go up on a channel of the same protocol (CONTRACT.md, "Headers")."""

import hashlib
import hmac
from collections.abc import Sequence
from typing import TypeAlias

from tidegate.core.protocol import Protocol
from tidegate.core.secret import Secret
from tidegate.core.trace_context import TRACE_HEADERS, Trace
from tidegate.exchange.story import Incoming
from tidegate.routing.catalog import Channel

Header: TypeAlias = tuple[str, str]

_JSON = ("content-type", "application/json")
_AS_STREAM = ("accept", "text/event-stream")
_AS_JSON = ("accept", "application/json")
_OWN = ("content-type", "accept", "idempotency-key")
"""Written by the gateway in its own words, so never a second time in the caller's."""
_OPENAI = ("openai-beta", "user-agent")
_ALLOWED = {
    Protocol.CHAT: _OPENAI,
    Protocol.RESPONSES: _OPENAI,
    Protocol.MESSAGES: ("anthropic-version", "anthropic-beta", "user-agent"),
}


def headers_up(
    incoming: Incoming, account: str, channel: Channel, secret: Secret, *, stream: bool
) -> tuple[tuple[str, str], ...]:
    """The request headers for `channel`, without its credential and framing."""
    same = channel.protocol is incoming.protocol
    came = incoming.headers if same else {}  # to another protocol they mean nothing
    headers = [_JSON, _AS_STREAM if stream else _AS_JSON]
    allowed = _ALLOWED[incoming.protocol]
    headers += [(name, came[name]) for name in allowed if name in came]
    written = _OWN + allowed
    headers += [
        (name, came[name]) for name in channel.forward_headers if name in came and name not in written
    ]
    if "idempotency-key" in came:
        headers.append(("idempotency-key", idempotency_key(came["idempotency-key"], account, secret)))
    return tuple(headers)


def with_trace(headers: Sequence[Header], trace: Trace, attempt: int) -> tuple[Header, ...]:
    """The headers with the trace in place of what the caller told of it; the first attempt is 0."""
    kept = (header for header in headers if header[0] not in TRACE_HEADERS)
    return (*kept, *trace.headers(attempt))


def idempotency_key(key: str, account: str, secret: Secret) -> str:
    """The caller's key as a keyed hash, so that callers of one upstream account cannot meet."""
    text = f"{account}\0{key}".encode("utf-8", "surrogatepass")
    return "tg-" + hmac.new(secret.reveal().encode(), text, hashlib.sha256).hexdigest()[:40]
