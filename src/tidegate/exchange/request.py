"""Everything that one admitted request needs, gathered once."""

from collections.abc import Callable
from functools import partial

from msgspec import Struct, field, structs

from tidegate.core.failure import Failure
from tidegate.core.protocol import Protocol
from tidegate.core.usage import Usage
from tidegate.engine.actions import AppendError, Complete, Failover, Refuse
from tidegate.exchange.attempt import Ended, Refusal
from tidegate.exchange.estimates import guess_prompt
from tidegate.exchange.heartbeat import Heartbeat
from tidegate.exchange.ports import (
    AttemptRecord,
    Books,
    Call,
    ClientPipe,
    Limits,
    Sink,
    Tokenizer,
    Upstream,
    UpstreamRequest,
)
from tidegate.exchange.prepared import Crossing, Prepared, Preparer
from tidegate.exchange.snapshot import Snapshot
from tidegate.exchange.story import Story
from tidegate.exchange.tally import Tally
from tidegate.exchange.traced import TraceRules
from tidegate.exchange.tries import Once, Tries
from tidegate.exchange.uplink import headers_up, with_trace
from tidegate.protocols.base import Asked, Clean, Dialect, Seed, Watcher
from tidegate.protocols.carrier import sealer
from tidegate.protocols.cleaning import clean, cleaned_failure
from tidegate.protocols.conversion import AnswerContext
from tidegate.protocols.converting import ConvertingWatcher
from tidegate.protocols.failures import error_headers
from tidegate.protocols.pairs import halves_of
from tidegate.routing.breaker import Health
from tidegate.routing.catalog import Candidate, Key

_COUNT_TOKENS = "/count_tokens"


class World(Struct, frozen=True, kw_only=True):
    """The ports and shared state that every request uses."""

    upstream: Upstream
    health: Health
    heartbeat: Heartbeat
    clock: Callable[[], float]
    """Monotonic seconds."""
    wall: Callable[[], float]
    """Unix seconds."""
    tokenizer: Tokenizer
    books: Books
    limits: Limits
    new_id: Callable[[], str]
    """A random part for an id: letters and digits."""
    tally: Tally = field(default_factory=Tally)
    tracing: TraceRules | None = None
    """None: nobody asked for traces."""
    tell_failed: Callable[[str, AttemptRecord], None] = lambda _id, _attempt: None
    """Told of each try that failed, when it has, with the request's id."""


class Request(Struct, frozen=True, kw_only=True):
    """An admitted request: what is asked, by whom, and how its channels are called."""

    world: World
    snapshot: Snapshot
    dialect: Dialect
    """The caller's."""
    asked: Asked
    key: Key
    story: Story
    preparer: Preparer
    accepted_at: float
    """When it had been read (monotonic): the hold of its money is a part of what the caller waits for."""
    counts: bool = False
    """Only the tokens of the prompt are asked for."""

    @property
    def account(self) -> str:
        """Who asks."""
        return self.key.account

    @property
    def heartbeat(self) -> Heartbeat:
        """The timer of open calls."""
        return self.world.heartbeat

    def tries(self, once: Once, used: Callable[[], Usage | None]) -> Tries:
        """The loop over channels, with `once` as the call; `used` is what the last one told of usage."""
        world = self.world
        return Tries(
            asked=self.asked,
            story=self.story,
            health=world.health,
            clock=world.clock,
            wall=world.wall,
            max_attempts=self.snapshot.settings.max_attempts,
            prepare=self.preparer.prepare,
            once=once,
            used=used,
            new_refusal=self.refusal,
            tell_failed=partial(world.tell_failed, self.story.incoming.id),
            stopped=lambda: world.heartbeat.stopped,
        )

    def open(self, prepared: Prepared, sink: Sink) -> Call:
        """Start a call on a channel."""
        channel = prepared.candidate.channel
        headers = headers_up(
            self.story.incoming,
            self.account,
            channel,
            self.snapshot.settings.secret,
            stream=prepared.asked.stream,
        )
        tracing, trace = self.world.tracing, self.story.incoming.trace
        if trace is not None and tracing is not None and tracing.propagates:
            headers = with_trace(headers, trace, len(self.story.attempts))
        path = prepared.dialect.path + (_COUNT_TOKENS if self.counts else "")
        return self.world.upstream.open(channel, UpstreamRequest("POST", path, headers, prepared.body), sink)

    def watcher(self, prepared: Prepared | None) -> Watcher:
        """A reader for a stream of the channel; without one, a writer of error events for the caller."""
        seed = Seed(self.story.incoming.id.removeprefix("req_"), int(self.story.incoming.created_at))
        if prepared is None:
            return self.dialect.watcher(self.asked, self.cleaner(None), seed)
        cleaner = self.cleaner(prepared.candidate)
        native = prepared.dialect.watcher(prepared.asked, cleaner, seed)
        if prepared.crossing is None:
            return native
        written = prepared.crossing.written
        return ConvertingWatcher(
            native,
            halves_of(prepared.dialect.protocol).decoder(),
            halves_of(self.dialect.protocol).encoder(self._context(prepared.crossing, prepared, seed)),
            written.stops,
            cleaner,
            wants_usage=self.asked.wants_usage or not self.asked.stream,  # no whole answer is without
        )

    def _context(self, crossing: Crossing, prepared: Prepared, seed: Seed) -> AnswerContext:
        channel = prepared.candidate.channel
        secret = self.snapshot.settings.secret.reveal().encode()
        conversation = crossing.conversation
        tells_at_start = self.dialect.protocol is Protocol.MESSAGES
        return AnswerContext(
            asked=self.asked,
            conversation=conversation,
            upstream=prepared.dialect.protocol,
            seed=seed,
            seal=sealer(secret, self.account, channel.group or channel.name),
            names=crossing.written.names,
            input_estimate=guess_prompt(conversation) if tells_at_start else None,
        )

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

    def refusal(self, prepared: Prepared) -> Refusal:
        """Reads an answer of an upstream that is not 2xx."""
        dialect, now = prepared.dialect, self.world.wall()
        return Refusal(lambda status, headers, body: dialect.read_refusal(status, headers, body, now))


def _host(base_url: str) -> str:
    return base_url.partition("://")[2].partition("/")[0]
