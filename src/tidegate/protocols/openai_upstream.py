"""Writes the parameters that the two OpenAI protocols take in the same way, and what neither can say."""

from hashlib import sha256
from typing import Any

import msgspec

from tidegate.core.capability import MaxTokensField
from tidegate.core.conversation import Conversation, Format, Structured
from tidegate.core.failure import Failure
from tidegate.core.protocol import Protocol
from tidegate.protocols.conversion import Abilities
from tidegate.protocols.losses import Losses
from tidegate.protocols.other_members import write_others
from tidegate.protocols.request_body import invalid
from tidegate.protocols.strict_schemas import is_strict

_USER_LIMIT = 128
_TIERS = {"auto": "auto", "standard_only": "default"}


def write_parameters(
    conversation: Conversation, channel: Protocol, abilities: Abilities, losses: Losses
) -> dict[str, Any]:
    """Sampling, end user, service tier, and the members that only travel between the OpenAI protocols."""
    body = write_others(conversation, channel, losses)
    sampling = conversation.sampling
    for name, given in (("temperature", sampling.temperature), ("top_p", sampling.top_p)):
        if not abilities.sampling:
            body.pop(name, None)
            if given is not None:
                losses.dropped(given.path)
        elif given is not None:
            body[name] = given.value
    if sampling.top_k is not None:
        losses.dropped(sampling.top_k.path)
    body.update(_end_user(conversation, abilities, losses))
    body.update(_service_tier(conversation, losses))
    return body


def schema_members(structured: Structured, client: Protocol) -> dict[str, Any]:
    """Name, schema, strict and description of a JSON schema; Messages tells only the schema."""
    strict = is_strict(structured.schema) if client is Protocol.MESSAGES else structured.strict
    members = {
        "name": structured.name or "response",
        "schema": structured.schema,
        "strict": strict,
        "description": structured.description,
    }
    return {name: value for name, value in members.items() if value is not None}


def refuse_schema(structured: Structured, abilities: Abilities, losses: Losses) -> None:
    """A channel without structured output would answer something else than was asked for."""
    if structured.format is Format.JSON_SCHEMA and not abilities.structured_output:
        losses.refuse_value(structured.path, "The channels of this model take no JSON schema for the answer.")


def encoded(body: dict[str, Any]) -> bytes | Failure:
    """The body as JSON; Failure where a client nests deeper than can be written."""
    try:
        return msgspec.json.encode(body)
    except RecursionError:
        return invalid("The JSON text is nested too deeply.", None)


def _end_user(conversation: Conversation, abilities: Abilities, losses: Losses) -> dict[str, str]:
    """Under the client's own name for it; what Messages calls `user_id` becomes `safety_identifier`.

    Servers that still have the old name of the output limit do not know it, and many refuse what they do not
    know: Claude Code sends a user with every request.
    """
    user = conversation.end_user
    if user is None:
        return {}
    if abilities.max_tokens_field is MaxTokensField.MAX_TOKENS and user.path != "user":
        losses.dropped(user.path)
        return {}
    if conversation.protocol is not Protocol.MESSAGES:
        return {user.path: user.value}
    if len(user.value) <= _USER_LIMIT:
        return {"safety_identifier": user.value}
    losses.approximated(user.path)
    return {"safety_identifier": sha256(user.value.encode()).hexdigest()}


def _service_tier(conversation: Conversation, losses: Losses) -> dict[str, str]:
    tier = conversation.service_tier
    if tier is None:
        return {}
    if conversation.protocol is not Protocol.MESSAGES:
        return {"service_tier": tier.value}
    known = _TIERS.get(tier.value)
    if known is None:
        losses.dropped(tier.path)
        return {}
    return {"service_tier": known}
