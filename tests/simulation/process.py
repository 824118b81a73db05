"""One life of the gateway's process: the real exchange between played ports."""

import asyncio
import itertools
import json
from collections import Counter
from collections.abc import Iterable
from random import Random

from tests.simulation import speech
from tests.simulation.client import PlayedClient
from tests.simulation.disk import Disk
from tests.simulation.life import Crash, Life
from tests.simulation.limits import PlayedLimits
from tests.simulation.plays import Play, Playwright
from tests.simulation.real_disk import RealDisk
from tests.simulation.real_storage import RealStorage
from tests.simulation.scenario import (
    COMMIT_AFTER,
    FIRST_EVENT,
    IDLE,
    KEEPALIVE,
    LATER_PRICE,
    MODEL,
    MOST_OUTPUT,
    OUTPUT_PRICE,
    PRICE,
    Ask,
    Errand,
    Scenario,
)
from tests.simulation.storage import PlayedStorage
from tests.simulation.trace import Trace
from tests.simulation.upstream import PlayedUpstream
from tests.simulation.virtual_loop import VirtualLoop

from tidegate.core.failure import Failure
from tidegate.core.secret import Secret
from tidegate.engine.relay import Wording
from tidegate.exchange.heartbeat import Heartbeat
from tidegate.exchange.lifecycle import Exchange
from tidegate.exchange.ports import RequestRecord, UpstreamRequest
from tidegate.exchange.request import World
from tidegate.exchange.settlement import Settlement
from tidegate.exchange.snapshot import Settings, Snapshot
from tidegate.exchange.story import Incoming
from tidegate.routing.breaker import Health
from tidegate.routing.catalog import Catalog, Channel, Model, digest
from tidegate.storage.scope_table import ScopeTable

EPOCH = 1_700_000_000.0
_JUMP_AT = 6.0


class PlayedTokenizer:
    """A token is a word; counting takes its time."""

    def __init__(self, chance: Random) -> None:
        self._chance = chance

    async def count(self, texts: Iterable[str]) -> int:
        """See `Tokenizer`."""
        words = sum(len(text.split()) for text in texts)
        await asyncio.sleep(self._chance.choice((0.0, 0.0, 0.01, 0.1)))
        return words


class PlayedOwnership:
    """Remembers for the life of the process."""

    def __init__(self) -> None:
        self._groups: dict[tuple[str, str], str] = {}

    def remember(self, ids: Iterable[str], account: str, group: str) -> None:
        """See `Ownership`."""
        self._groups |= {(identifier, account): group for identifier in ids}

    async def find(self, identifier: str, account: str) -> str | None:
        """See `Ownership`."""
        return self._groups.get((identifier, account))


