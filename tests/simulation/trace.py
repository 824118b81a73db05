"""What happened, in order: kept cheaply, told only for a seed that fails."""

from collections.abc import Callable
from typing import Any

from msgspec import NODEFAULT, Struct
from msgspec.structs import fields


class Trace:
    """Lines with their virtual time; words are put together only when they are read."""

    def __init__(self) -> None:
        self.clock: Callable[[], float] = float
        self._lines: list[tuple[float, str, tuple[Any, ...]]] = []
        self.breaches: list[str] = []
        """Broken promises that were seen as they happened."""
        self._appointments: dict[int, Callable[[], object]] = {}
        self.deaf = False
        """The process is dead: what its remains do is no part of the story."""

    def now(self) -> float:
        """Virtual seconds."""
        return self.clock()

    def begin(self, clock: Callable[[], float]) -> None:
        """Another life begins."""
        self.clock, self.deaf = clock, False
        self._appointments.clear()

    def meet(self, steps: int, work: Callable[[], object]) -> None:
        """Do `work` as soon as so many more things have happened, in the same moment as the last of them."""
        self._appointments[len(self._lines) + steps] = work

    def note(self, words: str, *values: Any) -> None:
        """`words` is a format string for `values`."""
        if not self.deaf:
            self._lines.append((self.clock(), words, values))
            work = self._appointments.pop(len(self._lines), None)
            if work is not None:
                work()

    def breach(self, words: str) -> None:
        """A promise was broken just now."""
        self.note("BREACH %s", words)
        if not self.deaf:
            self.breaches.append(words)

    def lines(self, *, width: int | None = None) -> list[str]:
        """The whole story; with `width` long values show their two ends."""
        return [
            f"{time:9.3f}  {words % tuple(_shown(value, width) for value in values)}"
            for time, words, values in self._lines
        ]


def _shown(value: Any, width: int | None) -> Any:
    if isinstance(value, Struct):
        return _Short(value)
    if width is None or not isinstance(value, bytes) or len(value) <= width:
        return value
    return value[: width // 2] + b" ... " + value[-width // 2 :]


class _Short:
    """A value without the fields that nobody has set."""

    def __init__(self, value: Struct) -> None:
        self._value = value

    def __repr__(self) -> str:
        told = []
        for field in fields(self._value):
            value = getattr(self._value, field.name)
            if field.default is NODEFAULT or value != field.default:
                told.append(f"{field.name}={value!r}")
        return f"{type(self._value).__name__}({', '.join(told)})"

    __str__ = __repr__
