"""A stage on which one exchange is played: every port is a recorder, and time moves only when told."""

import asyncio
import json
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from math import inf
from typing import Any

from msgspec import structs
from tests.unit.exchange.money import FakeBooks, FakeLimits

from tidegate.core.failure import Failure, Kind
from tidegate.core.protocol import Protocol
from tidegate.core.secret import Secret
from tidegate.engine.relay import Wording
from tidegate.exchange.heartbeat import Heartbeat
from tidegate.exchange.lifecycle import Exchange
from tidegate.exchange.ports import Call, Headers, RequestRecord, Sink, UpstreamRequest
from tidegate.exchange.request import World
from tidegate.exchange.settlement import Settlement
from tidegate.exchange.snapshot import Settings, Snapshot
from tidegate.exchange.story import Incoming
from tidegate.routing.breaker import Health, Rules
from tidegate.routing.catalog import Account, Catalog, Channel, Key, Model, digest
from tidegate.routing.quota import Admitted

CUT = Failure(kind=Kind.UPSTREAM, message="the upstream cut the answer")
KEY = Key(name="laptop", account="acme")
SECRET = "sk-tg-caller"


class Clock:
    """Monotonic seconds."""

    def __init__(self, now: float = 1000.0) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now


class Timer:
    """Stands for the loop of a heartbeat: what is due is kept until it is fired."""

    def __init__(self) -> None:
        self.due: list[Callable[[], object]] = []
        self.faults: list[BaseException] = []

    def call_later(self, delay: float, work: Callable[[], object]) -> "Timer":
        assert 0 < delay <= 1
        self.due.append(work)
        return self

    def call_exception_handler(self, context: Mapping[str, Any]) -> None:
        self.faults.append(context["exception"])

    def fire(self) -> None:
        works, self.due = self.due, []
        for work in works:
            work()


class FakeCall:
    """One call as the exchange holds it, with the sink to push into."""

    def __init__(self, channel: Channel, request: UpstreamRequest, sink: Sink) -> None:
        self.channel = channel
        self.request = request
        self.sink = sink
        self.done: list[str] = []

    def cancel(self) -> None:
        self.done.append("cancel")

    def finish(self) -> None:
        self.done.append("finish")

    def pause(self) -> None:
        self.done.append("pause")

    def resume(self) -> None:
        self.done.append("resume")

    @property
    def over(self) -> bool:
        return "cancel" in self.done or "finish" in self.done

    def head(self, status: int = 200, **headers: str) -> None:
        self.sink.on_head(status, {name.replace("_", "-"): value for name, value in headers.items()})

    def body(self, *parts: bytes) -> None:
        """Push as an upstream does: nothing after the exchange has had enough."""
        for part in parts:
            if not self.over:
                self.sink.on_body(part)

    def end(self) -> None:
        if not self.over:
            self.sink.on_end()

    def fail(self, failure: Failure = CUT) -> None:
        if not self.over:
            self.sink.on_failure(failure)

    def answer(self, status: int, body: bytes, **headers: str) -> None:
        self.head(status, **headers)
        if body:
            self.body(body)
        self.end()


Play = Callable[[FakeCall], None]


class FakeUpstream:
    """Remembers each call; plays one of `plays` on it, or leaves it open where none is left."""

    def __init__(self) -> None:
        self.calls: list[FakeCall] = []
        self.plays: deque[Play] = deque()
        self.fault: Exception | None = None

    def open(self, channel: Channel, request: UpstreamRequest, sink: Sink) -> Call:
        if self.fault is not None:
            raise self.fault
        call = FakeCall(channel, request, sink)
        self.calls.append(call)
        if self.plays:
            asyncio.get_running_loop().call_soon(self.plays.popleft(), call)
        return call


