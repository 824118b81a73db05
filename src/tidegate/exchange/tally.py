"""What a process counts while its requests run, besides what their rows tell."""

from msgspec import Struct, field

from tidegate.core.protocol import Protocol
from tidegate.engine.gaps import Gaps


class Tally(Struct, kw_only=True):
    """Whoever shows it reads it; counts never go down, what is open now does."""

    gaps: dict[Protocol, Gaps] = field(default_factory=lambda: {protocol: Gaps() for protocol in Protocol})
    """Silences between the events of streams, by the caller's protocol."""
    keepalives: int = 0
    """Comments that were written."""
    opened: int = 0
    """Streams whose status went out with a comment, before anything useful had come."""
    refusals: dict[tuple[str, str], int] = field(default_factory=dict)
    """Requests that a limit turned away: by what was too much, and whose limit it was (key, account)."""
    holds: int = 0
    """Requests that hold money now."""
    held: int = 0
    """What they hold, in nano-USD."""

    def refuse(self, what: str, owner: str) -> None:
        """A limit turned a request away."""
        self.refusals[what, owner] = self.refusals.get((what, owner), 0) + 1

    def hold(self, amount: int) -> None:
        """A request holds money."""
        self.holds += 1
        self.held += amount

    def free(self, amount: int) -> None:
        """It holds it no longer."""
        self.holds -= 1
        self.held -= amount
