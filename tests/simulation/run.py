"""Plays one seed from start to end and checks what came of it."""

import traceback
from collections import Counter, defaultdict
from random import Random
from unittest.mock import patch

from tests.simulation import checks, money_checks, scenario
from tests.simulation.checks import Told
from tests.simulation.disk import Disk
from tests.simulation.life import Crash
from tests.simulation.limits import new_table
from tests.simulation.process import Process
from tests.simulation.real_disk import RealDisk
from tests.simulation.scenario import Ask, Scenario
from tests.simulation.trace import Trace
from tests.simulation.upstream import PlayedCall
from tests.simulation.virtual_loop import VirtualLoop

from tidegate.exchange import lifecycle
from tidegate.routing.breaker import Probed
from tidegate.storage.rows import encode

_LIMIT = 2_000.0
"""Virtual seconds of a run."""
_RESTART = 0.5
"""Seconds from a kill to the next start."""


class Broken(Exception):
    """A seed that breaks a promise; `trace` tells how."""

    def __init__(self, seed: int, why: str, trace: Trace) -> None:
        super().__init__(f"seed {seed}: {why}")
        self.trace = trace


def play(seed: int) -> Trace:
    """One run; raises Broken. The same seed always gives the same trace."""
    drawn = scenario.drawn(seed)
    trace = Trace()
    drawn.tell(trace)
    try:
        with patch.object(lifecycle, "random", Random(seed)):
            Run(drawn, trace).play()
    except AssertionError as error:
        why = "".join(traceback.format_exception_only(error)).strip()
        place = traceback.extract_tb(error.__traceback__)[-1]
        raise Broken(seed, f"{why} ({place.name}, line {place.lineno})", trace) from error
    return trace


class Run:
    """One scenario, from life to life."""

    def __init__(self, drawn: Scenario, trace: Trace) -> None:
        self.scenario = drawn
        self.trace = trace
        self.disk: Disk | RealDisk
        self.disk = RealDisk(drawn.balances, trace) if drawn.real_storage else Disk(drawn.balances)
        self.table = new_table()
        self.chance = Random(drawn.seed)
        self.seen: Counter[str] = Counter()
        self.lives: list[Process] = []

    def play(self) -> None:
        """All lives, and the checks."""
        with self.disk.in_use():
            self._play()

    def _play(self) -> None:
        now, left = 0.0, list(self.scenario.asks)
        for crash in (*self.scenario.crashes, None):
            loop = VirtualLoop(now, _LIMIT)
            self.trace.begin(loop.time)
            try:
                process = self._live(loop, left, crash)
            finally:
                self.trace.deaf = True
                loop.abandon()
            left = [ask for ask in left if ask.name not in process.clients]
            if process.life.killed_at is None:
                break
            now = process.life.killed_at + _RESTART
        assert not left
        self._check()

    def _live(self, loop: VirtualLoop, asks: list[Ask], crash: Crash | None) -> Process:
        process = Process(self.scenario, loop, self.trace, self.disk, self.table, self.seen, crash)
        self.lives.append(process)
        try:
            loop.play(process.work(asks))
        finally:
            process.storage.let_go()
        if process.life.killed_at is not None:
            away = self.scenario.troubles.is_away(process.life.killed_at)
            self.disk.killed(cleaned=not away and self.chance.random() < 0.5)
        assert not self.trace.breaches, self.trace.breaches[0]
        assert not loop.faults, loop.faults[0]
        if process.life.killed_at is None:
            self._check_rest(process)
        return process

    def _check(self) -> None:
        calls: dict[str, list[PlayedCall]] = defaultdict(list)
        for call in (call for process in self.lives for call in process.upstream.calls):
            calls[call.asker].append(call)
        kept = self.disk.rows
        for process in self.lives:
            for name in process.clients:
                ask = next(ask for ask in self.scenario.asks if ask.name == name)
                row = kept.get(f"req_{name}")
                told = Told(ask, process.clients[name], calls[name], row, self.scenario.reloads_at)
                try:
                    self._check_request(process, told)
                except (AssertionError, LookupError, TypeError, ValueError) as error:
                    raise AssertionError(f"{name}: {error!r}").with_traceback(error.__traceback__) from error
        self.disk.check(f"req_{ask.name}" for ask in self.scenario.asks)
        money_checks.check_balances(self.scenario, self.disk)

    def _check_request(self, process: Process, told: Told) -> None:
        killed_at = process.life.killed_at
        rows = [row for row in process.storage.written if row.id == f"req_{told.ask.name}"]
        if killed_at is not None and not rows:
            money_checks.check_killed(told, self.disk, self.scenario.troubles, killed_at)
            return
        heard = checks.check_client(told)
        checks.check_calls(told)
        if told.client.left_at is None and not process.interrupted:
            checks.check_patience(told.calls)
        assert len(rows) == 1, f"{len(rows)} rows"
        checks.check_row(told, heard, rows[0])
        money_checks.check_charge(told, heard, rows[0])
        money_checks.check_upstream_cost(told, rows[0])
        used = process.limits.used.get(rows[0].id)
        counts = (rows[0].input_tokens, rows[0].cache_read_tokens, rows[0].cache_write_tokens)
        # A place is free when the answer ends: what must be estimated yet counts by a guess in the limits.
        if rows[0].usage_source != "estimated":
            assert used in (None, sum(counts) + rows[0].output_tokens), f"the limits were told {used} tokens"
        money_checks.check_turned_away(told, rows[0], self.scenario.troubles)
        if killed_at is None:
            assert told.row is not None
            assert encode(told.row) == encode(rows[0]), "the row in the database is another"
        else:
            money_checks.check_kept(told, self.disk)

    def _check_rest(self, process: Process) -> None:
        """Nothing is left behind."""
        assert len(process.heartbeat) == 0, "the heartbeat looks at calls that are over"
        assert process.exchange.open_requests == 0
        assert all(client.call is None for client in process.clients.values()), "a call is still attached"
        assert process.logged == process.storage.written
        process.limits.check()
        for channel in self.scenario.channels:
            standing = process.health.standing(channel.name, "up", process.world.clock())
            assert not isinstance(standing, Probed), f"the probe of {channel.name} was never handed back"
        assert (process.world.tally.holds, process.world.tally.held) == (0, 0), "holds are told that are over"
        assert process.health.open_turns() == {}, "turns are told that are over"
