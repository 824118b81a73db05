"""Who a connection works with: the request that is on it, the place that keeps it."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol, TypeAlias

from tidegate.core.failure import Failure
from tidegate.exchange.ports import Headers

if TYPE_CHECKING:
    from tidegate.upstream.connection import Connection

Push: TypeAlias = Callable[[bytes], None]
"""Takes body bytes."""


class Listener(Protocol):
    """The request that is on a connection. `on_whole` or `on_broken` comes last, once."""

    def on_head(self, status: int, headers: Headers) -> Push:
        """The final head; the result takes the body, as it comes off the wire."""

    def on_whole(self) -> None:
        """The body is whole. The connection is already free again, or closed."""

    def on_broken(self, failure: Failure, *, heard: bool) -> None:
        """The connection is closed; `heard` tells whether the peer had said anything to this request."""


class Home(Protocol):
    """Where connections are kept."""

    def opened(self, connection: "Connection") -> None:
        """It stands."""

    def give_back(self, connection: "Connection") -> None:
        """It can take another request."""

    def withdraw(self, connection: "Connection") -> None:
        """An idle one must not be used again."""

    def closed(self, connection: "Connection") -> None:
        """It is gone."""


def drop(_: bytes) -> None:
    """Take body bytes that nobody wants any more."""
