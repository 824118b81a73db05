"""Counts how long the silences between the useful events of streams were."""

from math import frexp

from msgspec import Struct, field

FIRST, LAST = -10, 8
"""The narrowest and the widest class have these powers of two as their bounds, in seconds: 1 ms to 256 s."""
BOUNDS = tuple(2.0**power for power in range(FIRST, LAST + 1))
"""Upper bounds of the classes in seconds; what is longer is in one more."""

_POWERS = 64
NONE = 1e-9
"""Added to every gap, for zero has no power of two; no clock tells so short a time apart."""


class Gaps(Struct):
    """Silences by their power of two.

    `add` is cheap, and the relay has it written out for most events.
    """

    powers: list[int] = field(default_factory=lambda: [0] * _POWERS)
    """At each place the gaps with that binary exponent; negative ones count from the end."""
    seconds: float = 0.0
    """All gaps together."""

    def add(self, gap: float) -> None:
        """Count a silence of so many seconds."""
        self.powers[frexp(gap + NONE)[1]] += 1
        self.seconds += gap

    def classes(self) -> list[int]:
        """How many gaps fall into each class of BOUNDS, and last how many are longer than all."""
        half = _POWERS // 2
        narrow = sum(self.powers[power] for power in range(-half, FIRST + 1))
        between = [self.powers[power] for power in range(FIRST + 1, LAST + 1)]
        return [narrow, *between, sum(self.powers[LAST + 1 : half])]
