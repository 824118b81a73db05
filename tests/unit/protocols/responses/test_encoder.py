"""An answer as Responses events: what the recordings do not show."""

import json
from collections.abc import Mapping
from typing import Any

import pytest
from tests.unit.protocols.answers import openai_client
from tests.unit.protocols.encoding import (
    SEED,
    answer,
    call,
    encoder,
    payloads,
    refusal,
    text,
    thought,
    written,
)

from tidegate.core.events import (
    CallKind,
    CallOpened,
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
from tidegate.core.protocol import Protocol
from tidegate.core.usage import Usage
from tidegate.protocols.conversion import ToolName

RESPONSES, MESSAGES, CHAT = Protocol.RESPONSES, Protocol.MESSAGES, Protocol.CHAT
THOUGHT = Opaque(CHAT, "a")
SUMMARY = {"reasoning": {"summary": "auto"}}
NAMES = {
    "apply_patch": ToolName("apply_patch", CallKind.CUSTOM, "functions"),
    "files__list": ToolName("list", namespace="files"),
}


def stream(events: list[Event], upstream: Protocol = CHAT, usage: Usage | None = None, **more: Any) -> bytes:
    return written(encoder(RESPONSES, upstream, **more), events, usage)


def events(*blocks: list[Spoken], **more: Any) -> list[Any]:
    ending = {name: more.pop(name) for name in ("stop", "explanation", "stop_sequence") if name in more}
    return payloads(stream(answer(*blocks, **ending), **more))


def inner(*blocks: list[Spoken], **more: Any) -> list[tuple[str, Any]]:
    """The events of the items: the kind without its prefix, and what is told."""
    found = events(*blocks, **more)
    assert [each["type"] for each in found[:2]] == ["response.created", "response.in_progress"]
    return [(each["type"].removeprefix("response."), each) for each in found[2:-1]]


def kinds(*blocks: list[Spoken], **more: Any) -> list[str]:
    return [kind for kind, _ in inner(*blocks, **more)]


def final(*blocks: list[Spoken], **more: Any) -> Any:
    return events(*blocks, **more)[-1]["response"]


def output(*blocks: list[Spoken], **more: Any) -> list[Any]:
    items: list[Any] = final(*blocks, **more)["output"]
    return items


def test_one_id_one_time_and_the_clients_model_in_every_response() -> None:
    told = [each["response"] for each in events(text("a")) if "response" in each]
    assert len(told) == 3
    heads = {(each["id"], each["object"], each["created_at"], each["model"]) for each in told}
    assert heads == {(f"resp_{SEED.id}", "response", SEED.now, "public")}
    assert [each.get("completed_at") for each in told] == [None, None, SEED.now]


def test_an_answer_without_a_word_has_no_item() -> None:
    for blocks in ([], [text("")], [refusal("")], [thought("")], [[TextOpened(), Closed()]]):
        assert inner(*blocks) == []
        assert final(*blocks)["status"] == "completed"


def test_a_stream_opens_itself() -> None:
    writer = encoder(RESPONSES, CHAT)
    first = payloads(writer.encode(TextOpened()) + writer.encode(TextDelta("a")))
    assert [each["type"].removeprefix("response.") for each in first] == [
        "created",
        "in_progress",
        "output_item.added",
        "content_part.added",
        "output_text.delta",
    ]


def test_every_text_block_is_a_message_of_its_own() -> None:
    items = output(text("a"), text("b", "c"), upstream=MESSAGES)
    assert [item["content"][0]["text"] for item in items] == ["a", "bc"]
    assert len({item["id"] for item in items}) == 2


def test_the_end_of_an_item_waits_for_what_comes_next() -> None:
    writer = encoder(RESPONSES, MESSAGES)
    writer.encode(Started())
    written(writer, text("a")[:-1])
    assert writer.encode(Closed()) == b""
    assert writer.encode(UsageTold(Usage(output=1))) == b""
    closing = payloads(writer.encode(CallOpened("c", "f")))
    assert [each["type"].removeprefix("response.") for each in closing] == [
        "output_text.done",
        "content_part.done",
        "output_item.done",
        "output_item.added",
    ]


def test_only_the_item_that_a_limit_cut_is_incomplete() -> None:
    for stop in (Stop.LENGTH, Stop.CONTEXT, Stop.CONTENT_FILTER, Stop.REFUSAL):
        assert [item["status"] for item in output(text("a"), text("b"), stop=stop)] == [
            "completed",
            "incomplete",
        ]
    assert [item["status"] for item in output(text("a", cut=True), text("b"))] == ["incomplete", "completed"]


def test_a_cut_call_keeps_the_arguments_that_came() -> None:
    [item] = output(call("c", "f", '{"x":'), stop=Stop.LENGTH)
    assert (item["status"], item["arguments"]) == ("incomplete", '{"x":')
    [empty] = output(call("c", "f"), stop=Stop.LENGTH)
    assert (empty["status"], empty["arguments"]) == ("incomplete", "")
    [whole] = output(call("c", "f"), stop=Stop.TOOL_CALLS)
    assert (whole["status"], whole["arguments"]) == ("completed", "{}")


def test_raw_reasoning_is_one_part_with_gaps() -> None:
    block: list[Spoken] = [
        ReasoningOpened(),
        ReasoningDelta("a"),
        ReasoningDelta("b", part=1),
        Closed(THOUGHT),
    ]
    told = inner(block)
    assert [kind for kind, _ in told] == [
        "output_item.added",
        "content_part.added",
        "reasoning_text.delta",
        "reasoning_text.delta",
        "reasoning_text.done",
        "content_part.done",
        "output_item.done",
    ]
    item = told[-1][1]["item"]
    assert item["summary"] == []
    assert item["content"] == [{"type": "reasoning_text", "text": "a\n\nb"}]
    assert item["encrypted_content"].startswith("tgr1.")
    assert "encrypted_content" not in told[0][1]["item"]


def test_reasoning_is_a_summary_if_the_client_asked_for_one() -> None:
    block: list[Spoken] = [
        ReasoningOpened(),
        ReasoningDelta("a"),
        ReasoningDelta("b", part=1),
        ReasoningDelta("told twice", ReasoningForm.SUMMARY, part=0),
        Closed(THOUGHT),
    ]
    told = inner(block, body=SUMMARY)
    part = ["summary_part.added", "summary_text.delta", "summary_text.done", "summary_part.done"]
    assert [kind for kind, _ in told] == [
        "output_item.added",
        *(f"reasoning_{kind}" for kind in [*part, *part]),
        "output_item.done",
    ]
    assert [each["summary_index"] for _, each in told[1:-1]] == [0] * 4 + [1] * 4
    texts = [{"type": "summary_text", "text": "a"}, {"type": "summary_text", "text": "b"}]
    assert told[-1][1]["item"]["summary"] == texts
    assert "content" not in told[-1][1]["item"]


def test_reasoning_without_a_word_has_an_item_only_if_it_is_wanted_back() -> None:
    hidden = Opaque(MESSAGES, [{"type": "redacted_thinking", "data": "x"}])
    [item] = output(thought(opaque=hidden), upstream=MESSAGES)
    assert item["summary"] == []
    assert item["encrypted_content"].startswith("tgr1.")
    assert output(thought(opaque=Opaque(CHAT, ""))) == []
    assert output(thought()) == []


def test_a_refusal_is_a_part_of_its_own_message() -> None:
    items = output(text("Well"), refusal("I ", "can't"), stop=Stop.REFUSAL)
    assert [item["content"] for item in items] == [
        [{"type": "output_text", "text": "Well", "annotations": [], "logprobs": []}],
        [{"type": "refusal", "refusal": "I can't"}],
    ]
    assert final(refusal("no"), stop=Stop.REFUSAL)["status"] == "completed"


def test_an_explanation_is_a_refusal_unless_there_is_one() -> None:
    told = final(text("Well"), stop=Stop.REFUSAL, explanation="policy", upstream=MESSAGES)
    assert [item["status"] for item in told["output"]] == ["completed", "completed"]
    assert told["output"][1]["content"] == [{"type": "refusal", "refusal": "policy"}]
    assert told["incomplete_details"] == {"reason": "content_filter"}
    assert len(output(refusal("no"), stop=Stop.REFUSAL, explanation="no")) == 1


ENDS: list[tuple[Mapping[str, Any], list[Spoken], str, str | None]] = [
    ({"stop": Stop.END}, [], "completed", None),
    ({"stop": Stop.END}, call("c", "f"), "completed", None),
    ({"stop": Stop.TOOL_CALLS}, call("c", "f"), "completed", None),
    ({"stop": Stop.STOP_SEQUENCE, "stop_sequence": "x"}, [], "completed", None),
    ({"stop": Stop.PAUSE}, [], "completed", None),
    ({"stop": Stop.LENGTH}, [], "incomplete", "max_output_tokens"),
    ({"stop": Stop.CONTEXT}, [], "incomplete", "max_output_tokens"),
    ({"stop": Stop.CONTENT_FILTER}, [], "incomplete", "content_filter"),
    ({"stop": Stop.REFUSAL}, [], "incomplete", "content_filter"),
    ({"stop": Stop.REFUSAL}, refusal("no"), "completed", None),
]


@pytest.mark.parametrize(("ending", "block", "status", "reason"), ENDS)
def test_every_end_has_its_status(
    ending: dict[str, Any], block: list[Spoken], status: str, reason: str | None
) -> None:
    last = events(block, **ending)[-1]
    assert last["type"] == f"response.{status}"
    assert last["response"]["status"] == status
    assert last["response"]["incomplete_details"] == (None if reason is None else {"reason": reason})


def test_usage_is_told_at_the_end_with_the_searches() -> None:
    told: list[Event] = [UsageTold(Usage(input=3, cache_read=4, output=1)), *answer()[:-1]]
    told += [UsageTold(Usage(output=2, web_searches=2)), Finished(Stop.END)]
    response = payloads(stream(told))[-1]["response"]
    assert (response["usage"]["input_tokens"], response["usage"]["total_tokens"]) == (7, 9)
    assert response["tool_usage"]["web_search"] == {"num_requests": 2}
    given = payloads(stream(told, usage=Usage(input=9, output=8)))[-1]["response"]
    assert given["usage"]["total_tokens"] == 17
    assert "tool_usage" not in given
    assert final()["usage"] is None


def test_citations_are_told_before_the_text_is_done() -> None:
    page = "https://example.org/"
    block: list[Spoken] = [
        TextOpened(),
        Cited(page, "all"),
        TextDelta("two words"),
        Cited(page, "there", 4, 9),
        Closed(),
    ]
    told = inner(text("before"), block, upstream=MESSAGES)
    added = [each for kind, each in told if kind == "output_text.annotation.added"]
    assert [each["annotation_index"] for each in added] == [0, 1]
    annotations = [each["annotation"] for each in added]
    assert [(each["title"], each["start_index"], each["end_index"]) for each in annotations] == [
        ("all", 0, 9),
        ("there", 4, 9),
    ]
    assert told[-1][1]["item"]["content"][0]["annotations"] == annotations
    assert [kind for kind, _ in told][-5:-2] == ["output_text.annotation.added"] * 2 + ["output_text.done"]


def test_a_citation_outside_of_texts_says_nothing() -> None:
    assert kinds([Cited("https://example.org/", "t")]) == []
    assert "annotation" not in stream(answer(refusal("no")[:-1], [Cited("u", "t"), Closed()])).decode()


def test_log_probabilities_go_with_delta_and_done() -> None:
    entry = {"token": "a", "logprob": -0.1, "bytes": [97], "top_logprobs": []}
    block: list[Spoken] = [TextOpened(), TextDelta("a", (entry,)), TextDelta("b"), Closed()]
    told = [each["logprobs"] for kind, each in inner(block) if kind.startswith("output_text.")]
    assert told == [[entry], [], [entry]]
    assert output(block)[0]["content"][0]["logprobs"] == [entry]


def test_log_probabilities_without_text_wait_for_it() -> None:
    first, second = (
        {"token": token, "logprob": -1, "bytes": [raw], "top_logprobs": []}
        for token, raw in (("?", 195), ("!", 169))
    )
    block: list[Spoken] = [
        TextOpened(),
        TextDelta("", (first,)),
        TextDelta("é", (second,)),
        TextDelta("", (first,)),
        Closed(),
    ]
    told = [each["logprobs"] for kind, each in inner(block) if kind.startswith("output_text.")]
    assert told == [[first, second], [first, second, first]]
    assert output(block)[0]["content"][0]["logprobs"] == [first, second, first]


def test_a_search_is_an_item_between_the_others() -> None:
    told = inner(text("a"), [Searched("s", "weather")], text("b"), upstream=MESSAGES)
    assert [kind for kind, _ in told][5:11] == [
        "output_item.done",
        "output_item.added",
        "web_search_call.in_progress",
        "web_search_call.searching",
        "web_search_call.completed",
        "output_item.done",
    ]
    items = output(text("a"), [Searched("s", "weather")], [Searched("t")], upstream=MESSAGES)
    assert [item["type"] for item in items] == ["message", "web_search_call", "web_search_call"]
    assert items[1]["action"] == {"type": "search", "query": "weather"}
    assert items[1]["id"].startswith("ws_")


def test_a_custom_tool_comes_back_as_it_was_declared() -> None:
    told = inner(call("c", "apply_patch", '{"inp', 'ut":"ls"}'), names=NAMES)
    assert [kind for kind, _ in told] == [
        "output_item.added",
        "custom_tool_call_input.delta",
        "custom_tool_call_input.done",
        "output_item.done",
    ]
    item = told[-1][1]["item"]
    assert item["id"].startswith("ctc_")
    assert {name: item[name] for name in ("type", "call_id", "name", "namespace", "input")} == {
        "type": "custom_tool_call",
        "call_id": "c",
        "name": "apply_patch",
        "namespace": "functions",
        "input": "ls",
    }


def test_a_native_custom_tool_streams() -> None:
    block = call("c", "shell", "l", "s", kind=CallKind.CUSTOM)
    deltas = [each["delta"] for kind, each in inner(block) if kind == "custom_tool_call_input.delta"]
    assert deltas == ["l", "s"]


def test_a_namespace_is_told_apart_again() -> None:
    [item] = output(call("c", "files__list", "{}"), names=NAMES)
    assert (item["name"], item["namespace"]) == ("list", "files")


def test_the_service_tier_is_passed_on() -> None:
    told = payloads(stream([Started("up", "priority"), Finished(Stop.END)]))
    assert {each["response"]["service_tier"] for each in told} == {"priority"}
    assert "service_tier" not in final()


def test_what_belongs_to_no_open_block_says_nothing() -> None:
    writer = encoder(RESPONSES, CHAT)
    writer.encode(Started())
    assert writer.encode(TextDelta("a")) == b""
    written(writer, text("a"))
    assert writer.encode(TextDelta("late")) == b""
    assert writer.encode(ReasoningDelta("late")) == b""


def test_the_finish_reason_is_known_at_the_end() -> None:
    for stop, reason in ((Stop.END, "completed"), (Stop.LENGTH, "max_output_tokens")):
        writer = encoder(RESPONSES, CHAT)
        assert writer.finish_reason is None
        writer.finish(Finished(stop), None)
        assert writer.finish_reason == reason


def test_the_sdk_reads_every_text_as_it_was() -> None:
    odd = 'line\nbreak \u2028 "quotes" \\ 落叶 🍂 \x00'
    told = stream(answer(thought(odd), text(odd), call("a", "f", json.dumps({"x": odd}))))
    with openai_client(told).responses.stream(model="m", input="x") as read:
        response = read.get_final_response()
    assert response.output_text == odd
    reasoning, _, called = (item.to_dict() for item in response.output)
    assert reasoning["content"] == [{"type": "reasoning_text", "text": odd}]
    assert json.loads(str(called["arguments"])) == {"x": odd}
