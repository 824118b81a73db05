"""Takes credentials, and what the operator's patterns match, out of content before it is kept."""

import time
from collections.abc import Callable, Sequence
from typing import Any

from tidegate.observe.redaction import MARK, SHAPES, Redactor

PATIENCE = 0.5
"""Seconds that all patterns together may take for one text."""


def pattern_fault(pattern: str) -> str | None:
    """What is wrong with a pattern; None: it can be used."""
    engine = _engine()
    try:
        compiled = engine.compile(pattern)
    except engine.error as error:
        return f"is no regular expression: {error.msg}"
    except (RecursionError, OverflowError, ValueError, MemoryError):
        return "is no regular expression that could be used"
    return "matches even the empty text" if compiled.search("") else None


class ContentRedactor:
    """One set of patterns. To be called on a thread of its own.

    A pattern can take for ever on a text that was made for it, and Python's own engine would stop the whole
    process meanwhile, whatever thread it runs on. This engine lets the others run, and stops in time.
    """

    def __init__(
        self,
        known: Redactor,
        patterns: Sequence[str],
        patience: float = PATIENCE,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`known` has the secrets of this process; `patience` is seconds."""
        engine = _engine()
        self._known = known
        self._shapes = [(engine.compile(shape.pattern, shape.flags), mark) for shape, mark in SHAPES]
        self._own = [engine.compile(pattern) for pattern in patterns]
        self._patience = patience
        self._clock = clock

    def __call__(self, text: str) -> str | None:
        """The text without what must not be kept; None: that could not be made sure in time."""
        text = self._known.without_known(text)
        ends_at = self._clock() + self._patience
        try:
            for pattern, mark in (*self._shapes, *((own, MARK) for own in self._own)):
                left = ends_at - self._clock()
                if left <= 0:
                    return None
                text = pattern.sub(mark, text, timeout=left, concurrent=True)
        except (TimeoutError, MemoryError):
            return None
        return text


def _engine() -> Any:
    import regex  # late: only who keeps content needs it

    return regex
