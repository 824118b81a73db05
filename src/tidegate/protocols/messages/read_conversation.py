"""Reads a client's Messages request into the common form of conversations (conversion.md)."""

from typing import Any

from tidegate.core.capability import Effort
from tidegate.core.conversation import (
    Conversation,
    Format,
    Given,
    Reasoning,
    Sampling,
    Structured,
    ThinkingMode,
)
from tidegate.core.failure import Failure
from tidegate.core.protocol import Protocol
from tidegate.protocols.base import Asked
from tidegate.protocols.client_members import Members, read_members
from tidegate.protocols.conversion import OpenCarrier
from tidegate.protocols.losses import Losses, malformed
from tidegate.protocols.messages.read_tools import read_choice, read_tools
from tidegate.protocols.messages.read_turns import Reading, read_system, read_turns

_READ_BEFORE = ("model", "stream")
_DEFAULTS: dict[str, Any] = {"speed": "standard"}
_SHOWN = {"summarized": True, "omitted": False}


def read_conversation(asked: Asked, open_carrier: OpenCarrier) -> Conversation | Failure:
    """The request for a channel of another protocol.

    A part that is malformed, of a kind that nobody knows, or that no other protocol can say, is a Failure
    that names it.
    """
    refusals = Losses()
    members = read_members(asked, refusals)
    if isinstance(members, Failure):
        return members
    conversation = _read(asked, members, Reading(refusals, open_carrier))
    return conversation if refusals.failure is None else refusals.failure


def _read(asked: Asked, members: Members, reading: Reading) -> Conversation:
    refusals = reading.refusals
    for name in _READ_BEFORE:
        members.take(name)
    system = read_system(members.take("system"), reading)
    turns = read_turns(members.elements("messages"), reading)
    tools = read_tools(members.elements("tools"), refusals)
    chosen = read_choice(members.object("tool_choice"), tools, refusals)
    config, metadata = members.object("output_config"), members.object("metadata")
    return Conversation(
        protocol=Protocol.MESSAGES,
        model=asked.model,
        stream=asked.stream,
        system=system,
        turns=turns,
        tools=tools,
        choice=chosen.choice,
        parallel=chosen.parallel,
        sampling=_sampling(members, refusals),
        reasoning=_reasoning(members.object("thinking"), config, refusals),
        structured=_structured(members, config, refusals),
        end_user=None if metadata is None else metadata.text("user_id"),
        service_tier=members.text("service_tier"),
        others=tuple(
            other
            for each in (members, config, metadata)
            if each is not None
            for other in each.rest(_DEFAULTS)
        ),
        losses=refusals.told(),
    )


def _sampling(members: Members, refusals: Losses) -> Sampling:
    limit = members.whole("max_tokens")
    if limit is not None and limit.value < 1:
        refusals.refuse_value(limit.path, "`max_tokens` must be at least 1 on the channels of this model.")
    return Sampling(
        max_output_tokens=limit,
        temperature=members.number("temperature"),
        top_p=members.number("top_p"),
        top_k=members.whole("top_k"),
        stop=_stop(members.elements("stop_sequences"), refusals),
    )


def _stop(stops: list[Any], refusals: Losses) -> Given[tuple[str, ...]] | None:
    path = "stop_sequences"
    if not all(isinstance(stop, str) and stop for stop in stops):
        refusals.refuse(malformed(path, "an array of strings that are not empty"))
        return None
    return Given(tuple(stops), path) if stops else None


def _reasoning(thinking: Members | None, config: Members | None, refusals: Losses) -> Reasoning:
    effort = None if config is None else _effort(config.text("effort"), refusals)
    if thinking is None:
        return Reasoning(effort=effort)
    mode, budget, display = thinking.text("type"), thinking.whole("budget_tokens"), thinking.text("display")
    return Reasoning(
        effort=effort,
        thinking=_thinking_mode(mode, refusals),
        budget=None if budget is None else budget.value,
        shown=None if display is None else _SHOWN.get(display.value),
    )


def _effort(word: Given[str] | None, refusals: Losses) -> Given[Effort] | None:
    if word is None:
        return None
    try:
        return Given(Effort(word.value), word.path)
    except ValueError:
        refusals.refuse_value(word.path, f"`{word.path}` is none of the known levels.")
        return None


def _thinking_mode(word: Given[str] | None, refusals: Losses) -> Given[ThinkingMode] | None:
    """The loss of a form of thinking is told by the name of the whole member."""
    try:
        return None if word is None else Given(ThinkingMode(word.value), "thinking")
    except ValueError:
        refusals.refuse_value("thinking.type")
        return None


def _structured(members: Members, config: Members | None, refusals: Losses) -> Structured | None:
    """`output_config.format`, or `output_format` as the member was called in the beta."""
    beta = members.object("output_format")
    form = beta if config is None else config.object("format") or beta
    if form is None:
        return None
    path = form.path("")[:-1]
    kind = form.text("type")
    if kind is None or kind.value != "json_schema":
        refusals.refuse_value(form.path("type"))
    schema = form.take("schema")
    if not isinstance(schema, dict):
        refusals.refuse(malformed(form.path("schema"), "an object"))
    return Structured(format=Format.JSON_SCHEMA, path=path, schema=schema)
