import pytest
from tests.unit.doctor.streams import Edit, again, drop, found, put

from tidegate.core.protocol import Protocol

MESSAGES = Protocol.MESSAGES


@pytest.mark.parametrize(
    ("case", "edit", "rule"),
    [
        ("text", put(1, "content_block.text", "Hi"), "messages-block"),
        ("text", put(1, "content_block", {}), "messages-block"),
        ("text", put(3, "delta.text", 5), "messages-block"),
        ("parallel-tools", put(2, "delta", {"type": "text_delta", "text": "a"}), "messages-block"),
        ("parallel-tools", put(2, "delta", {"type": "odd_delta"}), "unknown-event"),
        ("parallel-tools", put(4, "delta.partial_json", "oops"), "tool-arguments"),
        ("parallel-tools", put(1, "content_block.input", None), "tool-arguments"),
        ("parallel-tools", put(1, "content_block.id", "a b"), "tool-call-id"),
        ("parallel-tools", drop(1, "content_block.id"), "tool-call-id"),
        ("parallel-tools", put(1, "content_block.name", ""), "tool-call-name"),
        ("reasoning-text", drop(5), "messages-signature"),
        ("reasoning-text", again(5, 5), "messages-signature"),
    ],
)
def test_what_is_wrong_is_named(case: str, edit: Edit, rule: str) -> None:
    assert rule in found(MESSAGES, case, edit)


def test_an_input_may_be_cut_by_a_limit() -> None:
    def cut(events: list[dict[str, dict[str, object]]]) -> None:
        events[4]["delta"]["partial_json"] = '"Par'
        events[-2]["delta"]["stop_reason"] = "max_tokens"

    assert found(MESSAGES, "parallel-tools", cut) == []
