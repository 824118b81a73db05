"""An answer as Chat Completions chunks: what the recordings do not show."""

import json
from collections.abc import Mapping
from typing import Any

import pytest
from tests.unit.protocols.answers import openai_client
from tests.unit.protocols.encoding import (
    SEED,
    answer,
    call,
    context,
    encoder,
    payloads,
    refusal,
    text,
    thought,
    written,
)

from tidegate.core.events import (
    CallDelta,
    CallKind,
    Cited,
    Closed,
    Event,
    Finished,
    Opaque,
    ReasoningDelta,
    ReasoningForm,
    ReasoningOpened,
    Searched,
    Spoken,
    Started,
    Stop,
    TextDelta,
    TextOpened,
    UsageTold,
)
from tidegate.core.failure import Kind
from tidegate.core.protocol import Protocol
from tidegate.core.usage import Usage
from tidegate.protocols.chat.assemble import assemble
from tidegate.protocols.conversion import ToolName
from tidegate.protocols.failures import failed

CHAT, RESPONSES, MESSAGES = Protocol.CHAT, Protocol.RESPONSES, Protocol.MESSAGES
ENC = Opaque(RESPONSES, {"type": "reasoning", "encrypted_content": "x"})
NAMES = {"apply_patch": ToolName("apply_patch", CallKind.CUSTOM)}


def stream(
    events: list[Event], upstream: Protocol = RESPONSES, usage: Usage | None = None, **more: Any
) -> bytes:
    return written(encoder(CHAT, upstream, **more), events, usage)


def chunks(*blocks: list[Spoken], upstream: Protocol = RESPONSES, **more: Any) -> list[Any]:
    ending = {name: more.pop(name) for name in ("stop", "explanation", "stop_sequence") if name in more}
    return payloads(stream(answer(*blocks, **ending), upstream, **more))


def deltas(*blocks: list[Spoken], **more: Any) -> list[Any]:
    """The deltas between the role and the finish."""
    found = [
        each["choices"][0]["delta"]
        for each in chunks(*blocks, **more)
        if each != "[DONE]" and each["choices"]
    ]
    assert found[0] == {"role": "assistant", "content": ""}
    assert found[-1] == {}
    return found[1:-1]


def finish(*blocks: list[Spoken], **more: Any) -> str:
    [reason] = [
        reason
        for each in chunks(*blocks, **more)
        if each != "[DONE]"
        for choice in each["choices"]
        if (reason := choice["finish_reason"]) is not None
    ]
    return str(reason)


def whole(events: list[Event], upstream: Protocol = RESPONSES, **more: Any) -> Any:
    body = assemble(
        context(CHAT, upstream, stream=False).asked, stream(events, upstream, stream=False, **more)
    )
    assert isinstance(body, bytes), body
    return json.loads(body)


def test_one_id_one_time_and_the_clients_model_in_every_chunk() -> None:
    told = chunks(thought("a", opaque=ENC), text("b"), call("c", "f", "{}"))[:-1]
    heads = {(each["id"], each["object"], each["created"], each["model"]) for each in told}
    assert heads == {(f"chatcmpl-{SEED.id}", "chat.completion.chunk", SEED.now, "public")}


def test_an_answer_without_a_word_has_a_role_and_a_finish() -> None:
    assert deltas() == []
    assert deltas([TextOpened(), TextDelta(""), Closed()], [ReasoningOpened(), Closed()]) == []
    assert finish() == "stop"


def test_a_stream_opens_itself() -> None:
    writer = encoder(CHAT, RESPONSES)
    first = payloads(writer.encode(TextOpened()) + writer.encode(TextDelta("a")))
    assert [each["choices"][0]["delta"] for each in first] == [
        {"role": "assistant", "content": ""},
        {"content": "a"},
    ]


def test_usage_is_told_only_to_who_asked() -> None:
    events = [
        UsageTold(Usage(input=3)),
        *answer(text("a"))[:-1],
        UsageTold(Usage(output=2)),
        Finished(Stop.END),
    ]
    asked = payloads(stream(events))
    assert asked[-2]["choices"] == []
    assert (asked[-2]["usage"]["prompt_tokens"], asked[-2]["usage"]["completion_tokens"]) == (3, 2)
    assert asked[-1] == "[DONE]"
    assert payloads(stream(events, wants_usage=False))[-2]["choices"][0]["finish_reason"] == "stop"


def test_a_usage_that_is_given_stands_for_what_was_told() -> None:
    told = payloads(stream(answer(text("a")), usage=Usage(input=7, output=1)))
    assert told[-2]["usage"]["total_tokens"] == 8
    assert "usage" not in payloads(stream(answer(text("a"))))[-2]


