"""Turns as items of a responses upstream's input."""

from typing import Any

import pytest
from tests.unit.protocols.asking import (
    CHAT_TO_RESPONSES,
    MESSAGES_TO_RESPONSES,
    converted,
    opener,
    said,
    told,
)

from tidegate.core.events import Opaque
from tidegate.core.protocol import Protocol
from tidegate.protocols.conversion import Written

PDF = {"type": "base64", "media_type": "application/pdf", "data": "JVBERi0="}
ITEM = {"type": "reasoning", "id": "rs_up", "summary": [], "encrypted_content": "enc"}
CARRIERS = {
    "tgr1.r": Opaque(Protocol.RESPONSES, ITEM),
    "tgr1.m": Opaque(Protocol.MESSAGES, []),
    "tgr1.c": Opaque(Protocol.CHAT, "hm"),
    "tgr1.odd": Opaque(Protocol.RESPONSES, "hm"),
}


def of_chat(*messages: dict[str, Any], **changes: Any) -> list[dict[str, Any]]:
    sent: list[dict[str, Any]] = CHAT_TO_RESPONSES.sent({"messages": list(messages)}, **changes)["input"]
    return sent


def of_messages(*messages: dict[str, Any]) -> list[dict[str, Any]]:
    sent: list[dict[str, Any]] = MESSAGES_TO_RESPONSES.sent({"messages": list(messages)})["input"]
    return sent


def call(id_: str, name: str = "f", arguments: str = "{}") -> dict[str, Any]:
    return {"id": id_, "type": "function", "function": {"name": name, "arguments": arguments}}


def item(id_: str, name: str = "f", arguments: str = "{}") -> dict[str, Any]:
    return {"type": "function_call", "call_id": id_, "name": name, "arguments": arguments}


def test_text_and_calls_follow_each_other_as_they_were_said() -> None:
    blocks = [
        {"type": "text", "text": "a"},
        {"type": "text", "text": "b"},
        {"type": "tool_use", "id": "c", "name": "f", "input": {}},
    ]
    last = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c", "content": "ok"}]}
    assert of_messages({"role": "user", "content": "hi"}, {"role": "assistant", "content": blocks}, last) == [
        {"role": "user", "content": "hi"},
        {"role": "assistant", "content": "ab"},
        item("c"),
        {"type": "function_call_output", "call_id": "c", "output": "ok"},
    ]


def test_results_stand_before_what_the_user_says() -> None:
    content = [
        {"type": "tool_result", "tool_use_id": "a", "content": []},
        {"type": "tool_result", "tool_use_id": "b", "content": [{"type": "text", "text": "x"}]},
        {"type": "text", "text": "go"},
    ]
    assert of_messages({"role": "user", "content": content}) == [
        {"type": "function_call_output", "call_id": "a", "output": ""},
        {"type": "function_call_output", "call_id": "b", "output": [{"type": "input_text", "text": "x"}]},
        {"role": "user", "content": [{"type": "input_text", "text": "go"}]},
    ]


def test_roles_stay_in_their_places() -> None:
    roles = ["system", "developer", "user", "system"]
    found = of_chat(*({"role": role, "content": role} for role in roles))
    assert found == [{"role": role, "content": role} for role in roles]


def test_a_refusal_is_told_as_one() -> None:
    found = of_chat({"role": "assistant", "content": "a", "refusal": "no"}, {"role": "user", "content": ""})
    parts = [
        {"type": "output_text", "text": "a", "annotations": []},
        {"type": "refusal", "refusal": "no"},
    ]
    assert found == [
        {"type": "message", "role": "assistant", "content": parts},
        {"role": "user", "content": ""},
    ]


def test_an_empty_answer_is_left_out() -> None:
    assert of_chat({"role": "assistant", "content": ""}, {"role": "user", "content": "x"}) == [
        {"role": "user", "content": "x"}
    ]


@pytest.mark.parametrize(
    ("part", "sent"),
    [
        ({"type": "text", "text": "x"}, {"type": "input_text", "text": "x"}),
        ({"type": "refusal", "refusal": "x"}, {"type": "input_text", "text": "x"}),
        (
            {"type": "image_url", "image_url": {"url": "https://h.test/a"}},
            {"type": "input_image", "image_url": "https://h.test/a", "detail": "auto"},
        ),
        (
            {"type": "image_url", "image_url": {"url": "https://h.test/a", "detail": "original"}},
            {"type": "input_image", "image_url": "https://h.test/a", "detail": "original"},
        ),
        ({"type": "file", "file": {"file_id": "f"}}, {"type": "input_file", "file_id": "f"}),
    ],
)
def test_parts(part: dict[str, Any], sent: dict[str, Any]) -> None:
    assert of_chat({"role": "user", "content": [part]}) == [{"role": "user", "content": [sent]}]


def test_documents_of_messages() -> None:
    url = {"type": "url", "url": "https://h.test/a.pdf"}
    content = [
        {"type": "document", "source": PDF, "title": "a.pdf", "context": "From Ann."},
        {"type": "document", "source": url, "title": "b.pdf", "citations": {"enabled": True}},
        {"type": "document", "source": url},
    ]
    body = {"messages": [{"role": "user", "content": content}]}
    [message] = MESSAGES_TO_RESPONSES.sent(body)["input"]
    assert message["content"] == [
        {"type": "input_text", "text": "From Ann."},
        {"type": "input_file", "filename": "a.pdf", "file_data": "data:application/pdf;base64,JVBERi0="},
        {"type": "input_file", "file_url": "https://h.test/a.pdf", "filename": "b.pdf"},
        {"type": "input_file", "file_url": "https://h.test/a.pdf"},
    ]
    assert MESSAGES_TO_RESPONSES.lost(body) == [
        "approximated:messages[0].content[0].context",
        "dropped:messages[0].content[1].citations",
    ]


