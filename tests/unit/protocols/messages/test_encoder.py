"""An answer as Messages events: what the recordings do not show."""

import json
from collections.abc import Mapping
from typing import Any

import pytest
from tests.unit.protocols.answers import anthropic_client
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
    Stop,
    TextDelta,
    TextOpened,
    UsageTold,
)
from tidegate.core.failure import Failure, Kind
from tidegate.core.protocol import Protocol
from tidegate.core.usage import Usage
from tidegate.protocols.failures import failed
from tidegate.protocols.messages.assemble import assemble

MESSAGES, RESPONSES, CHAT = Protocol.MESSAGES, Protocol.RESPONSES, Protocol.CHAT
ENC = Opaque(RESPONSES, {"type": "reasoning", "encrypted_content": "x"})


def stream(events: list[Event], upstream: Protocol = CHAT, usage: Usage | None = None, **more: Any) -> bytes:
    return written(encoder(MESSAGES, upstream, **more), events, usage)


def events(*blocks: list[Spoken], **more: Any) -> list[Any]:
    ending = {
        name: more.pop(name) for name in ("stop", "explanation", "stop_sequence", "category") if name in more
    }
    return payloads(stream(answer(*blocks, **ending), **more))


def inner(*blocks: list[Spoken], **more: Any) -> list[Any]:
    """The events of the blocks."""
    found = events(*blocks, **more)
    assert found[0]["type"] == "message_start"
    assert [each["type"] for each in found[-2:]] == ["message_delta", "message_stop"]
    return found[1:-2]


def content(*blocks: list[Spoken], **more: Any) -> list[Any]:
    asked = context(MESSAGES, CHAT).asked
    body = assemble(asked, stream(answer(*blocks), **more))
    assert isinstance(body, bytes), body
    found: list[Any] = json.loads(body)["content"]
    return found


def ending(*blocks: list[Spoken], **more: Any) -> Any:
    return events(*blocks, **more)[-2]


def test_the_start_tells_id_model_and_the_estimated_input() -> None:
    [start, *_] = events(input_estimate=12)
    assert start["message"] == {
        "id": f"msg_{SEED.id}",
        "type": "message",
        "role": "assistant",
        "model": "public",
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": {"input_tokens": 12, "output_tokens": 0},
    }
    assert events()[0]["message"]["usage"] == {"input_tokens": 0, "output_tokens": 0}


def test_an_answer_without_a_word_has_no_block() -> None:
    assert inner() == []
    assert inner(text(""), thought(""), refusal("")) == []
    assert ending()["delta"] == {"stop_reason": "end_turn", "stop_sequence": None}


def test_a_stream_opens_itself() -> None:
    writer = encoder(MESSAGES, CHAT)
    first = payloads(writer.encode(TextOpened()) + writer.encode(TextDelta("a")))
    assert [each["type"] for each in first] == ["message_start", "content_block_start", "content_block_delta"]


def test_usage_at_the_end_overrides_the_estimate() -> None:
    told: list[Event] = [UsageTold(Usage(input=3, cache_read=4)), *answer(text("a"))[:-1]]
    told += [UsageTold(Usage(output=2, reasoning=1, web_searches=2)), Finished(Stop.END)]
    end = payloads(stream(told, input_estimate=100))[-2]
    assert end["usage"] == {
        "input_tokens": 3,
        "cache_read_input_tokens": 4,
        "output_tokens": 2,
        "output_tokens_details": {"thinking_tokens": 1},
        "server_tool_use": {"web_search_requests": 2, "web_fetch_requests": 0},
    }
    given = payloads(stream(told, usage=Usage(input=9, output=8)))[-2]
    assert given["usage"] == {"input_tokens": 9, "output_tokens": 8}


def test_without_any_count_the_estimate_stands() -> None:
    assert ending(input_estimate=12)["usage"] == {"input_tokens": 12, "output_tokens": 0}


def test_an_estimated_input_stands_until_the_input_is_told() -> None:
    told = stream(answer(), usage=Usage(output=5), input_estimate=12)
    assert payloads(told)[-2]["usage"] == {"input_tokens": 12, "output_tokens": 5}


def test_blocks_are_numbered_without_gaps() -> None:
    told = inner(thought("t"), text(""), text("a"), call("c", "f"), [Searched("s")], text("b"))
    starts = [(each["index"], each["content_block"]["type"]) for each in told if "content_block" in each]
    assert starts == [(0, "thinking"), (1, "text"), (2, "tool_use"), (3, "text")]
    assert [each["index"] for each in told if each["type"] == "content_block_stop"] == [0, 1, 2, 3]


def test_thinking_is_signed_once_before_its_end() -> None:
    told = inner(thought("a", "b", opaque=Opaque(CHAT, "ab")))
    assert [each.get("delta", {}).get("type") for each in told] == [
        None,
        "thinking_delta",
        "thinking_delta",
        "signature_delta",
        None,
    ]


def test_thinking_without_a_word_is_told_of_only_if_it_is_wanted_back() -> None:
    [block] = content(thought(opaque=ENC))
    assert block["thinking"] == ""
    assert block["signature"].startswith("tgr1.")
    assert content(thought(opaque=Opaque(RESPONSES, {"type": "reasoning", "summary": []}))) == []
    assert content(thought()) == []


def test_parts_of_one_item_are_one_text_in_the_form_it_began_in() -> None:
    form = ReasoningForm.SUMMARY
    block: list[Spoken] = [
        ReasoningOpened(),
        ReasoningDelta("a", form, 0),
        ReasoningDelta("b", form, 1),
        ReasoningDelta("raw", ReasoningForm.RAW, 0),
        Closed(),
    ]
    [first, second] = content(block, thought("c"))
    assert (first["thinking"], second["thinking"]) == ("a\n\nb", "c")


