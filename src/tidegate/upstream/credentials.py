"""How each protocol signs its requests."""

from typing import assert_never

from tidegate.core.protocol import Protocol
from tidegate.core.secret import Secret

ANTHROPIC_VERSION = "2023-06-01"
"""Sent where the caller names none; the only version that Anthropic's API documents."""


def credential(protocol: Protocol, api_key: Secret) -> tuple[str, str] | None:
    """The header that carries a channel's key, None for a channel without one (local servers)."""
    if not api_key:
        return None
    match protocol:
        case Protocol.CHAT | Protocol.RESPONSES:
            return ("authorization", f"Bearer {api_key.reveal()}")
        case Protocol.MESSAGES:
            return ("x-api-key", api_key.reveal())
        case _ as never:
            assert_never(never)


def expected_headers(protocol: Protocol) -> tuple[tuple[str, str], ...]:
    """Headers that the protocol wants and that a request may set otherwise."""
    match protocol:
        case Protocol.CHAT | Protocol.RESPONSES:
            return ()
        case Protocol.MESSAGES:
            return (("anthropic-version", ANTHROPIC_VERSION),)
        case _ as never:
            assert_never(never)
