"""Turns for a messages channel: system text, merging, order of results, thinking, a given beginning."""

from typing import Any

import pytest
from tests.unit.protocols.messages.conversing import (
    CALLED,
    SEAL,
    SEAL_ELSEWHERE,
    C,
    R,
    assistant,
    chat,
    converted,
    refused,
    responses,
    tool,
    user,
)

from tidegate.core.capability import Thinking
from tidegate.core.events import Opaque
from tidegate.core.protocol import Protocol

THINKING = {"type": "thinking", "thinking": "hm", "signature": "sig"}
REDACTED = {"type": "redacted_thinking", "data": "ENC"}
CARRIED = Opaque(Protocol.MESSAGES, [THINKING, REDACTED])


def system(content: Any, role: str = "system") -> dict[str, Any]:
    return {"role": role, "content": content}


def use(id_: str, name: str = "f", **arguments: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": id_, "name": name, "input": arguments}


def answered(id_: str, content: Any = "ok") -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": id_, "content": content}


def text(said: str) -> dict[str, Any]:
    return {"type": "text", "text": said}


def turns(*messages: dict[str, Any], **abilities: Any) -> list[Any]:
    body, _ = converted(C, chat(*messages), **abilities)
    return [(message["role"], message["content"]) for message in body["messages"]]


def test_leading_system_and_developer_messages_become_one_block_each() -> None:
    body, lost = converted(C, chat(system("A"), system("B", "developer"), user()))
    assert body["system"] == [text("A"), text("B")]
    assert body["messages"] == [user()]
    assert not lost


def test_instructions_come_before_the_leading_items() -> None:
    body, _ = converted(R, responses(system("B", "developer"), user(), instructions="A"))
    assert body["system"] == [text("A"), text("B")]


def test_a_later_system_message_stays_where_the_model_knows_it() -> None:
    body, lost = converted(
        C, chat(user(), system("S"), system("T"), assistant("ok"), user()), mid_system=True
    )
    assert body["messages"][1] == {"role": "system", "content": [text("S"), text("T")]}
    assert not lost


def test_a_later_system_message_is_told_by_the_user_elsewhere() -> None:
    body, lost = converted(C, chat(user(), system("S"), assistant("ok"), user()))
    assert body["messages"][0] == user([text("hi"), text("System: S")])
    assert lost == ["approximated:messages[1]"]


def test_a_system_message_never_parts_results_from_their_calls() -> None:
    messages = chat(
        user(), assistant(tool_calls=CALLED), tool("a", "A"), system("S"), tool("b", "B"), user("go")
    )
    body, lost = converted(C, messages, mid_system=True)
    assert [(message["role"], message["content"]) for message in body["messages"][2:]] == [
        ("user", [answered("a", "A"), answered("b", "B")]),
        ("system", "S"),
        ("user", "go"),
    ]
    assert not lost


def test_a_system_message_after_the_model_cannot_stand_there_in_any_channel() -> None:
    body, lost = converted(C, chat(user(), assistant("ok"), system("S"), user("go")), mid_system=True)
    assert body["messages"][2] == user([text("System: S"), text("go")])
    assert lost == ["approximated:messages[2]"]


def test_nothing_but_system_text_is_asked_by_its_last_message() -> None:
    body, lost = converted(C, chat(system("A"), system("B")))
    assert (body["system"], body["messages"]) == ([text("A")], [user("B")])
    assert lost == ["approximated:messages[1]"]


def test_a_picture_in_a_system_message_is_refused() -> None:
    picture = {"type": "image_url", "image_url": {"url": "https://x/p.png"}}
    assert refused(C, chat(system([picture]), user())) == "messages[0].content[0]"


def test_several_results_are_one_message_in_the_order_of_their_calls_and_before_the_text() -> None:
    found = turns(user(), assistant(tool_calls=CALLED), user("and"), tool("b"), tool("a"), user("go"))
    assert found[2] == ("user", [answered("a"), answered("b"), text("and"), text("go")])


def test_results_of_no_known_call_stay_behind_the_others() -> None:
    found = turns(user(), assistant(tool_calls=CALLED), tool("z"), tool("b"), tool("a"))
    assert [block["tool_use_id"] for block in found[2][1]] == ["a", "b", "z"]


def test_of_two_results_of_one_call_the_first_counts() -> None:
    messages = (user(), assistant(tool_calls=CALLED[:1]), tool("a", "1"), tool("a", "2"))
    body, lost = converted(C, chat(*messages))
    assert body["messages"][2] == user([answered("a", "1")])
    assert lost == ["dropped:messages[3]"]


def test_a_call_id_may_come_again_in_a_later_turn() -> None:
    once = (assistant(tool_calls=CALLED[:1]), tool("a"))
    assert len(turns(user(), *once, *once)) == 5


def test_neighbours_of_one_role_are_merged() -> None:
    assert turns(user("a"), user("b"), assistant("x"), assistant("y"), user("c")) == [
        ("user", [text("a"), text("b")]),
        ("assistant", [text("x"), text("y")]),
        ("user", "c"),
    ]


def test_an_empty_message_of_the_model_is_left_out_and_its_neighbours_merge() -> None:
    assert turns(user("a"), assistant(""), user("b")) == [("user", [text("a"), text("b")])]


def test_empty_and_blank_texts_are_left_out() -> None:
    blank = [{"type": "text", "text": ""}, {"type": "text", "text": " \n"}, {"type": "text", "text": "x"}]
    assert turns(user(blank), assistant("", tool_calls=CALLED[:1]), tool("a", "")) == [
        ("user", "x"),
        ("assistant", [use("a")]),
        ("user", [answered("a", "")]),
    ]


def test_a_conversation_that_says_nothing_is_refused() -> None:
    assert refused(C, chat(user(""))) == "messages[0]"


def test_a_refusal_of_the_model_is_text() -> None:
    assert turns(user(), assistant("no", refusal="I cannot"), user())[1] == (
        "assistant",
        [text("no"), text("I cannot")],
    )


def test_a_given_beginning_loses_its_trailing_space() -> None:
    assert turns(user(), assistant("Once upon \n"))[1] == ("assistant", "Once upon")
    parts = [{"type": "text", "text": "a"}, {"type": "text", "text": "b "}]
    assert turns(user(), assistant(parts))[1] == ("assistant", [text("a"), text("b")])


def test_a_given_beginning_is_refused_where_the_model_cannot_go_on_from_it() -> None:
    assert refused(C, chat(user(), assistant("Once")), prefill=False) == "messages[1]"
    assert refused(R, responses(user(), assistant("Once")), prefill=False) == "input[1]"


def test_reasoning_of_this_group_comes_back_before_the_turns_other_blocks() -> None:
    items = (
        user(),
        {"type": "reasoning", "id": "rs", "summary": [], "encrypted_content": SEAL(CARRIED)},
        {"type": "function_call", "call_id": "a", "name": "f", "arguments": '{"x":1}'},
        {"type": "function_call_output", "call_id": "a", "output": "ok"},
    )
    body, lost = converted(R, responses(*items))
    assert body["messages"][1]["content"] == [THINKING, REDACTED, use("a", x=1)]
    assert not lost


def test_reasoning_in_a_chat_message_comes_before_its_text() -> None:
    details = [{"type": "reasoning.encrypted", "index": 0, "data": SEAL(CARRIED)}]
    said = assistant("t", reasoning_content="hm", reasoning_details=details, tool_calls=CALLED[:1])
    assert turns(user(), said, tool("a"))[1] == ("assistant", [THINKING, REDACTED, text("t"), use("a")])


@pytest.mark.parametrize(
    "sealed",
    [
        SEAL_ELSEWHERE(CARRIED),
        SEAL(Opaque(Protocol.CHAT, "hm")),
        SEAL(Opaque(Protocol.RESPONSES, {"type": "reasoning", "id": "rs"})),
        "tgr1.forged",
        "gAAAA-native",
    ],
)
def test_reasoning_of_others_is_dropped_and_told_in_the_row_only(sealed: str) -> None:
    reasoning = {"type": "reasoning", "id": "rs", "summary": [], "encrypted_content": sealed}
    body, lost = converted(R, responses(user(), reasoning, assistant("ok"), user()))
    assert body["messages"][1] == assistant("ok")
    assert lost == ["(dropped:input[1])"]


def test_readable_reasoning_alone_is_dropped_silently() -> None:
    body, lost = converted(C, chat(user(), assistant("ok", reasoning_content="hm"), user()))
    assert body["messages"][1] == assistant("ok")
    assert lost == ["(dropped:messages[1].reasoning_content)"]


@pytest.mark.parametrize(
    ("members", "kept"),
    [
        ({"thinking_blocks": [THINKING, REDACTED]}, [THINKING, REDACTED]),
        ({"reasoning_details": [{"type": "reasoning.text", "text": "hm", "signature": "sig"}]}, [THINKING]),
        ({"reasoning_details": [{"type": "reasoning.text", "text": "hm"}]}, []),
        ({"reasoning_details": [{"type": "reasoning.encrypted", "data": "x"}, 7, {"type": []}]}, []),
        ({"thinking_blocks": [{"type": "thinking", "thinking": 1, "signature": "s"}, {"type": "text"}]}, []),
    ],
)
def test_forms_of_other_gateways_come_back_where_they_are_signed(
    members: dict[str, Any], kept: list[Any]
) -> None:
    content = turns(user(), assistant("ok", **members), user())[1][1]
    assert content == ([*kept, text("ok")] if kept else "ok")


@pytest.mark.parametrize("signed", [True, False])
def test_manual_thinking_is_off_where_calls_go_on_without_their_thinking(signed: bool) -> None:
    details = [{"type": "reasoning.encrypted", "index": 0, "data": SEAL(CARRIED)}]
    said = assistant(tool_calls=CALLED[:1], **({"reasoning_details": details} if signed else {}))
    body, lost = converted(C, chat(user(), said, tool("a"), reasoning_effort="low"), thinking=Thinking.BUDGET)
    enabled = {"type": "enabled", "budget_tokens": 2048}
    assert body["thinking"] == (enabled if signed else {"type": "disabled"})
    assert lost == ([] if signed else ["approximated:reasoning_effort"])


def test_manual_thinking_begins_anew_with_a_new_question() -> None:
    before = (user(), assistant(tool_calls=CALLED[:1]), tool("a"), assistant("done"), user("next"))
    body, _ = converted(C, chat(*before, reasoning_effort="low"), thinking=Thinking.BUDGET)
    assert body["thinking"]["type"] == "enabled"


def test_hosted_calls_of_the_history_are_dropped() -> None:
    search = {"type": "web_search_call", "id": "ws", "status": "completed"}
    body, lost = converted(R, responses(user(), search, assistant("ok"), user()))
    assert body["messages"][1] == assistant("ok")
    assert lost == ["dropped:input[1]"]
