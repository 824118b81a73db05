import pytest
from tests.unit.doctor.streams import DONE, Edit, again, both, drop, found, insert, put

from tidegate.core.protocol import Protocol

CHAT = Protocol.CHAT
DELTA = "choices.0.delta"


@pytest.mark.parametrize(
    "case", ["text", "tool-call", "reasoning-text", "refusal", "max-tokens", "cache-hit"]
)
def test_a_good_stream_has_no_finding(case: str) -> None:
    assert found(CHAT, case) == []


@pytest.mark.parametrize(
    ("edit", "rules"),
    [
        (put(1, "object", "chat.completion"), ["chat-object"]),
        (drop(1, "id"), ["chat-members"]),
        (put(1, "created", "now"), ["chat-members"]),
        (put(2, "model", "other"), ["chat-same"]),
        (put(1, "choices", None), ["chat-choices-empty", "chat-members"]),
        (put(1, "choices", []), ["chat-choices-empty"]),
        (drop(0, f"{DELTA}.role"), ["chat-role"]),
        (put(1, "choices.0.index", 2), ["chat-choice-index", "chat-role", "finish"]),
        (drop(1, "choices.0.index"), ["chat-choice-index"]),
        (put(1, DELTA, None), ["chat-delta"]),
        (put(1, f"{DELTA}.content", ["text"]), ["chat-delta"]),
        (again(1, 5), ["chat-after-finish"]),
        (again(4, 5), ["finish"]),
        (put(4, "choices.0.finish_reason", "eos"), ["finish-word"]),
        (drop(4), ["finish"]),
        (drop(6), ["end-mark"]),
        (drop(5), ["usage-missing"]),
        (again(0), ["after-end"]),
        (again(6), ["after-end"]),
        (both(again(5, 4), put(4, "choices", [{"index": 0, "delta": {}}])), ["usage-place"]),
        (both(again(5, 1), drop(6)), ["usage-place"]),
        (again(5, 5), ["usage-place"]),
        (put(5, "usage", [5]), ["chat-choices-empty", "usage-form", "usage-missing"]),
        (put(4, "choices.0.finish_reason", ["stop"]), ["finish"]),
        (put(4, "choices.0.finish_reason", "tool_calls"), ["tool-finish"]),
        (put(1, f"{DELTA}.role", "user"), ["chat-role"]),
        (put(1, f"{DELTA}.tool_calls", {"index": 0}), ["chat-delta"]),
        (put(5, "usage.prompt_tokens_details", 5), ["usage-form"]),
        (put(5, "usage.prompt_tokens_details.cached_tokens", "0"), ["usage-form"]),
    ],
)
def test_what_is_wrong_is_named(edit: Edit, rules: list[str]) -> None:
    assert sorted(set(found(CHAT, "text", edit))) == rules


def test_usage_that_was_not_asked_for_is_told() -> None:
    assert found(CHAT, "text", usage=False) == ["usage-unasked"]
    assert found(CHAT, "text", drop(5), usage=False) == []


def test_a_stream_of_nothing_but_its_end_mark_has_no_finish() -> None:
    def empty(events: list[object]) -> None:
        events[:] = [DONE]

    assert found(CHAT, "text", empty) == ["finish", "usage-missing"]


def test_tools_are_not_called_by_a_stop() -> None:
    assert found(CHAT, "tool-call", put(-3, "choices.0.finish_reason", "stop")) == ["tool-finish"]


def test_a_forced_tool_may_be_called_by_a_stop_as_the_provider_does_it() -> None:
    edit = put(-3, "choices.0.finish_reason", "stop")
    assert found(CHAT, "tool-call", edit, tool="get_weather") == ["tool-finish-forced"]


def test_what_a_filter_tells_before_the_answer_is_one_warning() -> None:
    told = {"id": "", "object": "", "created": 0, "model": "", "choices": [], "prompt_filter_results": []}
    assert found(CHAT, "text", insert(0, told)) == ["chat-choices-empty"]


@pytest.mark.parametrize(
    ("error", "rules"),
    [
        ({"message": "a", "type": "b", "param": None, "code": None}, ["error-event"]),
        ("it broke", ["error-event", "error-form"]),
        ({"message": "a"}, ["error-event", "error-form"]),
    ],
)
def test_an_error_ends_a_stream(error: object, rules: list[str]) -> None:
    def fail(events: list[object]) -> None:
        events[3:] = [{"error": error}]

    assert found(CHAT, "text", fail) == rules


def test_nothing_follows_an_error() -> None:
    assert "after-end" in found(CHAT, "text", insert(3, {"error": {"message": "a", "type": "b"}}))