def test_a_refusal_stays_readable_and_explains_the_stop() -> None:
    told = events(refusal("I ", "can't"), stop=Stop.REFUSAL)
    assert told[1]["content_block"] == {"type": "text", "text": ""}
    assert told[-2]["delta"] == {
        "stop_reason": "refusal",
        "stop_sequence": None,
        "stop_details": {"type": "refusal", "category": None, "explanation": "I can't"},
    }
    details = ending(refusal("no"), stop=Stop.REFUSAL, explanation="policy", category="bio")["delta"][
        "stop_details"
    ]
    assert details == {"type": "refusal", "category": "bio", "explanation": "policy"}


def test_citations_are_left_out() -> None:
    cited: list[Spoken] = [TextOpened(), Cited("https://example.org/", "t"), TextDelta("a"), Closed()]
    assert content(cited) == [{"type": "text", "text": "a"}]


def test_a_call_without_arguments_has_no_fragment() -> None:
    for block in (call("c", "f"), call("c", "f", "")):
        assert [each["type"] for each in inner(block)] == ["content_block_start", "content_block_stop"]
    assert content(call("c", "f")) == [{"type": "tool_use", "id": "c", "name": "f", "input": {}}]


def test_free_text_is_wrapped() -> None:
    [block] = content(call("c", "f", "l", "s", kind=CallKind.CUSTOM))
    assert block["input"] == {"input": "ls"}


def test_cut_input_is_passed_on_as_it_is() -> None:
    told = stream(answer(call("c", "f", '{"cmd":"ls', cut=True), stop=Stop.LENGTH))
    values = payloads(told)
    assert values[2]["delta"] == {"type": "input_json_delta", "partial_json": '{"cmd":"ls'}
    assert values[-2]["delta"]["stop_reason"] == "max_tokens"
    assert isinstance(assemble(context(MESSAGES, CHAT).asked, told), Failure)
    with anthropic_client(told).messages.stream(model="m", max_tokens=1, messages=[]) as read:
        assert read.get_final_message().stop_reason == "max_tokens"


ENDS: list[tuple[Mapping[str, Any], list[Spoken], str]] = [
    ({"stop": Stop.END}, [], "end_turn"),
    ({"stop": Stop.END}, call("c", "f"), "tool_use"),
    ({"stop": Stop.TOOL_CALLS}, call("c", "f"), "tool_use"),
    ({"stop": Stop.TOOL_CALLS}, [], "end_turn"),
    ({"stop": Stop.LENGTH}, call("c", "f"), "max_tokens"),
    ({"stop": Stop.CONTEXT}, [], "model_context_window_exceeded"),
    ({"stop": Stop.REFUSAL}, refusal("no"), "refusal"),
    ({"stop": Stop.END}, refusal("no"), "refusal"),
    ({"stop": Stop.CONTENT_FILTER}, [], "refusal"),
    ({"stop": Stop.PAUSE}, [], "pause_turn"),
]


@pytest.mark.parametrize(("stop", "block", "reason"), ENDS)
def test_every_end_has_its_stop_reason(stop: dict[str, Any], block: list[Spoken], reason: str) -> None:
    told = ending(block, **stop)["delta"]
    assert told["stop_reason"] == reason
    assert told["stop_sequence"] is None


def test_the_stop_sequence_is_told() -> None:
    told = ending(text("a"), stop=Stop.STOP_SEQUENCE, stop_sequence="</b>")["delta"]
    assert told == {"stop_reason": "stop_sequence", "stop_sequence": "</b>"}


def test_an_error_ends_the_stream_without_an_end_mark() -> None:
    writer = encoder(MESSAGES, CHAT)
    opened = written(writer, answer(text("a"))[:-2])
    last = writer.error_event(failed(Kind.OVERLOADED))
    assert last == (
        b'event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}\n\n'
    )
    assert b"message_stop" not in opened + last
    assert b"content_block_stop" not in opened


def test_the_finish_reason_is_known_at_the_end() -> None:
    for stop, reason in ((Stop.END, "end_turn"), (Stop.LENGTH, "max_tokens")):
        writer = encoder(MESSAGES, CHAT)
        assert writer.finish_reason is None
        writer.finish(Finished(stop), None)
        assert writer.finish_reason == reason


def test_what_belongs_to_no_open_block_says_nothing() -> None:
    writer = encoder(MESSAGES, CHAT)
    written(writer, answer(text("a"), thought("b"))[:-1])
    assert writer.encode(TextDelta("late")) == b""
    assert writer.encode(ReasoningDelta("late")) == b""
    assert writer.encode(CallDelta("late")) == b""
    assert writer.encode(Closed()) == b""


def test_the_sdk_reads_every_text_as_it_was() -> None:
    odd = 'line\nbreak \u2028 "quotes" \\ 落叶 🍂 \x00'
    told = stream(answer(thought(odd), text(odd), call("a", "f", json.dumps({"x": odd}))))
    with anthropic_client(told).messages.stream(model="m", max_tokens=1, messages=[]) as read:
        message = read.get_final_message()
    assert [block.to_dict() for block in message.content] == [
        {"type": "thinking", "thinking": odd, "signature": ""},
        {"type": "text", "text": odd},
        {"type": "tool_use", "id": "a", "name": "f", "input": {"x": odd}},
    ]
