"""How a wish for reasoning becomes thinking: forms, levels, budgets and what they must agree with."""

from typing import Any

import pytest
from tests.unit.protocols.messages.conversing import FUNCTION, C, R, chat, converted, responses

from tidegate.core.capability import Effort, Thinking

ADAPTIVE = {"type": "adaptive", "display": "summarized"}
OFF = {"type": "disabled"}
APPROXIMATED = ["approximated:reasoning_effort"]


def thinking(effort: str | None, **more: Any) -> tuple[Any, Any, list[str]]:
    abilities = {name: more.pop(name) for name in ("thinking", "efforts") if name in more}
    members = {"max_tokens": 100_000, **more}
    body, lost = converted(C, chat(reasoning_effort=effort, **members), **abilities)
    return body.get("thinking"), body.get("output_config", {}).get("effort"), lost


@pytest.mark.parametrize(
    ("effort", "sent"),
    [
        (None, (None, None, [])),
        ("none", (OFF, None, [])),
        ("minimal", (ADAPTIVE, "low", APPROXIMATED)),
        ("low", (ADAPTIVE, "low", [])),
        ("medium", (ADAPTIVE, "medium", [])),
        ("high", (ADAPTIVE, "high", [])),
        ("xhigh", (ADAPTIVE, "xhigh", [])),
        ("max", (ADAPTIVE, "max", [])),
    ],
)
def test_adaptive_thinking_takes_the_level(effort: str | None, sent: Any) -> None:
    assert thinking(effort, thinking=Thinking.ADAPTIVE) == sent


@pytest.mark.parametrize(
    ("effort", "budget"),
    [("minimal", 1024), ("low", 2048), ("medium", 8192), ("high", 16384), ("xhigh", 32768), ("max", 65536)],
)
def test_manual_thinking_takes_a_budget(effort: str, budget: int) -> None:
    assert thinking(effort, thinking=Thinking.BUDGET) == (
        {"type": "enabled", "budget_tokens": budget},
        None,
        [],
    )


def test_manual_thinking_is_off_or_not_told() -> None:
    assert thinking("none", thinking=Thinking.BUDGET) == (OFF, None, [])
    assert thinking(None, thinking=Thinking.BUDGET) == (None, None, [])


@pytest.mark.parametrize(("limit", "budget"), [(4096, 3072), (2048, 1024), (65536, 16384)])
def test_a_budget_leaves_room_for_the_answer(limit: int, budget: int) -> None:
    sent, _, lost = thinking("high", thinking=Thinking.BUDGET, max_tokens=limit)
    assert sent == {"type": "enabled", "budget_tokens": budget}
    assert not lost


@pytest.mark.parametrize("limit", [2047, 500, 1])
def test_without_room_for_the_least_budget_thinking_is_left_off(limit: int) -> None:
    assert thinking("high", thinking=Thinking.BUDGET, max_tokens=limit) == (None, None, APPROXIMATED)


def test_a_model_that_does_not_think_is_not_asked_to() -> None:
    assert thinking("high", thinking=Thinking.NONE) == (None, None, ["dropped:reasoning_effort"])
    assert thinking("none", thinking=Thinking.NONE) == (None, None, [])


@pytest.mark.parametrize(
    ("effort", "levels", "sent"),
    [
        ("xhigh", (Effort.LOW, Effort.HIGH, Effort.MAX), (ADAPTIVE, "high", APPROXIMATED)),
        ("low", (Effort.HIGH, Effort.MAX), (ADAPTIVE, "high", APPROXIMATED)),
        ("none", (Effort.LOW, Effort.HIGH), (ADAPTIVE, "low", APPROXIMATED)),
        ("high", (), (ADAPTIVE, None, APPROXIMATED)),
        ("none", (), (OFF, None, [])),
    ],
)
def test_a_level_that_the_model_lacks_is_the_nearest_lower_one(
    effort: str, levels: tuple[Effort, ...], sent: Any
) -> None:
    assert thinking(effort, thinking=Thinking.ADAPTIVE, efforts=levels) == sent


def test_levels_bound_a_budget_too() -> None:
    sent, _, lost = thinking("max", thinking=Thinking.BUDGET, efforts=(Effort.LOW, Effort.MEDIUM))
    assert sent == {"type": "enabled", "budget_tokens": 8192}
    assert lost == APPROXIMATED


def test_a_forced_tool_switches_manual_thinking_off() -> None:
    request = {"tools": [FUNCTION], "tool_choice": "required"}
    assert thinking("high", thinking=Thinking.BUDGET, **request) == (OFF, None, APPROXIMATED)
    assert thinking("high", thinking=Thinking.ADAPTIVE, **request) == (ADAPTIVE, "high", [])


def test_limits_of_manual_thinking_together_leave_a_legal_request() -> None:
    request = chat(
        reasoning_effort="high", temperature=0.2, tool_choice="required", max_tokens=500, tools=[FUNCTION]
    )
    body, lost = converted(C, request, thinking=Thinking.BUDGET)
    assert body["thinking"] == OFF
    assert body["tool_choice"] == {"type": "any"}
    assert body["temperature"] == 0.2
    assert lost == APPROXIMATED


def test_sampling_is_left_out_beside_a_budget() -> None:
    request = chat(reasoning_effort="high", temperature=0.2, top_p=0.5, max_tokens=50_000)
    body, lost = converted(C, request, thinking=Thinking.BUDGET)
    assert not {"temperature", "top_p"} & body.keys()
    assert lost == ["dropped:temperature", "dropped:top_p"]


def test_the_effort_of_responses_is_named_by_its_own_path() -> None:
    body, lost = converted(R, responses(reasoning={"effort": "minimal", "summary": "auto"}))
    assert (body["thinking"], body["output_config"]) == (ADAPTIVE, {"effort": "low"})
    assert lost == ["approximated:reasoning.effort"]
