"""Turns as messages of a chat upstream: order, results with pictures, system text."""

from typing import Any

import pytest
from tests.unit.protocols.asking import MESSAGES_TO_CHAT, RESPONSES_TO_CHAT, Crossing

IMAGE = {"type": "input_image", "image_url": "https://h.test/a"}
SENT_IMAGE = {"type": "image_url", "image_url": {"url": "https://h.test/a"}}
USER = {"role": "user", "content": "go"}


def call(id_: str) -> dict[str, Any]:
    return {"type": "function_call", "call_id": id_, "name": "f", "arguments": "{}"}


def output(id_: str, *parts: dict[str, Any]) -> dict[str, Any]:
    return {"type": "function_call_output", "call_id": id_, "output": list(parts)}


def text(words: str) -> dict[str, Any]:
    return {"type": "input_text", "text": words}


def messages(
    *items: dict[str, Any], crossing: Crossing = RESPONSES_TO_CHAT, **changes: Any
) -> list[dict[str, Any]]:
    name = "input" if crossing is RESPONSES_TO_CHAT else "messages"
    sent: list[dict[str, Any]] = crossing.sent({name: list(items)}, **changes)["messages"]
    return sent


def test_pictures_from_results_go_into_the_next_user_message() -> None:
    found = messages(
        call("a"), call("b"), output("a", text("x"), IMAGE), output("b", text("y"), text("z")), USER
    )
    assert [message["role"] for message in found] == ["assistant", "tool", "tool", "user"]
    assert [message["content"] for message in found[1:3]] == ["x", "y\nz"]
    assert found[3]["content"] == [
        {"type": "text", "text": "[image from tool result a]"},
        SENT_IMAGE,
        {"type": "text", "text": "go"},
    ]


def test_a_user_message_is_made_for_them_before_the_next_answer() -> None:
    found = messages(call("a"), output("a", IMAGE), {"role": "assistant", "content": "nice"})
    assert [message["role"] for message in found] == ["assistant", "tool", "user", "assistant"]
    assert found[1]["content"] == ""
    assert messages(call("a"), output("a", IMAGE))[-1]["role"] == "user"


def test_they_wait_while_the_system_speaks() -> None:
    system = {"role": "system", "content": "careful"}
    found = messages(call("a"), output("a", IMAGE), system, USER)
    assert [message["role"] for message in found] == ["assistant", "tool", "system", "user"]
    assert found[2]["content"] == "careful"
    assert len(found[3]["content"]) == 3


def test_files_from_results_are_named_as_files() -> None:
    file = {"type": "input_file", "file_id": "f"}
    found = messages(call("a"), output("a", file))
    assert found[-1]["content"][0]["text"] == "[file from tool result a]"


def test_results_stand_before_what_the_user_says() -> None:
    found = messages(
        USER,
        {
            "role": "assistant",
            "content": [
                {"type": "tool_use", "id": "a", "name": "f", "input": {}},
                {"type": "tool_use", "id": "b", "name": "f", "input": {}},
            ],
        },
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "a", "content": "1"},
                {"type": "tool_result", "tool_use_id": "b"},
                {"type": "text", "text": "go"},
            ],
        },
        crossing=MESSAGES_TO_CHAT,
    )
    assert [message["role"] for message in found] == ["user", "assistant", "tool", "tool", "user"]
    assert [message["content"] for message in found[2:]] == ["1", "", "go"]


def test_the_first_of_two_results_counts() -> None:
    body = {"input": [call("a"), output("a", text("x")), output("a", text("y"))]}
    assert [message["content"] for message in RESPONSES_TO_CHAT.sent(body)["messages"][1:]] == ["x"]
    assert RESPONSES_TO_CHAT.lost(body) == ["dropped:input[2]"]


@pytest.mark.parametrize(
    ("content", "sent"),
    [
        ("", ""),
        ("hi", "hi"),
        ([text("hi")], "hi"),
        ([text("a"), text("b")], [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]),
        (
            [text("a"), IMAGE, text("b")],
            [{"type": "text", "text": "a"}, SENT_IMAGE, {"type": "text", "text": "b"}],
        ),
    ],
)
def test_parts_stay_in_order_and_one_text_is_a_string(content: Any, sent: Any) -> None:
    [first, _] = messages({"role": "user", "content": content}, {"role": "assistant", "content": "x"})
    assert first == {"role": "user", "content": sent}


@pytest.mark.parametrize(("developer_role", "role"), [(False, "system"), (True, "developer")])
def test_developers_speak_as_the_system_unless_the_channel_knows_them(
    developer_role: bool, role: str
) -> None:
    items = ({"role": "developer", "content": "d"}, {"role": "system", "content": "s"}, USER)
    found = messages(*items, developer_role=developer_role)
    assert [message["role"] for message in found] == [role, "system", "user"]


def test_a_system_message_of_messages_stays_in_its_place() -> None:
    found = messages(USER, {"role": "system", "content": "s"}, USER, crossing=MESSAGES_TO_CHAT)
    assert [message["role"] for message in found] == ["user", "system", "user"]
