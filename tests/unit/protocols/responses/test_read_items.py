"""Items of a Responses input as turns."""

from typing import Any

import pytest
from tests.unit.protocols.asking import RESPONSES_TO_CHAT, foreign, opener

from tidegate.core.conversation import Call, Hosted, Result, Role, Text, Thought, Turn
from tidegate.core.events import CallKind, Opaque
from tidegate.core.protocol import Protocol
from tidegate.protocols.conversion import OpenCarrier
from tidegate.protocols.losses import Losses
from tidegate.protocols.responses.read_items import ItemReader


def read(items: Any, open_carrier: OpenCarrier = foreign) -> tuple[Turn, ...]:
    refusals = Losses()
    turns = ItemReader(open_carrier, refusals).read(items, "input")
    assert refusals.failure is None, refusals.failure
    return turns


def block_of(item: dict[str, Any], open_carrier: OpenCarrier = foreign) -> Any:
    [turn] = read([item], open_carrier)
    [block] = turn.blocks
    return block


def test_a_string_is_what_the_user_says() -> None:
    assert read("hi") == (Turn(role=Role.USER, blocks=(Text(text="hi", path="input"),), path="input"),)


@pytest.mark.parametrize(
    "type_", [{}, {"type": "message"}, {"type": "message", "id": "msg_1", "phase": "commentary"}]
)
@pytest.mark.parametrize("role", ["user", "assistant", "system", "developer"])
def test_messages(type_: dict[str, Any], role: str) -> None:
    [turn] = read([{**type_, "role": role, "content": "hi"}])
    assert turn == Turn(role=Role(role), blocks=(Text(text="hi", path="input[0].content"),), path="input[0]")


@pytest.mark.parametrize(
    ("item", "block"),
    [
        (
            {
                "type": "function_call",
                "id": "fc",
                "call_id": "c",
                "name": "f",
                "arguments": "{}",
                "namespace": "n",
            },
            Call(id="c", name="f", input="{}", path="input[0]", namespace="n"),
        ),
        (
            {"type": "custom_tool_call", "call_id": "c", "name": "f", "input": "x"},
            Call(id="c", name="f", input="x", path="input[0]", kind=CallKind.CUSTOM),
        ),
        (
            {"type": "function_call_output", "id": "fco", "call_id": "c", "output": "ok"},
            Result(call_id="c", content="ok", path="input[0]"),
        ),
        ({"type": "function_call_output", "call_id": "c"}, Result(call_id="c", content="", path="input[0]")),
        (
            {
                "type": "custom_tool_call_output",
                "call_id": "c",
                "output": [{"type": "input_text", "text": "ok"}],
            },
            Result(
                call_id="c",
                content=(Text(text="ok", path="input[0].output[0]"),),
                path="input[0]",
                kind=CallKind.CUSTOM,
            ),
        ),
        ({"type": "web_search_call", "id": "ws"}, Hosted(type="web_search_call", path="input[0]")),
        ({"type": "mcp_call", "id": "m"}, Hosted(type="mcp_call", path="input[0]")),
        ({"type": "reasoning", "summary": []}, Thought(path="input[0]")),
        (
            {"type": "reasoning", "summary": [{"type": "summary_text", "text": "a"}, {"text": "b"}, 7]},
            Thought(path="input[0]", text="a\n\nb"),
        ),
        (
            {"type": "reasoning", "summary": [{"text": "a"}], "content": [{"text": "raw"}]},
            Thought(path="input[0]", text="raw"),
        ),
    ],
)
def test_other_items(item: dict[str, Any], block: Any) -> None:
    assert block_of(item) == block


def test_what_the_upstream_encrypted_is_kept_as_it_came() -> None:
    item = {"type": "reasoning", "id": "rs", "summary": [], "encrypted_content": "enc"}
    assert block_of(item) == Thought(path="input[0]", native=item)


def test_a_carrier_is_opened() -> None:
    held = Opaque(Protocol.CHAT, "hm")
    item = {"type": "reasoning", "id": "rs", "summary": [], "encrypted_content": "tgr1.x"}
    assert block_of(item, opener({"tgr1.x": held})) == Thought(path="input[0]", carried=held, group="up")
    assert block_of(item) == Thought(path="input[0]", foreign=True)


@pytest.mark.parametrize(
    ("item", "kind", "path"),
    [
        ({"type": "item_reference", "id": "msg_1"}, "unsupported_value", "input[0].type"),
        ({"id": "msg_1"}, "unsupported_value", "input[0]"),
        ({"type": "computer_call", "id": "x"}, "unsupported_value", "input[0].type"),
        ({"type": "local_shell_call_output", "id": "x"}, "unsupported_value", "input[0].type"),
        ({"type": "tool_search_output", "id": "x"}, "unsupported_value", "input[0].type"),
        ({"type": "mcp_approval_request", "id": "x"}, "unsupported_value", "input[0].type"),
        ({"type": "compaction", "id": "x"}, "unsupported_value", "input[0].type"),
        ({"type": "mystery"}, "unsupported_value", "input[0].type"),
        ({"type": 7}, "invalid_request", "input[0].type"),
        ({"role": "narrator"}, "unsupported_value", "input[0].role"),
        ({"type": "message"}, "invalid_request", "input[0].role"),
        ({"type": "function_call", "name": "f"}, "invalid_request", "input[0].call_id"),
        (
            {"type": "function_call", "call_id": "c", "name": "f", "arguments": {}},
            "invalid_request",
            "input[0].arguments",
        ),
        (
            {"type": "function_call_output", "call_id": "c", "output": {}},
            "invalid_request",
            "input[0].output",
        ),
        ({"type": "additional_tools", "tools": 7}, "invalid_request", "input[0].tools"),
    ],
)
def test_what_does_not_convert_is_named(item: dict[str, Any], kind: str, path: str) -> None:
    assert RESPONSES_TO_CHAT.refused({"input": [item]}) == (kind, path)


def test_an_input_of_another_type_is_refused() -> None:
    refusals = Losses()
    assert ItemReader(foreign, refusals).read(7, "instructions") == ()
    assert refusals.failure is not None
    assert refusals.failure.param == "instructions"
