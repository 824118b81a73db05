import pytest
from tests.unit.doctor.streams import Edit, Events, found, good, put

from tidegate.core.protocol import Protocol

RESPONSES = Protocol.RESPONSES
TEXT = [event["type"] for event in good(RESPONSES, "text")]


def first(kind: str) -> int:
    return TEXT.index(kind)


def without(kind: str) -> Edit:
    """Leave out all events of a type, and count on."""

    def edit(events: Events) -> None:
        events[:] = [event for event in events if event["type"] != kind]
        for number, event in enumerate(events):
            event["sequence_number"] = number

    return edit


@pytest.mark.parametrize(
    ("edit", "rules"),
    [
        (without("response.output_item.added"), {"responses-item", "responses-output"}),
        (without("response.output_item.done"), {"responses-item"}),
        (without("response.content_part.added"), {"responses-part"}),
        (without("response.content_part.done"), {"responses-part"}),
        (put(first("response.output_item.added"), "output_index", 1), {"responses-item"}),
        (put(first("response.output_item.added"), "item.id", ""), {"responses-item"}),
        (put(first("response.output_item.done"), "item.id", "msg_other"), {"responses-item"}),
        (put(first("response.output_text.delta"), "item_id", "msg_other"), {"responses-item"}),
        (put(first("response.output_text.delta"), "content_index", 1), {"responses-part"}),
        (put(first("response.content_part.added"), "content_index", 1), {"responses-part"}),
        (put(first("response.output_text.delta"), "delta", 5), {"responses-part"}),
        (put(first("response.output_text.done"), "text", "other"), {"responses-text"}),
        (put(first("response.content_part.done"), "part.text", "other"), {"responses-text"}),
        (put(first("response.output_item.added"), "item.role", "user"), {"responses-item"}),
        (put(first("response.output_item.added"), "item.content", None), {"responses-item"}),
        (put(first("response.output_item.done"), "item.status", "in_progress"), {"responses-item"}),
        (put(-1, "response.output", []), {"responses-output"}),
        (put(-1, "response.output.0.content.0.text", "other"), {"responses-output"}),
    ],
)
def test_what_is_wrong_is_named(edit: Edit, rules: set[str]) -> None:
    assert rules <= set(found(RESPONSES, "text", edit))


@pytest.mark.parametrize(
    ("number", "path", "value", "rule"),
    [
        (2, "item.call_id", "", "tool-call-id"),
        (7, "item.call_id", "call_up1", "tool-call-id"),
        (2, "item.name", "", "tool-call-name"),
        (4, "delta", "oops", "responses-text"),
        (6, "item.arguments", "oops", "tool-arguments"),
        (2, "item.arguments", None, "responses-item"),
        (3, "delta", 5, "responses-part"),
        (5, "type", "response.custom_tool_call_input.done", "responses-part"),
        (5, "arguments", "oops", "responses-text"),
        (6, "item.call_id", "call_other", "responses-item"),
    ],
)
def test_what_is_wrong_with_a_call_is_named(number: int, path: str, value: str, rule: str) -> None:
    assert rule in found(RESPONSES, "parallel-tools", put(number, path, value))


def test_the_input_of_a_call_is_done_before_the_call() -> None:
    edit = without("response.function_call_arguments.done")
    assert set(found(RESPONSES, "tool-call", edit)) == {"responses-part"}
