"""Writes a conversation as the request for a messages channel (conversion.md)."""

from hashlib import sha256
from typing import Any

import msgspec

from tidegate.core.conversation import Conversation, Format, Given, Sampling, Structured
from tidegate.core.failure import Failure
from tidegate.core.protocol import Protocol
from tidegate.protocols.conversion import Abilities, Target, Written
from tidegate.protocols.losses import Losses
from tidegate.protocols.messages.write_blocks import Block, text_block
from tidegate.protocols.messages.write_thinking import Circumstances, write_thinking
from tidegate.protocols.messages.write_tools import write_tools
from tidegate.protocols.messages.write_turns import TurnWriter
from tidegate.protocols.other_members import write_others

JSON_INSTRUCTION = (
    "Answer with exactly one JSON object and nothing else: no other text before or after it, "
    "and no code fence around it."
)
"""What stands for `json_object`, which Messages does not have."""

_USER_LIMIT = 256
"""Longest `metadata.user_id` in characters (messages.md §1)."""

_TIERS = {"auto": "auto", "default": "standard_only"}
_DEFAULT_SAMPLING = 1


def write_conversation(conversation: Conversation, target: Target) -> Written | Failure:
    """The body and what the way back must know; Failure: 400 for what a messages channel cannot be told."""
    losses = Losses()
    body: dict[str, Any] = {
        "model": target.model,
        "max_tokens": _limit(conversation.sampling, target, losses),
    }
    tools = write_tools(conversation, target.abilities, losses)
    prompt = TurnWriter(conversation, target, tools.names, losses).write()
    config = _output_config(conversation.structured, target.abilities, prompt.system, losses)
    circumstances = Circumstances(
        max_tokens=body["max_tokens"], forced=tools.forced, lacks_thinking=prompt.lacks_thinking
    )
    thinking = write_thinking(conversation.reasoning, target.abilities, circumstances, losses)
    if thinking.effort is not None:
        config["effort"] = thinking.effort
    sent = {
        "stream": target.stream or None,
        "system": prompt.system,
        "messages": prompt.messages,
        "tools": tools.declared,
        "tool_choice": tools.choice,
        "thinking": thinking.thinking,
        "output_config": config,
        **_write_sampling(conversation.sampling, target.abilities, losses, manual=thinking.manual),
        "metadata": _metadata(conversation.end_user, losses),
        "service_tier": _tier(conversation.service_tier, losses),
        **write_others(conversation, Protocol.MESSAGES, losses),
    }
    stops = _stops(conversation.sampling.stop, body, losses)
    _note_unsayable(conversation, losses)
    if losses.failure is not None:
        return losses.failure
    body.update((name, value) for name, value in sent.items() if value not in (None, [], {}))
    return Written(body=msgspec.json.encode(body), losses=losses.told(), names=tools.names.back, stops=stops)


def _limit(sampling: Sampling, target: Target, losses: Losses) -> int:
    given = sampling.max_output_tokens
    if given is None:
        return target.max_output_tokens
    if given.value < 1:
        losses.refuse_value(given.path, f"`{given.path}` must be at least 1.")
    return given.value


def _write_sampling(
    sampling: Sampling, abilities: Abilities, losses: Losses, *, manual: bool
) -> dict[str, float]:
    """Temperature, or else `top_p`: not both, and neither where the model or manual thinking forbids it."""
    given = [
        (name, parameter)
        for name, parameter in (("temperature", sampling.temperature), ("top_p", sampling.top_p))
        if parameter is not None and parameter.value != _DEFAULT_SAMPLING
    ]
    if manual or not abilities.sampling:
        taken, left = given[:0], given
    else:
        taken, left = given[:1], given[1:]
    for _, parameter in left:
        losses.dropped(parameter.path)
    return {name: _at_most_one(parameter, losses) for name, parameter in taken}


def _at_most_one(parameter: Given[float], losses: Losses) -> float:
    if parameter.value <= 1:
        return parameter.value
    losses.clamped(parameter.path)
    return 1.0


def _stops(given: Given[tuple[str, ...]] | None, body: dict[str, Any], losses: Losses) -> tuple[str, ...]:
    """The API refuses stop strings of white space only; the gateway cuts at those."""
    if given is None:
        return ()
    native = [stop for stop in given.value if not stop.isspace()]
    if native:
        body["stop_sequences"] = native
    blank = tuple(stop for stop in given.value if stop.isspace())
    if blank:
        losses.approximated(given.path)
    return blank


def _output_config(
    structured: Structured | None, abilities: Abilities, system: list[Block], losses: Losses
) -> dict[str, Any]:
    """The schema of the answer. That it must be any JSON object is told in the system text."""
    if structured is None:
        return {}
    match structured.format:
        case Format.JSON_OBJECT:
            losses.approximated(structured.path)
            system.append(text_block(JSON_INSTRUCTION))
            return {}
        case Format.JSON_SCHEMA:
            if not abilities.structured_output or not isinstance(structured.schema, dict):
                losses.refuse_value(structured.path)
            return {"format": {"type": "json_schema", "schema": structured.schema}}


def _metadata(user: Given[str] | None, losses: Losses) -> dict[str, str] | None:
    if user is None:
        return None
    if len(user.value) <= _USER_LIMIT:
        return {"user_id": user.value}
    losses.approximated(user.path)
    return {"user_id": sha256(user.value.encode()).hexdigest()}


def _tier(tier: Given[str] | None, losses: Losses) -> str | None:
    if tier is None:
        return None
    if tier.value not in _TIERS:
        losses.dropped(tier.path)
    return _TIERS.get(tier.value)


def _note_unsayable(conversation: Conversation, losses: Losses) -> None:
    """Parameters that Messages has nothing for: conversion.md §2."""
    sampling = conversation.sampling
    if sampling.choices is not None:
        losses.refuse_choices(sampling.choices.path)
    for refused in (sampling.logit_bias, sampling.logprobs):
        if refused is not None:
            losses.refuse_parameter(refused.path)
    for dropped in (
        sampling.presence_penalty,
        sampling.frequency_penalty,
        sampling.seed,
        sampling.verbosity,
        conversation.metadata,
    ):
        if dropped is not None:
            losses.dropped(dropped.path)
