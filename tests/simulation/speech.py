"""What an upstream means to say in one attempt: words of no other attempt, so that leftovers show."""

from dataclasses import dataclass
from enum import Enum
from random import Random
from typing import Any

_SPICE = ("", "", "", "é", "🌊", '"', "\\n", "\n", "\u2028", "data:x")
"""Ends of words that framing and JSON could trip over."""


class Stop(Enum):
    """Why it stops."""

    END = "end"
    LIMIT = "limit"
    """The token limit cut it."""
    TOOL = "tool"


class Told(Enum):
    """What usage it tells."""

    TRUE = "true"
    MISSING = "missing"
    ABSURD = "absurd"
    """Negative, fractional, text, null, or beyond every column."""
    HUGE = "huge"
    """A number that is one, and far more than can be."""


@dataclass(frozen=True)
class Tokens:
    """Counts that do not overlap."""

    fresh: Any
    read: Any
    write: Any
    output: Any


@dataclass(frozen=True)
class Speech:
    """One answer in pieces. `tag` is in every word."""

    tag: str
    texts: tuple[str, ...]
    thoughts: tuple[str, ...]
    arguments: tuple[str, ...]
    """Pieces of the JSON text of a call of the tool `look`; empty: no call."""
    stop: Stop
    told: Told
    tokens: Tokens | None
    """What usage says; None: nothing."""

    @property
    def text(self) -> str:
        return "".join(self.texts)

    @property
    def thought(self) -> str:
        return "".join(self.thoughts)

    @property
    def call(self) -> str:
        return "".join(self.arguments)


@dataclass(frozen=True)
class Tastes:
    """How often the upstreams of a run do what (shares from 0 to 1)."""

    told: dict[Told, float]
    thinks: float = 0.2
    calls: float = 0.15

    @property
    def honest(self) -> bool:
        """Whether no upstream tells more than can be."""
        return set(self.told) <= {Told.TRUE, Told.MISSING}


HONEST = Tastes({Told.TRUE: 0.85, Told.MISSING: 0.15})
ODD = Tastes({Told.TRUE: 0.5, Told.MISSING: 0.1, Told.ABSURD: 0.25, Told.HUGE: 0.15})


def drawn(chance: Random, tag: str, tastes: Tastes) -> Speech:
    """A speech; `tag` names request and attempt."""
    thoughts = _words(chance, f"{tag}.t", 4) if chance.random() < tastes.thinks else ()
    calls = chance.random() < tastes.calls
    texts = _words(chance, f"{tag}.w", 6) if not calls or chance.random() < 0.5 else ()
    stop = Stop.TOOL if calls else Stop.LIMIT if chance.random() < 0.1 else Stop.END
    told = chance.choices(list(tastes.told), list(tastes.told.values()))[0]
    words = len(thoughts) + len(texts) + 2 * calls
    return Speech(
        tag=tag,
        texts=texts,
        thoughts=thoughts,
        arguments=('{"q":', f'"{tag}.c', '"}') if calls else (),
        stop=stop,
        told=told,
        tokens=_tokens(chance, told, words),
    )


def _words(chance: Random, start: str, most: int) -> tuple[str, ...]:
    return tuple(f"{start}{number}{chance.choice(_SPICE)} " for number in range(chance.randint(1, most)))


def _tokens(chance: Random, told: Told, words: int) -> Tokens | None:
    fresh, read = chance.randint(1, 60), chance.choice((0, 0, 30))
    match told:
        case Told.TRUE:
            return Tokens(fresh, read, chance.choice((0, 0, 20)), words)
        case Told.MISSING:
            return None
        case Told.ABSURD:
            odd: Any = chance.choice((-5, 1.5, "many", None, 10**19, True, [], {}))
            return Tokens(*(odd if chance.random() < 0.5 else count for count in (fresh, read, 0, words)))
        case Told.HUGE:
            return Tokens(chance.choice((fresh, 10**12)), read, 0, chance.choice((10**9, 10**15)))