@pytest.mark.parametrize(
    ("upstream", "between", "joined"),
    [
        (RESPONSES, [], "a\n\nb"),
        (MESSAGES, [], "ab"),
        (RESPONSES, thought("t"), "a\n\nb"),
        (MESSAGES, thought("t"), "a\n\nb"),
        (MESSAGES, [Searched("s")], "a\n\nb"),
        (MESSAGES, text(""), "ab"),
    ],
)
def test_a_gap_stands_where_texts_were_apart(upstream: Protocol, between: list[Spoken], joined: str) -> None:
    told = deltas(text("a"), between, text("", "b"), upstream=upstream)
    assert "".join(each.get("content", "") for each in told) == joined


def test_reasoning_is_one_string_with_gaps_between_items_and_parts() -> None:
    form = ReasoningForm.SUMMARY
    parts: list[Spoken] = [
        ReasoningOpened(),
        ReasoningDelta("a", form, 0),
        ReasoningDelta("b", form, 0),
        ReasoningDelta("c", form, 1),
        ReasoningDelta("raw too", ReasoningForm.RAW, 0),
        Closed(),
    ]
    told = deltas(parts, thought("d"))
    assert [each["reasoning_content"] for each in told] == ["a", "b", "\n\nc", "\n\nd"]


def test_each_item_that_is_wanted_back_has_an_entry_of_its_own() -> None:
    not_wanted = Opaque(RESPONSES, {"type": "reasoning", "summary": []})
    told = deltas(thought("a", opaque=ENC), thought(opaque=not_wanted), thought(opaque=ENC))
    entries = [each["reasoning_details"][0] for each in told if "reasoning_details" in each]
    assert [(entry["type"], entry["index"]) for entry in entries] == [
        ("reasoning.encrypted", 0),
        ("reasoning.encrypted", 1),
    ]
    assert all(entry["data"].startswith("tgr1.") for entry in entries)


def test_citations_are_told_once_before_the_finish_as_places_in_the_content() -> None:
    page = "https://example.org/"
    told = deltas(
        text("intro"),
        thought("t"),
        [TextOpened(), Cited(page, "early"), TextDelta("two words"), Cited(page, "there", 4, 9), Closed()],
        upstream=MESSAGES,
    )
    assert sum("annotations" in each for each in told) == 1
    assert told[-1] == {
        "annotations": [
            {
                "type": "url_citation",
                "url_citation": {"url": page, "title": title, "start_index": a, "end_index": b},
            }
            for title, a, b in (("early", 7, 16), ("there", 11, 16))
        ]
    }
    assert "intro\n\ntwo words"[7:16] == "two words"


def test_log_probabilities_go_with_their_text() -> None:
    entry = {"token": "a", "logprob": -0.1, "bytes": [97], "top_logprobs": []}
    said: list[Spoken] = [
        TextOpened(),
        TextDelta("a", (entry,)),
        TextDelta("", (entry,)),
        TextDelta("b"),
        Closed(),
    ]
    choices = [each["choices"][0] for each in chunks(said)[1:-2]]
    assert [choice.get("logprobs") for choice in choices] == [{"content": [entry], "refusal": None}] * 2 + [
        None
    ]


def test_a_refusal_is_a_member_of_its_own() -> None:
    told = deltas(text("Well"), refusal("I ", "can't"), stop=Stop.REFUSAL)
    assert told == [{"content": "Well"}, {"refusal": "I "}, {"refusal": "can't"}]


FINISHES: list[tuple[Mapping[str, Any], list[Spoken], str]] = [
    ({"stop": Stop.END}, [], "stop"),
    ({"stop": Stop.END}, call("c", "f"), "tool_calls"),
    ({"stop": Stop.TOOL_CALLS}, call("c", "f"), "tool_calls"),
    ({"stop": Stop.TOOL_CALLS}, [], "stop"),
    ({"stop": Stop.LENGTH}, call("c", "f"), "length"),
    ({"stop": Stop.CONTEXT}, [], "length"),
    ({"stop": Stop.STOP_SEQUENCE, "stop_sequence": "x"}, [], "stop"),
    ({"stop": Stop.REFUSAL}, refusal("no"), "stop"),
    ({"stop": Stop.REFUSAL}, [], "content_filter"),
    ({"stop": Stop.CONTENT_FILTER}, [], "content_filter"),
    ({"stop": Stop.PAUSE}, [], "stop"),
]


@pytest.mark.parametrize(("ending", "block", "reason"), FINISHES)
def test_every_end_has_its_finish_reason(ending: dict[str, Any], block: list[Spoken], reason: str) -> None:
    assert finish(block, **ending) == reason


def test_an_explanation_is_a_refusal_unless_there_is_one() -> None:
    assert deltas(stop=Stop.REFUSAL, explanation="policy") == [{"refusal": "policy"}]
    assert deltas(refusal("no"), stop=Stop.REFUSAL, explanation="no") == [{"refusal": "no"}]


