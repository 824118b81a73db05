"""Answers in the history of a chat upstream, with the reasoning that it wants back."""

from typing import Any

import pytest
from tests.unit.protocols.asking import asked, converted, opener, said, told

from tidegate.core.capability import ReplayReasoning
from tidegate.core.events import Opaque
from tidegate.core.protocol import Protocol
from tidegate.protocols.conversion import Written

CARRIERS = {
    "tgr1.c": Opaque(Protocol.CHAT, "thought here"),
    "tgr1.m": Opaque(Protocol.MESSAGES, [{"type": "thinking", "thinking": "x", "signature": "s"}]),
    "tgr1.r": Opaque(Protocol.RESPONSES, {"type": "reasoning"}),
}
USER = {"role": "user", "content": "hi"}
CALL = {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"}
OUTPUT = {"type": "function_call_output", "call_id": "c", "output": "ok"}
TEXT = {"role": "assistant", "content": "so"}


def thought(sealed: str | None = None, summary: str = "", **more: Any) -> dict[str, Any]:
    parts = [{"type": "summary_text", "text": summary}] if summary else []
    return {"type": "reasoning", "id": "rs", "summary": parts, "encrypted_content": sealed, **more}


def written(*items: dict[str, Any], replay: ReplayReasoning, group: str = "up") -> Written:
    found = converted(
        Protocol.RESPONSES,
        {"input": [USER, *items]},
        Protocol.CHAT,
        opener(CARRIERS, group),
        replay_reasoning=replay,
    )
    assert isinstance(found, Written), found
    return found


def reasoning(*items: dict[str, Any], replay: ReplayReasoning, group: str = "up") -> Any:
    messages = said(written(*items, replay=replay, group=group))["messages"]
    return next(
        (message.get("reasoning_content") for message in messages if message["role"] == "assistant"), None
    )


TOOLS, ALL, NEVER = ReplayReasoning.TOOL_TURNS, ReplayReasoning.ALL, ReplayReasoning.NEVER


@pytest.mark.parametrize(
    ("items", "replay", "text"),
    [
        ((thought("tgr1.c"), CALL, OUTPUT), TOOLS, "thought here"),
        ((thought("tgr1.c"), CALL, OUTPUT), ALL, "thought here"),
        ((thought("tgr1.c"), CALL, OUTPUT), NEVER, None),
        ((thought("tgr1.c"), TEXT), TOOLS, None),
        ((thought("tgr1.c"), TEXT), ALL, "thought here"),
        ((thought(summary="readable"), CALL, OUTPUT), TOOLS, "readable"),
        ((thought(content=[{"type": "reasoning_text", "text": "raw"}]), CALL, OUTPUT), TOOLS, "raw"),
        ((CALL, OUTPUT), TOOLS, ""),
        ((CALL, OUTPUT), ALL, ""),
        ((CALL, OUTPUT), NEVER, None),
        ((TEXT,), ALL, None),
        ((thought("tgr1.m", "x"), CALL, OUTPUT), TOOLS, None),
        ((thought("tgr1.r", "x"), CALL, OUTPUT), TOOLS, None),
        ((thought("tgr1.unknown", "x"), CALL, OUTPUT), TOOLS, ""),
        ((thought("enc", "x"), CALL, OUTPUT), TOOLS, ""),
        ((thought("tgr1.c"), thought(summary="more"), CALL, OUTPUT), TOOLS, "thought here\n\nmore"),
    ],
)
def test_reasoning_goes_back_where_it_is_wanted(
    items: tuple[dict[str, Any], ...], replay: ReplayReasoning, text: str | None
) -> None:
    assert reasoning(*items, replay=replay) == text


def test_reasoning_of_chat_upstreams_is_text_for_any_of_them() -> None:
    assert reasoning(thought("tgr1.c"), CALL, OUTPUT, replay=TOOLS, group="other") == "thought here"


def test_reasoning_that_is_dropped_is_told_in_the_row_only() -> None:
    losses = told(written(thought("tgr1.m"), CALL, OUTPUT, replay=TOOLS).losses)
    assert losses == ["(dropped:input[1])"]


def messages(*items: dict[str, Any]) -> list[dict[str, Any]]:
    sent: list[dict[str, Any]] = said(written(*items, replay=NEVER))["messages"]
    return sent[1:]


def test_texts_and_calls_of_one_answer_are_one_message_before_its_results() -> None:
    second = {**CALL, "call_id": "d"}
    found = messages(
        TEXT, CALL, {"role": "assistant", "content": "then"}, second, OUTPUT, {**OUTPUT, "call_id": "d"}
    )
    assert [message["role"] for message in found] == ["assistant", "tool", "tool"]
    assert found[0]["content"] == "so\n\nthen"
    assert [call["id"] for call in found[0]["tool_calls"]] == ["c", "d"]


def test_answers_without_calls_stay_apart() -> None:
    found = messages(TEXT, {"role": "assistant", "content": "then"})
    assert [message["content"] for message in found] == ["so", "then"]


def test_parts_of_one_answer_are_joined_as_they_are() -> None:
    parts = [{"type": "output_text", "text": "a"}, {"type": "output_text", "text": "b"}]
    assert messages({"role": "assistant", "content": parts}) == [{"role": "assistant", "content": "ab"}]


def test_a_refusal_is_told_as_one() -> None:
    part = {"type": "refusal", "refusal": "no"}
    assert messages({"role": "assistant", "content": [part]}) == [
        {"role": "assistant", "content": None, "refusal": "no"}
    ]


@pytest.mark.parametrize("item", [{"role": "assistant", "content": ""}, thought("enc")])
def test_what_says_nothing_is_left_out(item: dict[str, Any]) -> None:
    assert messages(item) == []


def test_what_hosted_tools_did_is_dropped() -> None:
    assert told(written({"type": "web_search_call", "id": "ws"}, TEXT, replay=NEVER).losses) == [
        "dropped:input[1]"
    ]


def test_a_picture_from_an_assistant_cannot_be_said() -> None:
    part = {"type": "input_image", "image_url": "https://h.test/a"}
    found = converted(
        Protocol.RESPONSES, {"input": [{"role": "assistant", "content": [part]}]}, Protocol.CHAT
    )
    assert not isinstance(found, Written)
    assert found.param == "input[0].content[0]"


def test_a_custom_call_is_dressed_like_its_tool() -> None:
    call = {"type": "custom_tool_call", "call_id": "c", "name": "patch", "input": "x"}
    [message] = messages(call)
    assert message["tool_calls"][0]["function"] == {"name": "patch", "arguments": '{"input":"x"}'}
    native = converted(Protocol.RESPONSES, {"input": [USER, call]}, Protocol.CHAT, custom_tools=True)
    assert isinstance(native, Written)
    assert said(native)["messages"][1]["tool_calls"] == [
        {"id": "c", "type": "custom", "custom": {"name": "patch", "input": "x"}}
    ]


def test_illegal_call_ids_are_replaced_in_call_and_result_alike() -> None:
    call, output = {**CALL, "call_id": "c:1"}, {**OUTPUT, "call_id": "c:1"}
    assistant, tool = messages(call, output)
    assert assistant["tool_calls"][0]["id"] == tool["tool_call_id"]
    asked(Protocol.CHAT, {"messages": [USER, assistant, tool]})
    assert tool["tool_call_id"] != "c:1"