class Pipe:
    """Records what a client gets, and refuses to be written to after its end."""

    def __init__(self) -> None:
        self.paused = False
        self.given_up = False
        self.call: Call | None = None
        self.written = b""
        self.ended = False
        self.status: int | None = None
        self.headers: dict[str, str] = {}
        self.warnings: str | None = None
        """What the head told of losses, once it was sent."""
        self._warned: str | None = None
        self.extra: Headers = []
        """More headers, as far as they were known when the head was sent."""
        self._more: Headers = []

    def add_headers(self, headers: Headers) -> None:
        self._more = [*self._more, *headers]

    def warn(self, warnings: str | None) -> None:
        self._warned = warnings

    def attach(self, call: Call | None) -> None:
        self.call = call
        if call is not None and self.paused:
            call.pause()

    def write(self, data: bytes) -> None:
        assert not self.ended, f"written after the end: {data!r}"
        assert data
        self._send_head(200)
        self.written += data

    def finish(self, data: bytes) -> None:
        assert not self.ended, f"ended twice: {data!r}"
        self._send_head(200)
        self.ended = True
        self.written += data

    def answer(self, status: int, headers: Headers, body: bytes) -> None:
        assert self.status is None, "an answer after a stream has begun"
        self._send_head(status)
        self.ended, self.written = True, body
        self.headers = dict(headers)

    def _send_head(self, status: int) -> None:
        if self.status is None:
            self.status, self.warnings, self.extra = status, self._warned, self._more

    @property
    def error(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.written)["error"]
        return found


class FakeJournal(list[RequestRecord]):
    """The rows."""

    def write(self, record: RequestRecord) -> None:
        self.append(record)


class FakeOwnership:
    """Owners in a dict; a lookup may wait or fail."""

    def __init__(self) -> None:
        self.owners: dict[tuple[str, str], str] = {}
        self.gate: asyncio.Future[None] | None = None
        self.fault: Exception | None = None

    def remember(self, ids: Iterable[str], account: str, group: str) -> None:
        self.owners |= {(identifier, account): group for identifier in ids}

    async def find(self, identifier: str, account: str) -> str | None:
        if self.fault is not None:
            raise self.fault
        if self.gate is not None:
            await self.gate
        return self.owners.get((identifier, account))


class FakeTokenizer:
    """A token is a word; a count may wait or fail."""

    def __init__(self) -> None:
        self.gate: asyncio.Future[None] | None = None
        self.fault: Exception | None = None
        self.counts = 0

    async def count(self, texts: Iterable[str]) -> int:
        self.counts += 1
        if self.fault is not None:
            raise self.fault
        if self.gate is not None:
            await self.gate
        return sum(len(text.split()) for text in texts)


def channel(name: str = "a", protocol: Protocol = Protocol.CHAT, **members: Any) -> Channel:
    models = members.pop("models", {"m": "up"})
    return Channel(
        name=name,
        protocol=protocol,
        base_url=f"https://{name}.example.com/v1",
        api_key=Secret(f"credential-of-channel-{name}"),
        models=models,
        priority=members.pop("priority", -ord(name[0])),
        **members,
    )


def settings(**members: Any) -> Settings:
    return Settings(wording=Wording("timed out", "failed"), secret=Secret("own"), **members)


