"""What becomes of request members that have no counterpart in the common form (conversion.md §2)."""

from collections.abc import Mapping
from enum import Enum
from typing import Any, assert_never

from tidegate.core.conversation import Conversation
from tidegate.core.protocol import Protocol
from tidegate.protocols.losses import Losses


class Fate(Enum):
    """What a conversion does with a member."""

    KEPT = "kept"
    """Sent as it came, under the same name."""
    DROPPED = "dropped"
    """Left out, with a warning."""
    SILENT = "silent"
    """Left out without a word: it cannot change the answer."""
    REFUSED = "refused"
    """400 `unsupported_parameter`."""


K, D, S, X = Fate.KEPT, Fate.DROPPED, Fate.SILENT, Fate.REFUSED

FATES: Mapping[tuple[Protocol, Protocol], Mapping[str, Fate]] = {
    (Protocol.CHAT, Protocol.RESPONSES): {
        "temperature": K,
        "top_p": K,
        "moderation": K,
        "prompt_cache_key": K,
        "prompt_cache_options": K,
        "prompt_cache_retention": K,
        "user": K,
        "prediction": D,
        "modalities": X,
        "audio": X,
    },
    (Protocol.CHAT, Protocol.MESSAGES): {
        "temperature": S,
        "top_p": S,
        "moderation": X,
        "prompt_cache_key": S,
        "prompt_cache_options": S,
        "prompt_cache_retention": S,
        "user": S,
        "prediction": D,
        "modalities": X,
        "audio": X,
    },
    (Protocol.RESPONSES, Protocol.CHAT): {
        "temperature": K,
        "top_p": K,
        "moderation": X,
        "prompt_cache_key": K,
        "prompt_cache_options": K,
        "prompt_cache_retention": K,
        "user": K,
        "previous_response_id": X,
        "conversation": X,
        "prompt": X,
        "background": X,
        "truncation": D,
        "max_tool_calls": D,
        "context_management": D,
        "access_programs": D,
        "image": D,
    },
    (Protocol.RESPONSES, Protocol.MESSAGES): {
        "temperature": S,
        "top_p": S,
        "moderation": X,
        "prompt_cache_key": S,
        "prompt_cache_options": S,
        "prompt_cache_retention": S,
        "user": S,
        "previous_response_id": X,
        "conversation": X,
        "prompt": X,
        "background": X,
        "truncation": D,
        "max_tool_calls": D,
        "context_management": D,
        "access_programs": D,
        "image": D,
    },
    (Protocol.MESSAGES, Protocol.CHAT): {
        "container": X,
        "thread": X,
        "mcp_servers": X,
        "context_management": D,
        "speed": D,
        "inference_geo": D,
        "cache_control": S,
        "diagnostics": S,
    },
    (Protocol.MESSAGES, Protocol.RESPONSES): {
        "container": X,
        "thread": X,
        "mcp_servers": X,
        "context_management": D,
        "speed": D,
        "inference_geo": D,
        "cache_control": S,
        "diagnostics": S,
    },
}
"""(client, channel) -> member -> what becomes of it. A member that stands nowhere here is unknown: DROPPED.

`temperature` and `top_p` are here only where the client spelled out the default; `user` only beside
`safety_identifier`, which then is the end user.
"""


def fate(client: Protocol, channel: Protocol, path: str) -> Fate:
    """What becomes of the member at `path` in a conversion."""
    return FATES.get((client, channel), {}).get(path, Fate.DROPPED)


def write_others(conversation: Conversation, channel: Protocol, losses: Losses) -> dict[str, Any]:
    """The members to send; what else the client sent, and what reading it has lost, is noted or refused."""
    losses.note(conversation.losses)
    kept: dict[str, Any] = {}
    for other in conversation.others:
        match fate(conversation.protocol, channel, other.path):
            case Fate.KEPT:
                kept[other.path] = other.value
            case Fate.DROPPED:
                losses.dropped(other.path)
            case Fate.SILENT:
                pass
            case Fate.REFUSED:
                losses.refuse_parameter(other.path)
            case _ as never:
                assert_never(never)
    return kept
