"""Writes a request in the common form for a chat upstream."""

from typing import Any

from tidegate.core.conversation import Conversation, Format
from tidegate.core.failure import Failure
from tidegate.core.protocol import Protocol
from tidegate.protocols.chat.write_tools import write_tools
from tidegate.protocols.chat.write_turns import TurnWriter
from tidegate.protocols.conversion import Abilities, Target, Written
from tidegate.protocols.losses import Losses, malformed
from tidegate.protocols.openai_tool_writing import UpstreamTools, settle_tools
from tidegate.protocols.openai_upstream import (
    encoded,
    refuse_schema,
    schema_members,
    write_parameters,
)
from tidegate.protocols.reasoning_levels import effort_for

_MOST_STOPS = 4
"""Stop strings that an upstream takes; the gateway cuts at the others."""


def write_conversation(conversation: Conversation, target: Target) -> Written | Failure:
    """The request's body; Failure: 400 for what the protocol cannot say."""
    losses = Losses()
    abilities = target.abilities
    tools = settle_tools(conversation, abilities, losses)
    body: dict[str, Any] = {"model": target.model}
    if target.stream:
        body["stream"] = True
        body["stream_options"] = {"include_usage": True}
    body["messages"] = _messages(conversation, abilities, tools, losses)
    body.update(write_parameters(conversation, Protocol.CHAT, abilities, losses))
    body.update(write_tools(conversation, tools, losses))
    body.update(_sampling(conversation, abilities, losses))
    body.update(_format(conversation, abilities, losses))
    effort = effort_for(conversation.reasoning, abilities.efforts, losses)
    if effort is not None:
        body["reasoning_effort"] = effort.value
    if conversation.metadata is not None:
        losses.dropped(conversation.metadata.path)
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


def _messages(
    conversation: Conversation, abilities: Abilities, tools: UpstreamTools, losses: Losses
) -> list[dict[str, Any]]:
    """System text that stands apart is the first message."""
    leading = []
    if conversation.instructions is not None:
        leading.append({"role": "system", "content": conversation.instructions.value})
    if conversation.system:
        text = "\n\n".join(block.text for block in conversation.system)
        leading.append({"role": "system", "content": text})
    writer = TurnWriter(
        conversation.protocol,
        tools,
        abilities.replay_reasoning,
        losses,
        developer_role=abilities.developer_role,
    )
    messages = leading + writer.write(conversation.turns)
    if not messages:
        path = conversation.turns[0].path if conversation.turns else "input"
        losses.refuse(malformed(path, "a message that says something"))
    return messages


def _sampling(conversation: Conversation, abilities: Abilities, losses: Losses) -> dict[str, Any]:
    sampling = conversation.sampling
    body: dict[str, Any] = {}
    limit = sampling.max_output_tokens
    if limit is not None and limit.value < 1:
        losses.refuse_value(limit.path)
    elif limit is not None:
        body[abilities.max_tokens_field.value] = limit.value
    if sampling.stop is not None:
        body["stop"] = sampling.stop.value[:_MOST_STOPS]
        if len(sampling.stop.value) > _MOST_STOPS:
            losses.approximated(sampling.stop.path)
    if sampling.logprobs is not None:
        body["logprobs"] = True
        if sampling.logprobs.value:
            body["top_logprobs"] = sampling.logprobs.value
    if sampling.verbosity is not None:
        body["verbosity"] = sampling.verbosity.value
    return body


def _stops(conversation: Conversation) -> tuple[str, ...]:
    """Those that do not fit upstream."""
    stop = conversation.sampling.stop
    return () if stop is None else stop.value[_MOST_STOPS:]


def _format(conversation: Conversation, abilities: Abilities, losses: Losses) -> dict[str, Any]:
    structured = conversation.structured
    if structured is None:
        return {}
    refuse_schema(structured, abilities, losses)
    form: dict[str, Any] = {"type": structured.format.value}
    if structured.format is Format.JSON_SCHEMA:
        form["json_schema"] = schema_members(structured, conversation.protocol)
    return {"response_format": form}
