"""How the database behaves in a run."""

from msgspec import Struct


class Troubles(Struct, frozen=True):
    """How the database behaves. `away` are times from and to; shares from 0 to 1."""

    away: tuple[tuple[float, float], ...] = ()
    fails: float = 0.0
    loses_answers: float = 0.0
    """Commits of which the process never hears."""
    windows: tuple[float, ...] = (0.002, 0.03)
    """Seconds that a commit takes."""

    def is_away(self, now: float) -> bool:
        """Whether nothing can be committed at this time."""
        return any(start <= now < end for start, end in self.away)

    @property
    def none(self) -> bool:
        """Whether all goes well."""
        return not self.away and not self.fails and not self.loses_answers and max(self.windows) < 0.1
