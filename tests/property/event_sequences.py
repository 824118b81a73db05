"""Answers as canonical events: every sequence that the grammar of `core.events` allows."""

import json
from typing import Any

from hypothesis import strategies as st

from tidegate.core.events import (
    CallDelta,
    CallKind,
    CallOpened,
    Cited,
    Closed,
    Event,
    Failed,
    Finished,
    Opaque,
    ReasoningDelta,
    ReasoningForm,
    ReasoningOpened,
    RefusalOpened,
    Searched,
    Spoken,
    Started,
    Stop,
    TextDelta,
    TextOpened,
    UsageTold,
)
from tidegate.core.failure import Failure, Kind
from tidegate.core.protocol import Protocol
from tidegate.core.usage import Usage
from tidegate.protocols.conversion import ToolName

CUSTOM, NAMESPACED, RENAMED = "up_custom", "up_ns__list", "up_short"
NAMES = {
    CUSTOM: ToolName("apply_patch", CallKind.CUSTOM),
    NAMESPACED: ToolName("list", namespace="files"),
    RENAMED: ToolName("a" * 100),
}
"""Tools that were renamed on the way up, for `AnswerContext.names`."""

words = st.text(max_size=6)
counts = st.none() | st.integers(0, 10**7)
usages = st.builds(
    Usage,
    input=counts,
    cache_read=counts,
    cache_write=counts,
    output=counts,
    reasoning=counts,
    web_searches=st.none() | st.integers(0, 5),
)
usage_told = st.builds(UsageTold, usages)
values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(-1e9, 1e9) | words,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=3),
    max_leaves=5,
)
objects = st.dictionaries(words, values, max_size=3)
logprobs = st.builds(
    lambda token, logprob, raw: {"token": token, "logprob": logprob, **raw},
    words,
    st.floats(-20, 0),
    st.sampled_from(
        [
            {},
            {"bytes": None},
            {"bytes": [104], "top_logprobs": [{"token": "h", "logprob": -1.0}]},
            {"top_logprobs": None},
        ]
    ),
)
text_deltas = st.builds(TextDelta, words, st.just(()) | st.lists(logprobs, max_size=2).map(tuple))
places = st.none() | st.integers(0, 20)
citations = st.builds(Cited, st.just("https://example.org/"), words, places, places)
searches = st.builds(Searched, words, st.none() | words)


@st.composite
def pieces(draw: st.DrawFn, whole: str) -> list[str]:
    """A text in pieces, some of them empty."""
    cuts = sorted(draw(st.lists(st.integers(0, len(whole)), max_size=4)))
    return [whole[start:end] for start, end in zip([0, *cuts], [*cuts, len(whole)], strict=True)]


def opaques(upstream: Protocol) -> st.SearchStrategy[Opaque]:
    """Reasoning as only that upstream can read it."""
    match upstream:
        case Protocol.CHAT:
            return st.builds(Opaque, st.just(upstream), words)
        case Protocol.RESPONSES:
            sealed = st.fixed_dictionaries(
                {"type": st.just("reasoning"), "id": words, "summary": st.just([])},
                optional={"encrypted_content": words},
            )
            return st.builds(Opaque, st.just(upstream), sealed)
        case Protocol.MESSAGES:
            block = st.fixed_dictionaries({"type": st.just("redacted_thinking"), "data": words})
            return st.builds(Opaque, st.just(upstream), st.lists(block, min_size=1, max_size=2))


@st.composite
def texts(draw: st.DrawFn) -> list[Spoken]:
    said = draw(st.lists(text_deltas | citations, max_size=4))
    return [TextOpened(), *said, Closed()]


@st.composite
def refusals(draw: st.DrawFn) -> list[Spoken]:
    return [RefusalOpened(), *draw(st.lists(text_deltas, max_size=3)), Closed()]