class Process:
    """The exchange with its ports, and the server's part in short."""

    def __init__(
        self,
        scenario: Scenario,
        loop: VirtualLoop,
        trace: Trace,
        disk: Disk | RealDisk,
        table: ScopeTable,
        seen: Counter[str],
        crash: Crash | None,
    ) -> None:
        """`disk` and `table` outlive a kill. `seen` counts each request's upstream calls over all lives."""
        chance = Random(f"{scenario.seed} at {loop.time()}")
        self.life = Life(loop, trace, crash)
        self._scenario = scenario
        self._trace = trace
        self.storage: PlayedStorage | RealStorage
        if isinstance(disk, RealDisk):
            self.storage = RealStorage(self.life, trace, disk, scenario.troubles, chance, self._wall)
        else:
            self.storage = PlayedStorage(self.life, trace, disk, scenario.troubles, chance)
        self.limits = PlayedLimits(table, trace, loop.time, chance)
        self.upstream = PlayedUpstream(self._write_play, trace, seen)
        self.clients: dict[str, PlayedClient] = {}
        self.logged: list[RequestRecord] = []
        self.health = Health(scenario.rules)
        self.heartbeat = Heartbeat(loop, loop.time)
        self._disk = disk
        ids = itertools.count(1)
        self.world = World(
            upstream=self.upstream,
            health=self.health,
            heartbeat=self.heartbeat,
            clock=loop.time,
            wall=self._wall,
            tokenizer=PlayedTokenizer(chance),
            books=self.storage,
            limits=self.limits,
            new_id=lambda: f"{next(ids):024d}",
        )
        ownership = PlayedOwnership()
        settlement = Settlement(
            self.storage,
            ownership,
            self.limits,
            loop.time,
            lambda record, _: self.logged.append(record),
            self.world.tally,
        )
        self.exchange = Exchange(self.world, self._snapshot(), settlement, ownership)

    async def work(self, asks: Iterable[Ask]) -> None:
        """Serve requests, each at its time, and everything that runs on after them."""
        loop = asyncio.get_running_loop()
        drawn, exchange = self._scenario, self.exchange
        if drawn.drains_at is not None and drawn.interrupts_at is not None:
            loop.call_at(drawn.drains_at, setattr, exchange, "draining", True)
            loop.call_at(drawn.interrupts_at, self._interrupt)
        if drawn.interrupts_on is not None:
            self._trace.meet(drawn.interrupts_on, lambda: loop.call_soon(self._interrupt))
        if drawn.reloads_at is not None:
            loop.call_at(drawn.reloads_at, self._reload)
        await self.storage.start()
        background = [
            loop.create_task(self.storage.run()),
            loop.create_task(exchange.checkpoints.run()),
            loop.create_task(self.storage.clean_up_beside()),
        ]
        await asyncio.gather(*(self._in_time(ask) for ask in asks))
        await exchange.settlement.settled()
        await self.storage.flush()
        for task in background:
            task.cancel()
        await asyncio.wait(background)

    async def _in_time(self, ask: Ask) -> None:
        await asyncio.sleep(max(0.0, ask.at - asyncio.get_running_loop().time()))
        client = PlayedClient(ask.name, ask.manners, self._trace, self.life.effect)
        self.clients[ask.name] = client
        client.task = asyncio.get_running_loop().create_task(self._answer(ask, client), name=ask.name)
        await asyncio.wait([client.task])
        if client.task.cancelled():
            if client.left_at is None:
                self._trace.breach(f"{ask.name}: cancelled though its client is there")
        elif (error := client.task.exception()) is not None:
            self._trace.breach(f"{ask.name}: the exchange failed with {error!r}")

    async def _answer(self, ask: Ask, client: PlayedClient) -> None:
        self._trace.note("%s asks", ask.name)
        incoming = Incoming(
            id=f"req_{ask.name}",
            protocol=ask.protocol,
            accepted_at=self.world.clock(),
            created_at=self._wall(),
            headers={"authorization": f"Bearer {ask.key.name}"},
        )
        key = self.exchange.identify(incoming)
        if isinstance(key, Failure):
            self.exchange.reject(incoming, None, key, client)
        elif ask.errand is Errand.COUNT:
            await self.exchange.count(incoming, key, ask.body, client)
        else:
            await self.exchange.serve(incoming, key, ask.body, client)

    def _write_play(self, channel: Channel, request: UpstreamRequest, tag: str) -> Play:
        self.life.effect()
        chance = Random(f"{self._scenario.seed}/{tag}")
        said = speech.drawn(chance, tag, self._scenario.tastes)
        playwright = Playwright(chance, self._scenario.weather)
        if request.path.endswith("/count_tokens"):
            return playwright.write_count(said)
        asked = f"req_{tag.partition('a')[0]}"
        if not self._disk.knows(asked):
            self._trace.breach(f"{tag}: an upstream is called before the hold is on the disk")
        limit = _output_limit(request.body)
        if not self._disk.covers(asked, limit * OUTPUT_PRICE):
            self._trace.breach(f"{tag}: {limit} tokens of output are not covered")
        streams = ("accept", "text/event-stream") in request.headers
        return playwright.write(channel.protocol, said, streams=streams)

    def _wall(self) -> float:
        now = self._trace.clock()
        return EPOCH + now + (self._scenario.wall_jump if now > _JUMP_AT else 0.0)

    def _interrupt(self) -> None:
        """The drain is over."""
        self._trace.note("every open call is interrupted")
        self.exchange.draining = True
        self.exchange.interrupt_all()
        self.upstream.closed = True

    @property
    def interrupted(self) -> bool:
        """Whether it had to end at once."""
        return self.upstream.closed

    def _reload(self) -> None:
        self._trace.note("another configuration is in force")
        self.exchange.snapshot = self._snapshot(later=True)

    def _snapshot(self, *, later: bool = False) -> Snapshot:
        """`later`: as it is after the reload."""
        scenario = self._scenario
        settings = Settings(
            wording=Wording("timed out", "failed"),
            secret=Secret("own"),
            commit_after=COMMIT_AFTER,
            keepalive_interval=KEEPALIVE,
            max_attempts=scenario.max_attempts,
        )
        model = Model(
            name=MODEL,
            first_event_timeout=FIRST_EVENT,
            idle_timeout=IDLE,
            price=LATER_PRICE if later else PRICE,
            max_output_tokens=MOST_OUTPUT,
        )
        keys = {digest(key.name): key for key in scenario.keys[1 if later else 0 :]}
        channels = scenario.channels[1 if later else 0 :]
        return Snapshot(Catalog(channels, [model], keys, scenario.accounts), settings)


def _output_limit(body: bytes) -> int:
    """The most tokens that an upstream may answer with."""
    value = json.loads(body)
    limits = [value.get(name) for name in ("max_completion_tokens", "max_output_tokens", "max_tokens")]
    return min((limit for limit in limits if limit is not None), default=MOST_OUTPUT)