@pytest.mark.parametrize("type_", ["image", "document"])
def test_what_another_provider_stores_is_refused(type_: str) -> None:
    content = [{"type": type_, "source": {"type": "file", "file_id": "f"}}]
    found = MESSAGES_TO_RESPONSES.refused({"messages": [{"role": "user", "content": content}]})
    assert found == ("unsupported_value", "messages[0].content[0]")


def thinking(sealed: str) -> dict[str, Any]:
    return {
        "messages": [
            {"role": "user", "content": "hi"},
            {
                "role": "assistant",
                "content": [
                    {"type": "thinking", "thinking": "x", "signature": sealed},
                    {"type": "text", "text": "a"},
                ],
            },
            {"role": "user", "content": "go"},
        ],
        "max_tokens": 50,
    }


@pytest.mark.parametrize(
    ("sealed", "group", "comes_back"),
    [
        ("tgr1.r", "up", True),
        ("tgr1.r", "other", False),
        ("tgr1.m", "up", False),
        ("tgr1.c", "up", False),
        ("tgr1.odd", "up", False),
        ("tgr1.forged", "up", False),
        ("native", "up", False),
    ],
)
def test_reasoning_returns_only_to_those_who_made_it(sealed: str, group: str, comes_back: bool) -> None:
    found = converted(Protocol.MESSAGES, thinking(sealed), Protocol.RESPONSES, opener(CARRIERS, group))
    assert isinstance(found, Written)
    items = said(found)["input"]
    assert [entry for entry in items if entry.get("type") == "reasoning"] == ([ITEM] if comes_back else [])
    assert items[-2] == {"role": "assistant", "content": "a"}
    assert told(found.losses) == ([] if comes_back else ["(dropped:messages[1].content[0])"])


def test_a_model_that_does_not_reason_gets_no_reasoning_back() -> None:
    body, made = thinking("tgr1.r"), opener(CARRIERS)
    found = converted(Protocol.MESSAGES, body, Protocol.RESPONSES, made, efforts=())
    assert isinstance(found, Written)
    assert "reasoning" not in {entry.get("type") for entry in said(found)["input"]}
    assert told(found.losses) == ["(dropped:messages[1].content[0])"]


CUSTOM = [{"type": "custom", "custom": {"name": "patch"}}]
DRESSED = {"role": "assistant", "content": None, "tool_calls": [call("c", "patch", '{"input":"x"}')]}
NATIVE_CALL = {"id": "c", "type": "custom", "custom": {"name": "patch", "input": "x"}}
NATIVE = {"role": "assistant", "content": None, "tool_calls": [NATIVE_CALL]}
ANSWERED = {"role": "tool", "tool_call_id": "c", "content": "ok"}


@pytest.mark.parametrize("answer", [DRESSED, NATIVE])
@pytest.mark.parametrize("custom_tools", [True, False])
def test_calls_of_custom_tools_have_the_form_that_the_tools_have_there(
    answer: dict[str, Any], custom_tools: bool
) -> None:
    body = {"messages": [answer, ANSWERED], "tools": CUSTOM}
    sent = CHAT_TO_RESPONSES.sent(body, custom_tools=custom_tools)["input"]
    if custom_tools:
        assert sent == [
            {"type": "custom_tool_call", "call_id": "c", "name": "patch", "input": "x"},
            {"type": "custom_tool_call_output", "call_id": "c", "output": "ok"},
        ]
    else:
        output = {"type": "function_call_output", "call_id": "c", "output": "ok"}
        assert sent == [item("c", "patch", '{"input":"x"}'), output]


def test_a_custom_call_without_its_tool_stays_custom() -> None:
    assert of_chat(NATIVE, ANSWERED)[0]["type"] == "custom_tool_call"


def test_what_hosted_tools_did_is_dropped() -> None:
    block = {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}}
    messages = [
        {"role": "user", "content": "hi"},
        {"role": "assistant", "content": [block, {"type": "text", "text": "a"}]},
        {"role": "user", "content": "go"},
    ]
    assert MESSAGES_TO_RESPONSES.lost({"messages": messages}) == ["dropped:messages[1].content[0]"]
    assert MESSAGES_TO_RESPONSES.sent({"messages": messages})["input"][1] == {
        "role": "assistant",
        "content": "a",
    }


def test_a_picture_from_an_assistant_cannot_be_said() -> None:
    part = {"type": "image_url", "image_url": {"url": "https://h.test/a"}}
    body = {"messages": [{"role": "assistant", "content": [part]}]}
    assert CHAT_TO_RESPONSES.refused(body) == ("unsupported_value", "messages[0].content[0]")


def test_only_the_first_result_of_a_call_counts_unless_the_call_comes_again() -> None:
    answer = {"role": "assistant", "content": None, "tool_calls": [call("c")]}
    found = of_chat(
        answer, ANSWERED, {**ANSWERED, "content": "again"}, answer, {**ANSWERED, "content": "new"}
    )
    outputs = [entry["output"] for entry in found if entry["type"] == "function_call_output"]
    assert outputs == ["ok", "new"]