@st.composite
def thoughts(draw: st.DrawFn, upstream: Protocol) -> list[Spoken]:
    """One form or both, parts in order."""
    forms = draw(st.lists(st.sampled_from(ReasoningForm), max_size=4))
    parts = sorted(draw(st.integers(0, 2)) for _ in forms)
    deltas = [ReasoningDelta(draw(words), form, part) for form, part in zip(forms, parts, strict=True)]
    return [ReasoningOpened(), *deltas, Closed(draw(st.none() | opaques(upstream)))]


@st.composite
def calls(draw: st.DrawFn) -> list[Spoken]:
    """A function's arguments are an object or nothing, a custom tool's input any text."""
    kind = draw(st.sampled_from(CallKind))
    name = draw(st.sampled_from(["get_weather", CUSTOM, NAMESPACED, RENAMED]))
    spacing = draw(st.sampled_from([None, 1]))
    arguments = json.dumps(
        draw(objects | st.just({"input": "ls"})), indent=spacing, ensure_ascii=draw(st.booleans())
    )
    whole = draw(words) if kind is CallKind.CUSTOM else draw(st.just(arguments) | st.just(""))
    identifier = draw(st.sampled_from(["call_1", "toolu_2", "", "call with spaces", "x" * 80]) | words)
    opened = CallOpened(identifier, name, kind)
    return [opened, *map(CallDelta, draw(pieces(whole))), Closed()]


def blocks(upstream: Protocol) -> st.SearchStrategy[list[Spoken]]:
    """One block, or a search between two."""
    return texts() | refusals() | thoughts(upstream) | calls() | searches.map(lambda one: [one])


@st.composite
def finishes(draw: st.DrawFn) -> Finished:
    stop = draw(st.sampled_from(Stop))
    sequence = draw(words) if stop is Stop.STOP_SEQUENCE else None
    refused = stop in (Stop.REFUSAL, Stop.CONTENT_FILTER)
    explanation = draw(st.none() | words) if refused else None
    return Finished(stop, sequence, explanation, draw(st.sampled_from([None, "bio"])) if refused else None)


def _mixed(draw: st.DrawFn, events: list[Spoken]) -> list[Spoken]:
    """Usage is told anywhere."""
    for told in draw(st.lists(usage_told, max_size=2)):
        events.insert(draw(st.integers(1, len(events))), told)
    return events


@st.composite
def answers(draw: st.DrawFn, upstream: Protocol) -> list[Event]:
    """A whole answer. One that a limit ended may be cut in its last block."""
    said = draw(st.lists(blocks(upstream), max_size=5))
    finished = draw(finishes())
    if said and finished.stop is Stop.LENGTH and draw(st.booleans()):
        said[-1] = _cut(draw, said[-1])
    tier = draw(st.sampled_from([None, "default", "priority"]))
    spoken: list[Spoken] = [Started("up", tier), *(event for block in said for event in block)]
    return [*_mixed(draw, spoken), finished]


def _cut(draw: st.DrawFn, block: list[Spoken]) -> list[Spoken]:
    if len(block) < 2:
        return block
    end = draw(st.integers(1, len(block) - 1))
    return [*block[:end], Closed(cut=True)]


@st.composite
def broken_answers(draw: st.DrawFn, upstream: Protocol) -> list[Event]:
    """An answer that breaks off anywhere."""
    spoken = draw(answers(upstream))[:-1]
    kind = draw(st.sampled_from(Kind))
    failure = Failure(kind=kind, message=draw(words), origin=draw(st.none() | st.just(upstream)))
    return [*spoken[: draw(st.integers(0, len(spoken)))], Failed(failure)]


def reasoning_of(events: list[Any]) -> list[str]:
    """The words of each reasoning block, in the form that it began in, parts and all."""
    found: list[str] = []
    form: ReasoningForm | None = None
    for event in events:
        if isinstance(event, ReasoningOpened):
            form = None
            found.append("")
        elif isinstance(event, ReasoningDelta) and event.text:
            form = form or event.form
            found[-1] += event.text if event.form is form else ""
    return found
