"""What may be done about a signal."""

from typing import TypeAlias

from msgspec import Struct

from tidegate.core.failure import Failure


class Wait(Struct, frozen=True):
    """Nothing to do before `until` (clock seconds; infinity where no limit is set)."""

    until: float


class Open(Struct, frozen=True):
    """Send status 200 and one comment: the client has waited long enough for a sign."""


class Keepalive(Struct, frozen=True):
    """Send one comment."""


class Failover(Struct, frozen=True):
    """Give up this attempt; the client has heard no word, so another channel may speak."""

    failure: Failure


class Refuse(Struct, frozen=True):
    """The request itself is at fault: no other channel will do better."""

    failure: Failure


class AppendError(Struct, frozen=True):
    """End the client's stream with an error event.

    `told` is what that event says where it is not the failure itself: the gateway's own words for a break.
    """

    failure: Failure
    told: Failure | None = None


class Complete(Struct, frozen=True):
    """The answer is whole although the upstream has not closed it."""


Action: TypeAlias = Wait | Open | Keepalive | Failover | Refuse | AppendError | Complete
