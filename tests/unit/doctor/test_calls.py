import pytest
from tests.unit.doctor.streams import Edit, both, drop, found, put

from tidegate.core.protocol import Protocol

CALL = "choices.0.delta.tool_calls.0"


def test_parallel_calls_are_good() -> None:
    assert found(Protocol.CHAT, "parallel-tools") == []


@pytest.mark.parametrize(
    ("edit", "rule"),
    [
        (drop(1, f"{CALL}.index"), "tool-call-index"),
        (put(4, f"{CALL}.index", 2), "tool-call-index"),
        (put(1, f"{CALL}.id", ""), "tool-call-id"),
        (put(4, f"{CALL}.id", "call_up1"), "tool-call-id"),
        (drop(1, f"{CALL}.type"), "tool-call-name"),
        (drop(1, f"{CALL}.function.name"), "tool-call-name"),
        (put(2, f"{CALL}.id", "call_up1"), "tool-call-repeated"),
        (put(2, f"{CALL}.function.name", "get_weather"), "tool-call-repeated"),
        (put(3, f"{CALL}.function.arguments", "..."), "tool-arguments"),
        (put(3, f"{CALL}.function.arguments", {"city": "Paris"}), "tool-arguments"),
        (put(5, f"{CALL}.function.arguments", "[]"), "tool-arguments"),
    ],
)
def test_what_is_wrong_is_named(edit: Edit, rule: str) -> None:
    assert rule in found(Protocol.CHAT, "parallel-tools", edit)


def test_arguments_may_be_cut_by_a_limit() -> None:
    cut = both(drop(5), put(5, "choices.0.finish_reason", "length"))
    assert found(Protocol.CHAT, "parallel-tools", cut) == []


def test_a_forced_tool_that_is_not_called_is_a_note() -> None:
    assert found(Protocol.CHAT, "parallel-tools", tool="get_weather") == []
    assert found(Protocol.CHAT, "text", tool="get_weather") == ["tool-refused"]
