"""The ladder of effort, and what every client's wish comes to."""

import pytest
from tests.unit.protocols.asking import told

from tidegate.core.capability import Effort
from tidegate.core.conversation import Given, Reasoning, ThinkingMode
from tidegate.protocols.losses import Losses
from tidegate.protocols.reasoning_levels import (
    LADDER,
    effort_for,
    effort_of_budget,
    nearest,
    wants_to_see,
)


@pytest.mark.parametrize(
    ("effort", "levels", "found"),
    [
        (Effort.HIGH, LADDER, Effort.HIGH),
        (Effort.MAX, (Effort.LOW, Effort.HIGH), Effort.HIGH),
        (Effort.MEDIUM, (Effort.HIGH, Effort.LOW), Effort.LOW),
        (Effort.NONE, (Effort.HIGH, Effort.LOW), Effort.LOW),
        (Effort.HIGH, (), None),
    ],
)
def test_a_level_that_is_missing_is_the_next_lower_one_or_the_lowest(
    effort: Effort, levels: tuple[Effort, ...], found: Effort | None
) -> None:
    assert nearest(effort, levels) is found


@pytest.mark.parametrize(
    ("budget", "effort"),
    [
        (1024, Effort.LOW),
        (2048, Effort.LOW),
        (2049, Effort.MEDIUM),
        (8192, Effort.MEDIUM),
        (16384, Effort.HIGH),
        (31999, Effort.XHIGH),
        (32769, Effort.MAX),
    ],
)
def test_a_budget_reads_as_an_effort(budget: int, effort: Effort) -> None:
    assert effort_of_budget(budget) is effort


def thinking(mode: ThinkingMode) -> Given[ThinkingMode]:
    return Given(mode, "thinking")


HIGH = Given(Effort.HIGH, "output_config.effort")


@pytest.mark.parametrize(
    ("reasoning", "effort", "losses"),
    [
        (Reasoning(), None, []),
        (Reasoning(effort=HIGH), Effort.HIGH, []),
        (Reasoning(thinking=thinking(ThinkingMode.ADAPTIVE)), None, []),
        (Reasoning(thinking=thinking(ThinkingMode.BETWEEN_TOOLS)), None, []),
        (Reasoning(thinking=thinking(ThinkingMode.ADAPTIVE), effort=HIGH), Effort.HIGH, []),
        (Reasoning(thinking=thinking(ThinkingMode.DISABLED)), Effort.NONE, []),
        (
            Reasoning(thinking=thinking(ThinkingMode.DISABLED), effort=HIGH),
            Effort.NONE,
            ["approximated:output_config.effort"],
        ),
        (
            Reasoning(thinking=thinking(ThinkingMode.ENABLED), budget=4096),
            Effort.MEDIUM,
            ["approximated:thinking.budget_tokens"],
        ),
        (Reasoning(thinking=thinking(ThinkingMode.ENABLED), budget=4096, effort=HIGH), Effort.HIGH, []),
        (Reasoning(thinking=thinking(ThinkingMode.ENABLED)), None, []),
    ],
)
def test_what_a_client_asks_for(reasoning: Reasoning, effort: Effort | None, losses: list[str]) -> None:
    noted = Losses()
    assert effort_for(reasoning, LADDER, noted) is effort
    assert told(noted.told()) == losses


def test_an_upstream_without_levels_is_told_none() -> None:
    losses = Losses()
    assert effort_for(Reasoning(effort=HIGH), (), losses) is None
    assert told(losses.told()) == ["dropped:output_config.effort"]


def test_a_lower_level_is_an_approximation() -> None:
    losses = Losses()
    assert effort_for(Reasoning(effort=HIGH), (Effort.LOW,), losses) is Effort.LOW
    assert told(losses.told()) == ["approximated:output_config.effort"]


@pytest.mark.parametrize(
    ("reasoning", "seen"),
    [
        (Reasoning(), False),
        (Reasoning(effort=HIGH), True),
        (Reasoning(effort=Given(Effort.NONE, "reasoning_effort")), False),
        (Reasoning(thinking=thinking(ThinkingMode.ADAPTIVE)), True),
        (Reasoning(thinking=thinking(ThinkingMode.ADAPTIVE), shown=False), False),
        (Reasoning(thinking=thinking(ThinkingMode.DISABLED)), False),
    ],
)
def test_reasoning_is_shown_to_those_who_ask_for_it(reasoning: Reasoning, seen: bool) -> None:
    assert wants_to_see(reasoning) is seen
