"""Everything that one admitted request needs, gathered once."""

from collections.abc import Callable
from functools import partial

from msgspec import Struct, structs

from tidegate.core.failure import Failure
from tidegate.engine.actions import AppendError, Complete, Failover, Refuse
from tidegate.exchange.attempt import Ended, Refusal
from tidegate.exchange.heartbeat import Heartbeat
from tidegate.exchange.ports import Call, ClientPipe, Sink, Upstream, UpstreamRequest
from tidegate.exchange.snapshot import Snapshot
from tidegate.exchange.story import Story
from tidegate.exchange.tries import Once, Tries
from tidegate.exchange.uplink import headers_up
from tidegate.protocols.base import Asked, Clean, Dialect, Seed, Watcher
from tidegate.protocols.cleaning import clean, cleaned_failure
from tidegate.protocols.failures import error_headers
from tidegate.routing.breaker import Health
from tidegate.routing.catalog import Candidate


class World(Struct, frozen=True, kw_only=True):
    """The ports and shared state that every request uses."""

    upstream: Upstream
    health: Health
    heartbeat: Heartbeat
    clock: Callable[[], float]
    """Monotonic seconds."""
    wall: Callable[[], float]
    """Unix seconds."""
    new_id: Callable[[], str]
    """A random part for an id: letters and digits."""


class Request(Struct, frozen=True, kw_only=True):
    """An admitted request: what is asked, by whom, and how its channels are called."""

    world: World
    snapshot: Snapshot
    dialect: Dialect
    asked: Asked
    account: str
    story: Story
    path: str
    """Appended to a channel's base URL."""

    @property
    def heartbeat(self) -> Heartbeat:
        """The timer of open calls."""
        return self.world.heartbeat

    def tries(self, once: Once) -> Tries:
        """The loop over channels, with `once` as the call."""
        world = self.world
        return Tries(
            dialect=self.dialect,
            asked=self.asked,
            story=self.story,
            health=world.health,
            clock=world.clock,
            wall=world.wall,
            max_attempts=self.snapshot.settings.max_attempts,
            once=once,
            new_refusal=self.refusal,
        )

    def open(self, candidate: Candidate, body: bytes, sink: Sink) -> Call:
        """Start a call on a channel."""
        headers = headers_up(
            self.story.incoming,
            self.account,
            candidate.channel,
            self.snapshot.settings.secret,
            stream=self.asked.stream,
        )
        return self.world.upstream.open(
            candidate.channel, UpstreamRequest("POST", self.path, headers, body), sink
        )

    def watcher(self, candidate: Candidate | None) -> Watcher:
        """A reader for a stream of the channel; without one, a writer of error events for the caller."""
        seed = Seed(self.story.incoming.id.removeprefix("req_"), int(self.story.incoming.created_at))
        return self.dialect.watcher(self.asked, self.cleaner(candidate), seed)

    def cleaner(self, candidate: Candidate | None) -> Clean:
        """What takes the channel's credentials and host out of messages."""
        if candidate is None:
            return partial(clean, secrets=(), hosts=())
        channel = candidate.channel
        secrets = tuple(secret.reveal() for secret in channel.secrets)
        return partial(clean, secrets=secrets, hosts=(_host(channel.base_url),))

    def refuse(self, pipe: ClientPipe, failure: Failure) -> int:
        """Answer with the HTTP error of a failure; gives the status."""
        status, body = self.dialect.error_answer(failure, self.story.incoming.id)
        pipe.answer(status, error_headers(failure), body)
        return status

    def cleaned(self, ended: Ended, candidate: Candidate) -> Ended:
        """The end of an attempt, told without the channel's credential and host."""
        match ended:
            case Complete():
                return ended
            case AppendError(failure) | Failover(failure) | Refuse(failure):
                return structs.replace(ended, failure=cleaned_failure(failure, self.cleaner(candidate)))

    def refusal(self) -> Refusal:
        """Reads an answer of an upstream that is not 2xx."""
        dialect, now = self.dialect, self.world.wall()
        return Refusal(lambda status, headers, body: dialect.read_refusal(status, headers, body, now))


def _host(base_url: str) -> str:
    return base_url.partition("://")[2].partition("/")[0]
