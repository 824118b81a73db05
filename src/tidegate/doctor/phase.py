"""How far a stream has come."""

from enum import Enum


class Phase(Enum):
    """Of one stream, as its reader sees it."""

    BEFORE = "before"
    """Nothing has come yet."""
    RUNNING = "running"
    """It has begun."""
    ENDED = "ended"
    """Its end mark has come."""
    FAILED = "failed"
    """An error has ended it."""

    @property
    def is_over(self) -> bool:
        """Whether nothing more may come."""
        return self in (Phase.ENDED, Phase.FAILED)
