"""Reads a Responses request in the common form."""

from typing import Any

from tidegate.core.conversation import Conversation, Given, Reasoning, Sampling, Structured, Turn
from tidegate.core.failure import Failure
from tidegate.core.protocol import Protocol
from tidegate.protocols.base import Asked
from tidegate.protocols.client_members import Members, read_members
from tidegate.protocols.conversion import OpenCarrier
from tidegate.protocols.losses import Losses, malformed
from tidegate.protocols.openai_parameters import (
    read_effort,
    read_end_user,
    read_format,
    read_sampling,
    unless,
)
from tidegate.protocols.openai_tools import read_parallel
from tidegate.protocols.responses.read_items import ItemReader
from tidegate.protocols.responses.read_tools import joined, read_choice, read_tools

_DEFAULTS: dict[str, Any] = {"truncation": "disabled", "background": False}
_READ_BEFORE = ("model", "stream", "stream_options", "background_options")
"""Members that `Asked` holds, or that only arrange how the client is served."""

_LOGPROBS = "message.output_text.logprobs"
_SEALED = "reasoning.encrypted_content"


def read_conversation(asked: Asked, open_carrier: OpenCarrier) -> Conversation | Failure:
    """The request; Failure: what cannot be meant, or has no counterpart in any other protocol."""
    refusals = Losses()
    members = read_members(asked, refusals)
    if isinstance(members, Failure):
        return members
    for name in _READ_BEFORE:
        members.take(name)
    others: list[Given[Any]] = []
    items = ItemReader(open_carrier, refusals)
    instructions, before = _read_instructions(members, items)
    turns = before + items.read(members.take("input"), "input")
    if not turns:
        refusals.refuse(malformed("input", "a string or an array with at least one message"))
    text = members.object("text") or Members({}, refusals, "text")
    conversation = Conversation(
        protocol=Protocol.RESPONSES,
        model=asked.model,
        stream=asked.stream,
        instructions=instructions,
        turns=turns,
        tools=joined(tuple(read_tools(members.take("tools"), "tools", refusals)), items.tools),
        choice=read_choice(members, refusals),
        parallel=read_parallel(members.flag("parallel_tool_calls")),
        sampling=_read_sampling(members, text, others),
        reasoning=_read_reasoning(members, refusals),
        structured=_read_format(text, refusals),
        end_user=read_end_user(members, others),
        metadata=_read_metadata(members),
        store=members.flag("store"),
        service_tier=unless(members.text("service_tier"), "auto"),
        others=(*others, *text.rest({}), *members.rest(_DEFAULTS)),
    )
    return conversation if refusals.failure is None else refusals.failure


def _read_instructions(members: Members, items: ItemReader) -> tuple[Given[str] | None, tuple[Turn, ...]]:
    """A string, or (as the answer echoes it) items that stand before the input."""
    told = members.take("instructions")
    if told is None or isinstance(told, str):
        return (Given(told, "instructions") if told else None), ()
    return None, items.read(told, "instructions")


def _read_sampling(members: Members, text: Members, others: list[Given[Any]]) -> Sampling:
    given = read_sampling(members, others)
    return Sampling(
        max_output_tokens=members.whole("max_output_tokens"),
        temperature=given.get("temperature"),
        top_p=given.get("top_p"),
        logprobs=_read_logprobs(members, others),
        verbosity=unless(text.text("verbosity"), "medium"),
    )


def _read_logprobs(members: Members, others: list[Given[Any]]) -> Given[int] | None:
    """`include` asks for log probabilities of text; the number of alternatives alone asks for nothing."""
    logprobs = None
    top = members.whole("top_logprobs")
    for number, wanted in enumerate(members.elements("include")):
        path = f"include[{number}]"
        if wanted == _LOGPROBS:
            logprobs = Given(0 if top is None else top.value, path)
        elif wanted != _SEALED:
            others.append(Given(wanted, path))
    if logprobs is None and top is not None and top.value:
        others.append(top)
    return logprobs


def _read_reasoning(members: Members, refusals: Losses) -> Reasoning:
    """`context` and `mode` only arrange what the upstream keeps, so they are passed over in silence."""
    reasoning = members.object("reasoning")
    if reasoning is None:
        return Reasoning()
    summary = reasoning.text("summary") or reasoning.text("generate_summary")
    return Reasoning(
        effort=read_effort(reasoning.text("effort"), refusals),
        summary=None if summary is None else summary.value,
    )


def _read_format(text: Members, refusals: Losses) -> Structured | None:
    return read_format(text.object("format"), None, "text.format", refusals)


def _read_metadata(members: Members) -> Given[Any] | None:
    metadata = members.take("metadata")
    return Given(metadata, "metadata") if metadata else None