class Scene:
    """All parts of an exchange, and the request that is played on it."""

    def __init__(
        self,
        *channels: Channel,
        key: Key = KEY,
        models: Iterable[Model] = (),
        accounts: Iterable[Account] = (),
        **members: Any,
    ) -> None:
        """`members` are settings."""
        self.key = key
        self.clock = Clock()
        self.timer = Timer()
        self.upstream = FakeUpstream()
        self.pipe = Pipe()
        self.rows = FakeJournal()
        self.logged: list[RequestRecord] = []
        self.failed_as: list[Kind | None] = []
        self.ownership = FakeOwnership()
        self.tokenizer = FakeTokenizer()
        self.books = FakeBooks()
        self.limits = FakeLimits()
        self.health = Health(Rules())
        self.heartbeat = Heartbeat(self.timer, self.clock)  # type: ignore[arg-type]  # two methods of a loop
        self.world = World(
            upstream=self.upstream,
            health=self.health,
            heartbeat=self.heartbeat,
            clock=self.clock,
            wall=lambda: 1e9 + self.clock.now,
            tokenizer=self.tokenizer,
            books=self.books,
            limits=self.limits,
            new_id=lambda: "i" * 24,
        )
        settle = Settlement(self.rows, self.ownership, self.limits, self.clock, self._tell, self.world.tally)
        catalog = Catalog(channels or (channel(),), models, {digest(SECRET): key}, accounts)
        self.exchange = Exchange(self.world, Snapshot(catalog, settings(**members)), settle, self.ownership)
        self.tasks: list[asyncio.Task[None]] = []

    def _tell(self, record: RequestRecord, kind: Kind | None) -> None:
        self.logged.append(record)
        self.failed_as.append(kind)

    def incoming(self, protocol: Protocol = Protocol.CHAT, **headers: str) -> Incoming:
        return Incoming(
            id="req_1",
            protocol=protocol,
            accepted_at=self.clock.now,
            created_at=1e9 + self.clock.now,
            headers={name.replace("_", "-"): value for name, value in headers.items()},
        )

    async def start(self, body: object, protocol: Protocol = Protocol.CHAT, *, counts: bool = False) -> None:
        """Begin to serve a request and go as far as that goes without upstream."""
        text = body if isinstance(body, bytes) else json.dumps(body).encode()
        serve = self.exchange.count if counts else self.exchange.serve
        work = serve(self.incoming(protocol), self.key, text, self.pipe)
        self.tasks.append(asyncio.get_running_loop().create_task(work))
        await turns()

    async def play(self, body: object, *plays: Play, protocol: Protocol = Protocol.CHAT) -> None:
        """Serve a request whose calls go as `plays` say, to its end."""
        self.upstream.plays.extend(plays)
        await self.start(body, protocol)
        await self.over()

    async def over(self) -> None:
        """The request has been served and its row is written."""
        await asyncio.wait_for(self.tasks[-1], 60)
        await self.exchange.settlement.settled()
        self.check_clean()

    async def leave(self) -> None:
        """The client goes."""
        self.tasks[-1].cancel()
        await turns()
        assert self.tasks[-1].cancelled()
        await self.exchange.settlement.settled()
        self.check_clean()

    def check_clean(self) -> None:
        """Nothing is left behind: no open call, no timer entry, no attached call, no open request."""
        assert all(call.over for call in self.upstream.calls if not self.ended_by_itself(call))
        assert len(self.heartbeat) == 0
        assert self.pipe.call is None
        assert self.exchange.open_requests == 0
        assert not self.timer.faults
        assert len(self.rows) == 1
        assert len(self.limits.finished) == sum(isinstance(verdict, Admitted) for verdict in self.limits.told)
        assert self.logged == self.rows

    def ended_by_itself(self, call: FakeCall) -> bool:
        return call.done == []

    def pass_time(self, seconds: float) -> None:
        """Let the heartbeat tick through some time."""
        end = self.clock.now + seconds
        while self.clock.now < end:
            self.clock.now = min(end, self.clock.now + 0.5)
            self.timer.fire()

    @property
    def call(self) -> FakeCall:
        """The last call that was opened."""
        return self.upstream.calls[-1]

    @property
    def row(self) -> RequestRecord:
        [row] = self.rows
        return row

    @property
    def tries(self) -> list[tuple[str, str, int | None]]:
        return [(attempt.channel, attempt.outcome, attempt.status) for attempt in self.row.attempts]

    def standings(self) -> str:
        """How each channel stands: all probes must have been handed back."""
        return " ".join(
            type(self.health.standing(each.name, "up", inf)).__name__
            for each in self.exchange.snapshot.catalog.channels
        )

    def set(self, **members: Any) -> None:
        """Change settings for the requests to come."""
        snapshot = self.exchange.snapshot
        changed = structs.replace(snapshot.settings, **members)
        self.exchange.snapshot = Snapshot(snapshot.catalog, changed)


async def turns(count: int = 12) -> None:
    """Let everything that is ready run."""
    for _ in range(count):
        await asyncio.sleep(0)
