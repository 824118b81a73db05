"""Model names with a pattern form: a name that ends in "*" stands for every name with its prefix."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Generic, TypeVar

T = TypeVar("T")


def is_pattern(name: str) -> bool:
    """Whether `name` stands for many names."""
    return name.endswith("*")


def covers(name: str, model: str) -> bool:
    """Whether the name or pattern stands for `model`; if that is a pattern, for all of it."""
    return model.startswith(name[:-1]) if is_pattern(name) else name == model


def narrower(one: str, other: str) -> str | None:
    """The name or pattern for what both stand for, None where that is nothing."""
    if covers(one, other):
        return other
    return one if covers(other, one) else None


class Lookup(Generic[T]):
    """Finds what is kept under names and patterns; a lookup costs one step for each length of pattern."""

    __slots__ = ("_exact", "_lengths", "_prefixes")

    def __init__(self, kept: Mapping[str, T]) -> None:
        self._exact = {name: value for name, value in kept.items() if not is_pattern(name)}
        self._prefixes = {name[:-1]: value for name, value in kept.items() if is_pattern(name)}
        self._lengths = sorted({len(prefix) for prefix in self._prefixes}, reverse=True)

    def all(self, model: str) -> Iterator[T]:
        """What is kept for `model`: the exact name first, then patterns, the longest first."""
        if model in self._exact:
            yield self._exact[model]
        for length in self._lengths:
            prefix = model[:length]
            if len(prefix) == length and prefix in self._prefixes:
                yield self._prefixes[prefix]

    def first(self, model: str) -> T | None:
        """The most specific of `all`, None where nothing is kept."""
        return next(self.all(model), None)


def visible(offered: Iterable[str], allowed: Iterable[str] | None) -> tuple[str, ...]:
    """Sorted names and patterns that stand for what is both offered and allowed; None allows all."""
    if allowed is None:
        return tuple(sorted(set(offered)))
    limits = tuple(allowed)
    shown = (narrower(name, limit) for name in offered for limit in limits)
    return tuple(sorted({name for name in shown if name is not None}))
