"""Which of the caller's headers go up on a channel of the same protocol (CONTRACT.md, "Headers")."""

import hashlib
import hmac
from collections.abc import Iterator

from tidegate.core.protocol import Protocol
from tidegate.core.secret import Secret
from tidegate.exchange.story import Incoming
from tidegate.routing.catalog import Channel

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
    return tuple(_headers_up(incoming, account, channel, secret, stream=stream))


def _headers_up(
    incoming: Incoming, account: str, channel: Channel, secret: Secret, *, stream: bool
) -> Iterator[tuple[str, str]]:
    yield "content-type", "application/json"
    yield "accept", "text/event-stream" if stream else "application/json"
    for name in (*_ALLOWED[incoming.protocol], *channel.forward_headers):
        value = incoming.headers.get(name)
        if value is not None:
            yield name, value
    key = incoming.headers.get("idempotency-key")
    if key is not None:
        yield "idempotency-key", idempotency_key(key, account, secret)


def idempotency_key(key: str, account: str, secret: Secret) -> str:
    """The caller's key as a keyed hash, so that callers of one upstream account cannot meet."""
    text = f"{account}\0{key}".encode("utf-8", "surrogatepass")
    return "tg-" + hmac.new(secret.reveal().encode(), text, hashlib.sha256).hexdigest()[:40]
