import pytest
from tests.unit.doctor.streams import DONE, Edit, Events, again, drop, found, insert, put

from tidegate.core.protocol import Protocol

RESPONSES = Protocol.RESPONSES
CREATED = {"type": "response.created", "sequence_number": 0, "response": {}}


@pytest.mark.parametrize(
    "case",
    ["text", "tool-call", "parallel-tools", "reasoning-text", "reasoning-raw-text", "refusal", "max-tokens"],
)
def test_a_good_stream_has_no_finding(case: str) -> None:
    assert found(RESPONSES, case) == []


@pytest.mark.parametrize(
    ("edit", "rules"),
    [
        (drop(0), {"responses-first", "responses-sequence"}),
        (drop(1), {"responses-in-progress", "responses-sequence"}),
        (drop(3, "sequence_number"), {"responses-sequence"}),
        (put(3, "sequence_number", 9), {"responses-sequence"}),
        (again(0, 1), {"responses-first"}),
        (again(1, 2), {"responses-in-progress"}),
        (drop(0, "response.tools"), {"responses-members"}),
        (put(0, "response.tools", None), {"responses-members"}),
        (put(0, "response.created_at", "today"), {"responses-members"}),
        (put(0, "response.created_at", True), {"responses-members"}),
        (put(0, "response.model", ""), {"responses-members"}),
        (put(0, "response.object", "thing"), {"responses-members"}),
        (put(0, "response.status", "completed"), {"responses-status"}),
        (put(-1, "response.id", "resp_other"), {"responses-id"}),
        (put(-1, "response.status", "in_progress"), {"responses-status"}),
        (drop(-1), {"end-mark"}),
        (put(-1, "response.usage", None), {"usage-missing"}),
        (drop(-1, "response.usage.input_tokens_details"), {"usage-form"}),
        (insert(20, DONE), {"foreign-end-mark"}),
        (again(3), {"after-end", "responses-sequence", "responses-item"}),
        (drop(3, "type"), {"event-type"}),
        (put(3, "type", "response.something.new"), {"unknown-event"}),
    ],
)
def test_what_is_wrong_is_named(edit: Edit, rules: set[str]) -> None:
    assert rules <= set(found(RESPONSES, "text", edit))


def test_an_incomplete_answer_tells_why() -> None:
    assert found(RESPONSES, "max-tokens", put(-1, "response.incomplete_details", None)) == [
        "responses-status"
    ]


@pytest.mark.parametrize(
    ("last", "rules"),
    [
        ({"type": "error", "code": "a", "message": "b", "param": None}, ["error-event"]),
        ({"type": "error", "error": {"code": "a", "message": "b", "type": "c"}}, ["error-event"]),
        ({"type": "error"}, ["error-event", "error-form"]),
        ({"error": {"message": "b"}}, ["error-event", "error-form", "event-name-missing"]),
    ],
)
def test_an_error_ends_a_stream(last: dict[str, object], rules: list[str]) -> None:
    def fail(events: list[object]) -> None:
        events[3:] = [last | {"sequence_number": 3}]

    assert sorted(found(RESPONSES, "text", fail)) == rules


def test_a_failed_response_tells_code_and_message() -> None:
    def fail(events: Events) -> None:
        failed = events[-1] | {"type": "response.failed"}
        failed["response"] = failed["response"] | {"status": "failed", "error": {"message": "it broke"}}
        events[3:] = [failed | {"sequence_number": 3}]

    assert found(RESPONSES, "text", fail) == ["error-event", "error-form"]


def test_a_sign_of_life_counts_for_nothing() -> None:
    assert found(RESPONSES, "text", insert(3, {"type": "keepalive"})) == []


def test_a_sign_of_life_that_is_numbered_counts_with_the_others() -> None:
    def edit(events: Events) -> None:
        events.insert(3, {"type": "keepalive"})
        for number, event in enumerate(events):
            event["sequence_number"] = number

    assert found(RESPONSES, "text", edit) == []
