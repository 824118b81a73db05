"""Writes a request in the common form for a responses upstream."""

from typing import Any

from tidegate.core.conversation import Conversation, Format, Role, Sampling, Text, Turn
from tidegate.core.failure import Failure
from tidegate.core.protocol import Protocol
from tidegate.protocols.conversion import Abilities, Target, Written
from tidegate.protocols.losses import Losses
from tidegate.protocols.openai_tool_writing import settle_tools
from tidegate.protocols.openai_upstream import (
    encoded,
    refuse_schema,
    schema_members,
    write_parameters,
)
from tidegate.protocols.output_limits import LEAST_ON_RESPONSES
from tidegate.protocols.reasoning_levels import effort_for, wants_to_see
from tidegate.protocols.responses.write_input import InputWriter
from tidegate.protocols.responses.write_tools import write_tools

_SEALED = "reasoning.encrypted_content"
_LOGPROBS = "message.output_text.logprobs"


def write_conversation(conversation: Conversation, target: Target) -> Written | Failure:
    """The request's body; Failure: 400 for what the protocol cannot say."""
    losses = Losses()
    abilities = target.abilities
    tools = settle_tools(conversation, abilities, losses)
    instructions, turns = _instructions(conversation, abilities)
    body: dict[str, Any] = {"model": target.model}
    if target.stream:
        body["stream"] = True
    body["store"] = _stores(conversation)
    if instructions is not None:
        body["instructions"] = instructions
    group = target.group if abilities.efforts else None  # a model that does not reason takes none back
    body["input"] = InputWriter(conversation.protocol, group, tools, losses).write(turns)
    body.update(write_parameters(conversation, Protocol.RESPONSES, abilities, losses))
    body.update(write_tools(conversation, tools, losses))
    body.update(_sampling(conversation, abilities, losses))
    _note_missing(conversation.sampling, losses)
    body.update(_text(conversation, abilities, losses))
    body.update(_reasoning(conversation, abilities, losses))
    if conversation.metadata is not None:
        body["metadata"] = conversation.metadata.value
    if losses.failure is not None:
        return losses.failure
    text = encoded(body)
    if isinstance(text, Failure):
        return text
    return Written(
        body=text,
        losses=losses.told(),
        names=tools.names.back,
        stops=_stops(conversation),
    )


def _stores(conversation: Conversation) -> bool:
    """For Chat as the client says, and it says no by default; Messages has no such thing."""
    return conversation.store is not None and conversation.store.value


def _instructions(conversation: Conversation, abilities: Abilities) -> tuple[str | None, tuple[Turn, ...]]:
    """System text of Messages; of Chat only where the channel insists on `instructions`."""
    turns = conversation.turns
    if conversation.system:
        return "\n\n".join(block.text for block in conversation.system), turns
    if not abilities.instructions_required:
        return None, turns
    leading = 0
    while leading < len(turns) and turns[leading].role in (Role.SYSTEM, Role.DEVELOPER):
        leading += 1
    texts = [block.text for turn in turns[:leading] for block in turn.blocks if isinstance(block, Text)]
    return "\n\n".join(texts), turns[leading:]


def _sampling(conversation: Conversation, abilities: Abilities, losses: Losses) -> dict[str, Any]:
    """The limit, the log probabilities and, of a model that reasons, what it needs to get that back."""
    sampling = conversation.sampling
    include = [_SEALED] if abilities.efforts else []
    body: dict[str, Any] = {}
    if sampling.logprobs is not None:
        include.append(_LOGPROBS)
        if sampling.logprobs.value:
            body["top_logprobs"] = sampling.logprobs.value
    if include:
        body["include"] = include
    limit = sampling.max_output_tokens
    if limit is not None and limit.value < 1:
        losses.refuse_value(limit.path)
    elif limit is not None:
        body["max_output_tokens"] = max(limit.value, LEAST_ON_RESPONSES)
        if limit.value < LEAST_ON_RESPONSES:
            losses.clamped(limit.path)
    return body


def _note_missing(sampling: Sampling, losses: Losses) -> None:
    """What the protocol lacks."""
    for lost in (sampling.presence_penalty, sampling.frequency_penalty, sampling.seed):
        if lost is not None:
            losses.dropped(lost.path)
    if sampling.stop is not None:
        losses.approximated(sampling.stop.path)
    if sampling.choices is not None:
        losses.refuse_choices(sampling.choices.path)
    if sampling.logit_bias is not None:
        losses.refuse_parameter(sampling.logit_bias.path)


def _stops(conversation: Conversation) -> tuple[str, ...]:
    """All of them: the protocol has no stop strings."""
    stop = conversation.sampling.stop
    return () if stop is None else stop.value


def _text(conversation: Conversation, abilities: Abilities, losses: Losses) -> dict[str, Any]:
    text: dict[str, Any] = {}
    structured = conversation.structured
    if structured is not None:
        refuse_schema(structured, abilities, losses)
        text["format"] = {"type": structured.format.value}
        if structured.format is Format.JSON_SCHEMA:
            text["format"].update(schema_members(structured, conversation.protocol))
    if conversation.sampling.verbosity is not None:
        text["verbosity"] = conversation.sampling.verbosity.value
    return {"text": text} if text else {}


def _reasoning(conversation: Conversation, abilities: Abilities, losses: Losses) -> dict[str, Any]:
    reasoning: dict[str, Any] = {}
    effort = effort_for(conversation.reasoning, abilities.efforts, losses)
    if effort is not None:
        reasoning["effort"] = effort.value
    if abilities.efforts and abilities.reasoning_summary and wants_to_see(conversation.reasoning):
        reasoning["summary"] = "auto"
    return {"reasoning": reasoning} if reasoning else {}
