"""Counts the limits of keys and accounts over all nodes that share a Redis."""

import asyncio
from collections import deque
from collections.abc import Iterator, Sequence
from functools import lru_cache

from msgspec import Struct

from tidegate.routing import quota
from tidegate.routing.quota import Admitted, Scope, State, Verdict
from tidegate.storage.counters import NO_LIMITS, LocalCounters
from tidegate.storage.redis_link import Answer, RedisLink
from tidegate.storage.redis_scripts import ADMIT, FINISH, LEASE, LIMITS, RENEW

RENEW_EVERY = 5.0
"""Seconds between two renewals of a lease."""
_LEASE = b"%g" % LEASE
_GATHER = 0.02
_BATCH = 100
_MOST_ENDED = 20_000


class _Held(Struct, eq=False):
    """An open request. `charged`: Redis has taken its estimate."""

    scopes: Sequence[Scope]
    charged: bool


class _End(Struct, frozen=True):
    """What is left to be said in one scope about a request that has ended."""

    request_id: str
    scope: Scope
    difference: float


class RedisCounters:
    """Implements `exchange.ports.Limits`: Redis decides, and this machine while Redis is away.

    This machine counts everything as well, and goes on from what it knows when Redis goes. The place of an
    open request is a lease in Redis: those of a node that dies are free again after LEASE seconds.
    """

    def __init__(self, link: RedisLink, local: LocalCounters) -> None:
        self._link = link
        self._local = local
        self._open: dict[str, _Held] = {}
        self._ended: deque[_End] = deque(maxlen=_MOST_ENDED)
        self._telling: asyncio.TimerHandle | None = None
        self._renewal: asyncio.Task[None] | None = None
        link.when_up(self._catch_up)

    async def admit(self, request_id: str, scopes: Sequence[Scope], tokens: int) -> Verdict:
        """See `Limits`. Waits for Redis a quarter of a second at most, and not at all once it is away."""
        scopes = [scope for scope in scopes if quota.has_limits(scope)]
        if not scopes:
            return NO_LIMITS
        told = await self._ask(request_id, scopes, tokens) if self._link.up else None
        if told is None:
            verdict = self._local.admit_now(request_id, scopes, tokens)
            if isinstance(verdict, Admitted):
                self._open[request_id] = _Held(scopes, charged=False)
            return verdict
        admitted, states = _read(told)
        if not admitted:
            return quota.limited(scopes, states, tokens)
        self._local.note(request_id, scopes, tokens)
        self._open[request_id] = _Held(scopes, charged=True)
        after = [quota.taken(scope, state, tokens) for scope, state in zip(scopes, states, strict=True)]
        return Admitted(quota.levels(scopes, after))

    def finish(self, request_id: str, scopes: Sequence[Scope], estimated: int, used: int) -> None:
        """See `Limits`. What was not admitted, or has ended before, changes nothing."""
        held = self._open.pop(request_id, None)
        if held is None:
            return
        self._local.finish(request_id, scopes, estimated, used)
        self._end(request_id, held.scopes, estimated if held.charged else 0, used)

    async def open(self) -> None:
        """Begin to renew leases."""
        self._renewal = asyncio.create_task(self._keep_leases())

    async def close(self) -> None:
        """Tell Redis what has ended; the link is closed by whoever opened it."""
        if self._renewal is not None:
            self._renewal.cancel()
            await asyncio.gather(self._renewal, return_exceptions=True)
        self._tell()

    async def _ask(self, request_id: str, scopes: Sequence[Scope], tokens: int) -> Answer:
        waiting: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()

        def told(answer: Answer) -> None:
            if waiting.cancelled():
                take_back(answer)
            else:
                waiting.set_result(answer)

        def take_back(answer: Answer) -> None:
            """The client has left meanwhile."""
            if answer is not None and _read(answer)[0]:
                self._end(request_id, scopes, tokens, 0)

        keys: list[bytes] = []
        limits: list[bytes] = []
        for scope in scopes:
            keys += _keys(scope)
            limits += _limits(scope, tokens)
        more = (request_id.encode(), _LEASE, *limits)
        self._link.run(ADMIT, keys, more, told)
        try:
            return await waiting
        except asyncio.CancelledError:
            if not waiting.cancelled():  # the answer was here, and was not looked at any more
                take_back(waiting.result())
            raise

    def _end(self, request_id: str, scopes: Sequence[Scope], estimated: int, used: int) -> None:
        for scope in scopes:
            difference = quota.token_cost(scope, used) - quota.token_cost(scope, estimated)
            self._ended.append(_End(request_id, scope, difference))
        if self._telling is None:
            self._telling = asyncio.get_running_loop().call_later(_GATHER, self._tell)

    def _tell(self) -> None:
        """Send what has ended; while Redis is away it waits, the newest that there is room for."""
        self._telling = None
        while self._ended and self._link.connected:
            batch = [self._ended.popleft() for _ in range(min(_BATCH, len(self._ended)))]
            keys: list[bytes] = []
            more: list[bytes] = []
            for end in batch:
                keys += _keys(end.scope)
                more += (end.request_id.encode(), _number(end.difference))
            self._link.run(FINISH, keys, more, None)

    def _catch_up(self) -> None:
        """Redis is back: it hears first what has ended, and of all that is open here."""
        self._tell()
        for batch in _batches(self._leases()):
            self._renew(batch)

    async def _keep_leases(self) -> None:
        while True:
            await asyncio.sleep(RENEW_EVERY)
            for batch in _batches(self._leases()):
                self._renew(batch)
                await asyncio.sleep(0)  # others have their turn

    def _leases(self) -> list[tuple[bytes, str]]:
        return [
            (_keys(scope)[1], request_id)
            for request_id, held in self._open.items()
            for scope in held.scopes
            if scope.max_concurrency is not None
        ]

    def _renew(self, batch: Sequence[tuple[bytes, str]]) -> None:
        alive = [(key, request_id) for key, request_id in batch if request_id in self._open]
        if alive:
            ids = [request_id.encode() for _, request_id in alive]
            self._link.run(RENEW, [key for key, _ in alive], (_LEASE, *ids), None)


def _batches(leases: list[tuple[bytes, str]]) -> Iterator[list[tuple[bytes, str]]]:
    return (leases[at : at + _BATCH] for at in range(0, len(leases), _BATCH))


@lru_cache(8192)
def _keys(scope: Scope) -> tuple[bytes, bytes]:
    """The names of a scope's rates and of its places."""
    name = scope.name.encode("utf-8", "surrogatepass")
    return LIMITS + b"rate:" + name, LIMITS + b"open:" + name


def _limits(scope: Scope, tokens: int) -> tuple[bytes, bytes, bytes]:
    return (
        b"%d" % (scope.max_concurrency or 0),
        b"-1" if scope.requests_per_minute is None else _number(quota.request_cost(scope)),
        b"-1" if scope.tokens_per_minute is None else _number(quota.token_cost(scope, tokens)),
    )


def _number(seconds: float) -> bytes:
    return repr(seconds).encode()


def _read(told: bytes) -> tuple[bool, list[State]]:
    """Whether a request is admitted, and what its scopes had in use before."""
    admitted, *parts = told.split()
    places = range(0, len(parts), 3)
    states = [State(0.0, float(parts[at]), float(parts[at + 1]), int(parts[at + 2])) for at in places]
    return admitted == b"1", states
