"""Reads a Chat request in the common form."""

from typing import Any

from tidegate.core.conversation import Conversation, Given, Reasoning, Sampling, Structured
from tidegate.core.failure import Failure
from tidegate.core.protocol import Protocol
from tidegate.protocols.base import Asked
from tidegate.protocols.chat.read_tools import (
    read_choice,
    read_function_call,
    read_functions,
    read_tools,
    read_web_search,
)
from tidegate.protocols.chat.read_turns import TurnReader
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

_DEFAULTS: dict[str, Any] = {"modalities": ["text"]}
_READ_BEFORE = ("model", "stream", "stream_options")
"""Members that `Asked` holds, or that only arrange the stream between gateway and client."""


def read_conversation(asked: Asked, open_carrier: OpenCarrier) -> Conversation | Failure:
    """The request; Failure: what cannot be meant, or has no counterpart in any other protocol."""
    refusals = Losses()
    members = read_members(asked, refusals)
    if isinstance(members, Failure):
        return members
    for name in _READ_BEFORE:
        members.take(name)
    others: list[Given[Any]] = []
    turns = TurnReader(open_carrier, refusals)
    tools = read_tools(members, refusals)
    functions = read_functions(members, refusals)
    if tools and functions:  # both forms together mean the newer one
        others.append(Given([each.name for each in functions], "functions"))
    choice, legacy_choice = read_choice(members, refusals), read_function_call(members, refusals)
    conversation = Conversation(
        protocol=Protocol.CHAT,
        model=asked.model,
        stream=asked.stream,
        turns=turns.read(members.elements("messages")),
        tools=tools or functions,
        choice=choice or legacy_choice,
        parallel=read_parallel(members.flag("parallel_tool_calls")),
        sampling=_read_sampling(members, others, refusals),
        reasoning=Reasoning(effort=read_effort(members.text("reasoning_effort"), refusals)),
        structured=_read_format(members, refusals),
        end_user=read_end_user(members, others),
        metadata=_read_metadata(members),
        store=members.flag("store"),
        service_tier=unless(members.text("service_tier"), "auto"),
        web_search=read_web_search(members),
        legacy_functions=bool(functions) and not tools,
        others=(*others, *turns.others, *members.rest(_DEFAULTS)),
    )
    return conversation if refusals.failure is None else refusals.failure


def _read_sampling(members: Members, others: list[Given[Any]], refusals: Losses) -> Sampling:
    given = read_sampling(members, others)
    return Sampling(
        max_output_tokens=_read_limit(members),
        temperature=given.get("temperature"),
        top_p=given.get("top_p"),
        stop=_read_stop(members, refusals),
        choices=unless(members.whole("n"), 1),
        presence_penalty=unless(members.number("presence_penalty"), 0),
        frequency_penalty=unless(members.number("frequency_penalty"), 0),
        seed=members.whole("seed"),
        logit_bias=_read_bias(members),
        logprobs=_read_logprobs(members, others),
        verbosity=unless(members.text("verbosity"), "medium"),
    )


def _read_limit(members: Members) -> Given[int] | None:
    """With both the smaller one holds (conversion.md §2)."""
    both = (members.whole("max_completion_tokens"), members.whole("max_tokens"))
    return min((limit for limit in both if limit is not None), key=lambda limit: limit.value, default=None)


def _read_stop(members: Members, refusals: Losses) -> Given[tuple[str, ...]] | None:
    stop = members.take("stop")
    strings = [stop] if isinstance(stop, str) else stop or []
    if not isinstance(strings, list) or not all(isinstance(string, str) for string in strings):
        refusals.refuse(malformed("stop", "a string or an array of strings"))
        return None
    told = tuple(string for string in strings if string)
    return Given(told, "stop") if told else None


def _read_bias(members: Members) -> Given[Any] | None:
    bias = members.take("logit_bias")
    return Given(bias, "logit_bias") if bias else None


def _read_logprobs(members: Members, others: list[Given[Any]]) -> Given[int] | None:
    """`top_logprobs` means nothing by itself, so alone it is something that nobody can carry."""
    wanted, top = members.flag("logprobs"), members.whole("top_logprobs")
    if wanted is not None and wanted.value:
        return Given(0 if top is None else top.value, "logprobs")
    if top is not None and top.value:
        others.append(top)
    return None


def _read_metadata(members: Members) -> Given[Any] | None:
    metadata = members.take("metadata")
    return Given(metadata, "metadata") if metadata else None


def _read_format(members: Members, refusals: Losses) -> Structured | None:
    form = members.object("response_format")
    inner = None if form is None else form.object("json_schema")
    return read_format(form, inner, "response_format", refusals)
