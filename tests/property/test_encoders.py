"""Whatever an upstream says, a client reads a stream that its protocol allows, and reads all of it."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.property.event_sequences import NAMES, answers, broken_answers, reasoning_of, usages
from tests.property.stream_grammars import accumulated, check, check_failed
from tests.unit.protocols.encoding import context, encoder, written

from tidegate.core.events import CallOpened, Closed, Event, RefusalOpened, TextDelta, TextOpened
from tidegate.core.failure import Failure
from tidegate.core.protocol import Protocol
from tidegate.protocols.registry import dialect_of

CROSS = [(up, client) for up in Protocol for client in Protocol if up is not client]
pairs = pytest.mark.parametrize(("upstream", "client"), CROSS)
summaries = st.sampled_from([None, {"summary": "auto"}])


def wanted(client: Protocol, draw: Any) -> dict[str, Any]:
    return {"reasoning": draw(summaries)} if client is Protocol.RESPONSES else {}


def is_cut(events: list[Event]) -> bool:
    return any(isinstance(event, Closed) and event.cut for event in events)


@pairs
@settings(deadline=None)
@given(data=st.data())
def test_any_answer_is_a_stream_that_the_protocol_and_its_sdk_take(
    upstream: Protocol, client: Protocol, data: st.DataObject
) -> None:
    events = data.draw(answers(upstream))
    body = wanted(client, data.draw)
    writer = encoder(client, upstream, body=body, names=NAMES)
    stream = written(writer, events, data.draw(st.none() | usages))
    assert writer.finish_reason is not None
    check(client, stream)
    final = accumulated(client, stream)
    whole = dialect_of(client).assemble(context(client, upstream, body).asked, stream)
    if isinstance(whole, Failure):  # cut input is no JSON, which a Messages block could not tell
        assert client is Protocol.MESSAGES
        assert is_cut(events)
        return
    assert parts_of(client, json.loads(whole)) == parts_of(client, final)
    assert_complete(client, events, json.loads(whole))


@pairs
@settings(deadline=None)
@given(data=st.data())
def test_an_answer_that_breaks_off_ends_with_one_error(
    upstream: Protocol, client: Protocol, data: st.DataObject
) -> None:
    events = data.draw(broken_answers(upstream))
    writer = encoder(client, upstream, body=wanted(client, data.draw), names=NAMES)
    check_failed(client, written(writer, events))
    assert writer.finish_reason is None


@settings(deadline=None)
@given(data=st.data(), upstream=st.sampled_from([Protocol.RESPONSES, Protocol.MESSAGES]))
def test_an_answer_to_old_functions_is_taken_too(data: st.DataObject, upstream: Protocol) -> None:
    events = data.draw(answers(upstream))
    functions = {"functions": [{"name": "get_weather", "parameters": {"type": "object"}}]}
    stream = written(encoder(Protocol.CHAT, upstream, body=functions, names=NAMES), events)
    check(Protocol.CHAT, stream)
    message = accumulated(Protocol.CHAT, stream)["choices"][0]["message"]
    assert not message.get("tool_calls")
    assert bool(message.get("function_call")) is any(isinstance(event, CallOpened) for event in events)


def parts_of(client: Protocol, final: Any) -> Any:
    """What both an assembled answer and the SDK's own final object tell."""
    match client:
        case Protocol.CHAT:
            choice = final["choices"][0]
            message = choice["message"]
            calls = [
                (call["id"], call["function"]["name"], call["function"]["arguments"])
                for call in message.get("tool_calls") or []
            ]
            names = ("content", "refusal", "reasoning_content", "reasoning_details", "annotations")
            said = [message.get(name) for name in names if message.get(name)]
            return (final["id"], final["created"], choice["finish_reason"], said, calls)
        case Protocol.RESPONSES:
            return final
        case Protocol.MESSAGES:
            blocks = [{k: v for k, v in block.items() if v is not None} for block in final["content"]]
            return (final["id"], final["stop_reason"], final["stop_sequence"], blocks)


def assert_complete(client: Protocol, events: list[Event], whole: Any) -> None:
    """Every word and every call that the upstream said is there, once, in order."""
    text = spoken(events) if client is not Protocol.CHAT else "".join(strands(events))
    reasoning = "".join(reasoning_of(events))
    calls = [event.name for event in events if isinstance(event, CallOpened)]
    said, thought, called = content_of(client, whole)
    explained = getattr(events[-1], "explanation", None)
    if not explained:
        assert without_gaps(said) == without_gaps(text)
    assert without_gaps(thought) == without_gaps(reasoning)
    assert called == [NAMES[name].name if name in NAMES else name for name in calls]


def spoken(events: list[Event]) -> str:
    return "".join(event.text for event in events if isinstance(event, TextDelta))


def strands(events: list[Event]) -> tuple[str, str]:
    """Text and refusals apart, as a Chat message has them."""
    text: list[str] = []
    refused: list[str] = []
    where = text
    for event in events:
        if isinstance(event, TextOpened | RefusalOpened):
            where = refused if isinstance(event, RefusalOpened) else text
        elif isinstance(event, TextDelta):
            where.append(event.text)
    return "".join(text), "".join(refused)


def without_gaps(text: str) -> str:
    """Without line breaks, which stand between what was apart."""
    return text.replace("\n", "")


def content_of(client: Protocol, whole: Any) -> tuple[str, str, list[str]]:
    match client:
        case Protocol.CHAT:
            message = whole["choices"][0]["message"]
            said = in_order(message)
            names = [call["function"]["name"] for call in message.get("tool_calls") or []]
            return said, message.get("reasoning_content") or "", names
        case Protocol.RESPONSES:
            output = whole["output"]
            said = "".join(
                part.get("text", part.get("refusal"))
                for item in output
                if item["type"] == "message"
                for part in item["content"]
            )
            thought = "".join(
                part["text"]
                for item in output
                if item["type"] == "reasoning"
                for part in [*item["summary"], *item.get("content", [])]
            )
            return said, thought, [item["name"] for item in output if "call_id" in item]
        case Protocol.MESSAGES:
            blocks = whole["content"]
            said = "".join(block["text"] for block in blocks if block["type"] == "text")
            thought = "".join(block["thinking"] for block in blocks if block["type"] == "thinking")
            return said, thought, [block["name"] for block in blocks if block["type"] == "tool_use"]


def in_order(message: Any) -> str:
    return (message.get("content") or "") + (message.get("refusal") or "")
