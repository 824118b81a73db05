import pytest
from tests.unit.doctor.streams import DONE, Edit, again, drop, found, good, insert, put

from tidegate.core.protocol import Protocol

MESSAGES = Protocol.MESSAGES


@pytest.mark.parametrize(
    "case", ["text", "tool-call", "parallel-tools", "reasoning-text", "refusal", "max-tokens", "cache-hit"]
)
def test_a_good_stream_has_no_finding(case: str) -> None:
    assert found(MESSAGES, case) == []


@pytest.mark.parametrize(
    ("edit", "rules"),
    [
        (drop(0), {"messages-first"}),
        (again(0, 1), {"messages-first"}),
        (insert(0, {"type": "ping"}), {"messages-first"}),
        (put(0, "message.content", [{"type": "text", "text": ""}]), {"messages-start"}),
        (put(0, "message.stop_reason", "end_turn"), {"messages-start"}),
        (drop(0, "message.usage"), {"messages-start"}),
        (drop(0, "message.role"), {"messages-start"}),
        (drop(1, "type"), {"event-type", "messages-block"}),
        (drop(6), {"messages-block"}),
        (put(1, "index", 1), {"messages-block"}),
        (drop(-3, "index"), {"messages-block"}),
        (drop(-2), {"finish"}),
        (again(-2, -1), {"messages-delta"}),
        (put(-2, "delta.stop_reason", None), {"messages-delta", "finish"}),
        (put(-2, "delta.stop_reason", "stop"), {"finish-word"}),
        (drop(-2, "usage"), {"messages-delta"}),
        (drop(-1), {"end-mark"}),
        (again(1), {"after-end"}),
        (insert(-1, {"type": "something_new"}), {"unknown-event"}),
        (insert(9, DONE), {"foreign-end-mark"}),
        (put(2, "delta", None), {"messages-block"}),
        (put(2, "delta.type", None), {"messages-block"}),
        (put(-2, "delta.stop_reason", {}), {"messages-delta"}),
        (put(6, "content_block.id", "toolu_up1"), {"tool-call-id"}),
        (lambda events: events.insert(1, events.pop(-2)), {"messages-delta"}),
    ],
)
def test_what_is_wrong_is_named(edit: Edit, rules: set[str]) -> None:
    assert rules <= set(found(MESSAGES, "parallel-tools", edit))


def test_usage_is_told_somewhere() -> None:
    def silent(events: list[dict[str, dict[str, object]]]) -> None:
        del events[0]["message"]["usage"]
        del events[-2]["usage"]

    assert "usage-missing" in found(MESSAGES, "text", silent)


def test_a_count_that_is_null_later_is_the_one_that_came_before() -> None:
    nulls = {"input_tokens": None, "cache_read_input_tokens": None, "output_tokens": 12}
    assert found(MESSAGES, "text", put(-2, "usage", nulls)) == []


def test_hidden_reasoning_has_its_contents() -> None:
    opening = {"type": "redacted_thinking", "data": "sealed"}
    assert found(MESSAGES, "reasoning-text", put(1, "content_block", opening))[0] == "messages-block"
    at = next(
        number
        for number, event in enumerate(good(MESSAGES, "reasoning-text"))
        if event.get("content_block", {}).get("type") == "redacted_thinking"
    )
    assert found(MESSAGES, "reasoning-text", drop(at, "content_block.data")) == ["messages-block"]


def test_tools_are_called_where_the_turn_ends_for_them() -> None:
    assert found(MESSAGES, "text", put(-2, "delta.stop_reason", "tool_use")) == ["tool-finish"]


def test_tools_are_not_called_by_the_end_of_a_turn() -> None:
    assert found(MESSAGES, "tool-call", put(-2, "delta.stop_reason", "end_turn")) == ["tool-finish"]


@pytest.mark.parametrize(
    ("error", "rules"),
    [
        ({"type": "overloaded_error", "message": "a"}, ["error-event"]),
        ({"message": "a"}, ["error-event", "error-form"]),
        ("it broke", ["error-event", "error-form"]),
    ],
)
def test_an_error_ends_a_stream(error: object, rules: list[str]) -> None:
    def fail(events: list[object]) -> None:
        events[3:] = [{"type": "error", "error": error}]

    assert found(MESSAGES, "text", fail) == rules