def test_calls_are_numbered_and_named_once() -> None:
    told = deltas(call("a", "f", '{"x"', ":1}"), call("b", "g"), stop=Stop.TOOL_CALLS)
    opened = {"type": "function", "function": {"name": "g", "arguments": ""}}
    assert told[3:] == [
        {"tool_calls": [{"index": 1, "id": "b", **opened}]},
        {"tool_calls": [{"index": 1, "function": {"arguments": "{}"}}]},
    ]


@pytest.mark.parametrize("stop", [Stop.LENGTH, Stop.CONTENT_FILTER])
def test_a_cut_call_has_no_arguments_made_up(stop: Stop) -> None:
    assert len(deltas(call("a", "f"), stop=stop)) == 1
    assert len(deltas(call("a", "f", cut=True), stop=Stop.END)) == 1
    assert len(deltas(call("a", "f"), text("b"), stop=stop)) == 3


def test_a_custom_tool_is_a_function_in_a_stream() -> None:
    wrapped = '{"input":"ls"}'
    for block in (
        call("a", "apply_patch", '{"inp', 'ut":"ls"}'),
        call("a", "apply_patch", "l", "s", kind=CallKind.CUSTOM),
    ):
        told = deltas(block, names=NAMES)
        assert told[0]["tool_calls"][0]["type"] == "function"
        assert "".join(each["tool_calls"][0]["function"]["arguments"] for each in told) == wrapped


def test_a_custom_tool_is_itself_in_a_whole_answer() -> None:
    for block in (
        call("a", "apply_patch", '{"input":"ls"}'),
        call("a", "apply_patch", "ls", kind=CallKind.CUSTOM),
    ):
        [told] = whole(answer(block), names=NAMES)["choices"][0]["message"]["tool_calls"]
        assert told == {"id": "a", "type": "custom", "custom": {"name": "apply_patch", "input": "ls"}}


def test_a_whole_answer_of_calls_has_no_content_and_tells_its_usage() -> None:
    told = whole([*answer(call("a", "f"))[:-1], UsageTold(Usage(input=1, output=2)), Finished(Stop.END)])
    assert told["choices"][0]["message"]["content"] is None
    assert told["usage"]["total_tokens"] == 3


def test_old_functions_are_answered_in_the_old_form() -> None:
    functions = {"functions": [{"name": "f"}]}
    told = deltas(call("a", "f", '{"x":1}'), call("b", "g", "{}"), body=functions)
    assert told == [
        {"function_call": {"name": "f", "arguments": ""}},
        {"function_call": {"arguments": '{"x":1}'}},
    ]
    assert finish(call("a", "f"), body=functions) == "function_call"
    [custom] = deltas(call("a", "apply_patch", "ls", kind=CallKind.CUSTOM), body=functions)[1:]
    assert custom == {"function_call": {"arguments": '{"input":"ls"}'}}


def test_the_service_tier_is_passed_on() -> None:
    told = payloads(stream([Started("up", "priority"), *answer(text("a"))[1:]]))
    assert {each["service_tier"] for each in told[:-1]} == {"priority"}
    assert "service_tier" not in chunks(text("a"))[0]


def test_an_error_ends_the_stream_without_an_end_mark() -> None:
    writer = encoder(CHAT, MESSAGES)
    opened = written(writer, answer(text("a"))[:-2])
    last = writer.error_event(failed(Kind.INTERRUPTED))
    assert payloads(last) == [
        {
            "error": {
                "message": "upstream failed after the response had started",
                "type": "api_error",
                "code": "stream_interrupted",
            }
        }
    ]
    assert b"[DONE]" not in opened + last


def test_the_finish_reason_is_known_at_the_end() -> None:
    for stop, reason in ((Stop.END, "stop"), (Stop.LENGTH, "length")):
        writer = encoder(CHAT, MESSAGES)
        assert writer.finish_reason is None
        writer.finish(Finished(stop), None)
        assert writer.finish_reason == reason


def test_what_belongs_to_no_open_block_says_nothing() -> None:
    writer = encoder(CHAT, MESSAGES)
    written(writer, answer(text("a"), thought("b"))[:-1])
    assert writer.encode(TextDelta("late")) == b""
    assert writer.encode(ReasoningDelta("late")) == b""
    assert writer.encode(CallDelta("late")) == b""
    assert writer.encode(Closed()) == b""


def test_the_sdk_reads_every_text_as_it_was() -> None:
    odd = 'line\nbreak \u2028 "quotes" \\ 落叶 🍂 \x00'
    events = answer(thought(odd), text(odd), call("a", "f", json.dumps({"x": odd})))
    with openai_client(stream(events)).chat.completions.stream(model="m", messages=[]) as read:
        message = read.get_final_completion().choices[0].message
    assert message.content == odd
    assert message.model_extra is not None
    assert message.model_extra["reasoning_content"] == odd
    assert message.tool_calls
    assert json.loads(message.tool_calls[0].function.arguments) == {"x": odd}
