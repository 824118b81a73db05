"""What can happen to a stream, and how far it has come."""

from enum import Enum
from typing import TypeAlias

from msgspec import Struct

from tidegate.core.failure import Failure


class Phase(Enum):
    """What the client has received."""

    SILENT = "silent"
    """Nothing: the HTTP status is still free."""
    OPENED = "opened"
    """Status 200, perhaps comments: another channel may still take over."""
    SPOKEN = "spoken"
    """At least one useful event: the channel is settled."""


class Limits(Struct, frozen=True):
    """Seconds; zero switches a limit off."""

    commit_after: float
    keepalive: float
    first_event: float
    idle: float
    usage_wait: float = 5.0
    """Chat: how long usage and the end mark are awaited after the finish."""


class Progress(Struct):
    """How far one request has come; clock readings in seconds. Attempts inherit it from one another."""

    accepted_at: float
    attempt_at: float
    heard_at: float
    """Last event of the model in this attempt."""
    wrote_at: float
    """Last byte to the client."""
    phase: Phase = Phase.SILENT
    reasoning_at: float | None = None
    """When this attempt opened a reasoning block before its first useful event."""
    finished_at: float | None = None
    """Chat: when the last awaited finish reason came."""
    opened_at: float | None = None
    """When the phase became OPENED."""
    committed_at: float | None = None
    """When the phase became SPOKEN."""
    first_useful_at: float | None = None
    useful_at: float | None = None
    """The first useful event of this attempt."""
    spoke_at: float | None = None
    """The last useful event of this attempt."""

    def begin_attempt(self, now: float) -> None:
        """Another channel takes over: what the last one had begun does not count."""
        self.attempt_at = self.heard_at = now
        self.reasoning_at = self.finished_at = self.useful_at = self.spoke_at = None

    def note_useful(self, now: float) -> None:
        """A useful event came."""
        self.spoke_at = now
        if self.useful_at is None:
            self.useful_at = now
            if self.first_useful_at is None:
                self.first_useful_at = now

    def wait_for_client(self, now: float) -> None:
        """The client is behind and the upstream is held: neither is silent, so no limit runs."""
        self.heard_at = self.wrote_at = now
        if self.spoke_at is not None:
            self.spoke_at = now
        if self.phase is not Phase.SPOKEN:
            self.attempt_at = now
        if self.finished_at is not None:
            self.finished_at = now


class Quiet(Struct, frozen=True):
    """Time has passed."""


class Broke(Struct, frozen=True):
    """The attempt cannot go on."""

    failure: Failure


Signal: TypeAlias = Quiet | Broke
