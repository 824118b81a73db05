"""The ladder of reasoning effort, and how budgets and forms of thinking compare to it (conversion.md §7)."""

from collections.abc import Sequence

from msgspec import Struct

from tidegate.core.capability import Effort
from tidegate.core.conversation import Given, Reasoning, ThinkingMode
from tidegate.protocols.losses import Losses

LADDER: tuple[Effort, ...] = tuple(Effort)
"""From least to most."""

BUDGETS = {
    Effort.MINIMAL: 1024,
    Effort.LOW: 2048,
    Effort.MEDIUM: 8192,
    Effort.HIGH: 16384,
    Effort.XHIGH: 32768,
    Effort.MAX: 65536,
}
"""Tokens of thinking that stand for an effort; `none` has no budget."""

_UP_TO = ((2048, Effort.LOW), (8192, Effort.MEDIUM), (16384, Effort.HIGH), (32768, Effort.XHIGH))


class Asked(Struct, frozen=True):
    """The effort that a request comes to. `exact`: not read out of a budget."""

    effort: Given[Effort]
    exact: bool


def nearest(effort: Effort, levels: Sequence[Effort]) -> Effort | None:
    """The level itself, else the nearest lower one, else the lowest; None where there are no levels."""
    if effort in levels:
        return effort
    place = LADDER.index(effort)
    lower = [level for level in levels if LADDER.index(level) < place]
    if lower:
        return max(lower, key=LADDER.index)
    return min(levels, key=LADDER.index, default=None)


def effort_of_budget(budget: int) -> Effort:
    """The effort that a budget of thinking tokens comes nearest to."""
    return next((effort for limit, effort in _UP_TO if budget <= limit), Effort.MAX)


def effort_asked(reasoning: Reasoning) -> Asked | None:
    """The effort that any client asks for in its own way; None: the upstream's default.

    Thinking that is switched off outweighs an effort beside it: the client does not want to wait for any.
    """
    thinking = reasoning.thinking
    if thinking is not None and thinking.value is ThinkingMode.DISABLED:
        return Asked(Given(Effort.NONE, thinking.path), exact=True)
    if reasoning.effort is not None:
        return Asked(reasoning.effort, exact=True)
    if thinking is not None and thinking.value is ThinkingMode.ENABLED and reasoning.budget is not None:
        return Asked(Given(effort_of_budget(reasoning.budget), f"{thinking.path}.budget_tokens"), exact=False)
    return None


def effort_for(reasoning: Reasoning, levels: Sequence[Effort], losses: Losses) -> Effort | None:
    """The effort to send to an upstream that takes `levels`; what that loses is noted."""
    asked = effort_asked(reasoning)
    if asked is None:
        return None
    effort = nearest(asked.effort.value, levels)
    if effort is None:
        losses.dropped(asked.effort.path)
    elif effort is not asked.effort.value or not asked.exact:
        losses.approximated(asked.effort.path)
    if reasoning.effort is not None and asked.effort is not reasoning.effort:
        losses.approximated(reasoning.effort.path)
    return effort


def wants_to_see(reasoning: Reasoning) -> bool:
    """Whether the client can show reasoning: it asked for some, and not for it to be kept back."""
    asked = effort_asked(reasoning)
    off = asked is not None and asked.effort.value is Effort.NONE
    given = asked is not None or reasoning.thinking is not None or reasoning.summary is not None
    return given and not off and reasoning.shown is not False
