"""Writes the wish for reasoning as `thinking` and `output_config.effort` (conversion.md §7)."""

from typing import Any

from msgspec import Struct

from tidegate.core.capability import Effort, Thinking
from tidegate.core.conversation import Reasoning
from tidegate.protocols.conversion import Abilities
from tidegate.protocols.losses import Losses
from tidegate.protocols.reasoning_levels import BUDGETS, effort_asked, nearest

LEAST_BUDGET = 1024
"""Smallest budget of manual thinking that the API takes."""

_ROOM = 1024
"""Tokens of `max_tokens` that a budget leaves for the answer."""

_OFF: dict[str, Any] = {"type": "disabled"}
_ADAPTIVE: dict[str, Any] = {"type": "adaptive", "display": "summarized"}
_LEVELS = (Effort.LOW, Effort.MEDIUM, Effort.HIGH, Effort.XHIGH, Effort.MAX)


class Written(Struct, frozen=True):
    """What goes up; None is not sent."""

    thinking: dict[str, Any] | None = None
    effort: str | None = None

    @property
    def manual(self) -> bool:
        """Whether the model thinks within a budget, which limits what else may be asked."""
        return self.thinking is not None and self.thinking["type"] == "enabled"


class Circumstances(Struct, frozen=True, kw_only=True):
    """What else of the request manual thinking must agree with."""

    max_tokens: int
    forced: bool
    """A tool must be called."""
    lacks_thinking: bool
    """Tool calls go on that were made without thinking, or whose thinking is lost."""


def write_thinking(
    reasoning: Reasoning, abilities: Abilities, circumstances: Circumstances, losses: Losses
) -> Written:
    """Nothing where the client asks for nothing."""
    asked = effort_asked(reasoning)
    if asked is None:
        return Written()
    effort, path = asked.effort.value, asked.effort.path
    if abilities.thinking is Thinking.NONE:
        if effort is not Effort.NONE:
            losses.dropped(path)
        return Written()
    if effort is Effort.NONE and (not abilities.efforts or Effort.NONE in abilities.efforts):
        return Written(_OFF)
    if not asked.exact:
        losses.approximated(path)
    match abilities.thinking:
        case Thinking.ADAPTIVE:
            return _adaptive(effort, abilities, path, losses)
        case Thinking.BUDGET:
            return _budget(effort, abilities, path, circumstances, losses)


def _adaptive(effort: Effort, abilities: Abilities, path: str, losses: Losses) -> Written:
    level = nearest(effort, [level for level in _LEVELS if level in abilities.efforts])
    if level is not effort:
        losses.approximated(path)
    return Written(_ADAPTIVE, None if level is None else level.value)


def _budget(
    effort: Effort, abilities: Abilities, path: str, circumstances: Circumstances, losses: Losses
) -> Written:
    levels = [level for level in BUDGETS if not abilities.efforts or level in abilities.efforts]
    level = nearest(effort, levels) or Effort.LOW
    if level is not effort:
        losses.approximated(path)
    if circumstances.forced or circumstances.lacks_thinking:
        losses.approximated(path)
        return Written(_OFF)
    budget = min(BUDGETS[level], circumstances.max_tokens - _ROOM)
    if budget < LEAST_BUDGET:
        losses.approximated(path)
        return Written()
    return Written({"type": "enabled", "budget_tokens": budget})
