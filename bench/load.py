"""The load generator: opens streams, reads them, and takes the readings of a measured interval."""

import gc
import heapq
import os
import random
import select
import sys
import time
from collections import Counter, deque
from collections.abc import Sequence
from enum import Enum

import msgspec
from msgspec import Struct

from bench import meter
from bench.dialects import END_MARKS, PATHS, ask
from bench.stream import Phase, Stream
from bench.workloads import Arrival, Workload

_STEP_MS = 1.0
_CONNECT_SLICE_NS = 2_000_000
"""Connections are opened for this long at most before what has arrived is read."""
_TOO_MANY_BROKEN = 200
"""After so many no more are opened."""
_SAMPLES = 40_000
"""Latencies kept per run."""


class Job(Struct, frozen=True):
    """What to load, and whose clocks to read."""

    workload: Workload
    protocol: str
    """The client's."""
    port: int
    model: str
    key: str
    target: list[int]
    """Process ids under measurement; empty: the mock alone is called."""
    mock: int
    target_core: int
    databases: list[int]
    """Of the target, with what descends from them; empty: it has none of its own."""


class Tally(Struct, frozen=True):
    """What one run saw. Times in nanoseconds unless named otherwise, over the measured interval only."""

    window: int
    events: int
    reads: int
    """Reads that brought events: as many as events when none arrived together."""
    requests: int
    target: int
    target_by_ticks: int
    mock: int
    load: int
    databases: int
    others: int
    """What everyone but the target used of the target's core."""
    rss_before_kib: int
    rss_during_kib: int
    open_streams: int
    """At the end of the interval."""
    started: int
    whole: int
    """All events counted, end mark seen, last chunk read."""
    broken: dict[str, int]
    keepalives: int
    latency_us: list[int]
    """From the mock's write to the read, per event, sampled evenly."""
    first_us: list[int]
    """From the request to the first counted event, less what the mock let it wait for its turn."""
    admission_us: list[int]
    """From the request to the mock's receipt of it."""
    held_back: int
    """Requests that could not be sent when their time had come, because all connections were in use."""


def _request(job: Job) -> bytes:
    body = ask(job.protocol, job.model)
    lines = (
        f"POST {PATHS[job.protocol]} HTTP/1.1",
        f"host: 127.0.0.1:{job.port}",
        f"authorization: Bearer {job.key}",
        "content-type: application/json",
        "accept: text/event-stream",
        "user-agent: tidegate-bench",
        f"content-length: {len(body)}",
    )
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


class _Stage(Enum):
    BEFORE = "before"
    MEASURING = "measuring"
    AFTER = "after"


class Load:
    """One run of one workload against one port."""

    def __init__(self, job: Job) -> None:
        self._job = job
        self._load = job.workload
        self._request = _request(job)
        self._poll = select.epoll()
        self._streams: dict[int, Stream] = {}
        self._resting: list[tuple[int, int]] = []
        self._latencies: list[int] = []
        self._firsts: list[int] = []
        self._admissions: list[int] = []
        self._broken: Counter[str] = Counter()
        self._events = self._reads = self._requests = 0
        self._started = self._whole = self._keepalives = self._live = 0
        self._stage = _Stage.BEFORE
        self._chance = random.Random(self._load.name)  # the same arrivals for every target
        self._next_at = time.monotonic_ns()
        self._due = self._held_back = 0
        self._idle: deque[Stream] = deque()

    def run(self) -> Tally:
        """Warm up, measure, let what is open end."""
        load, job = self._load, self._job
        rss_before = meter.rss_kib(job.target)
        begin = time.monotonic() + load.ramp + load.warm_up
        self._serve_until(begin)
        self._start_counting()
        before = self._look()
        self._serve_until(begin + load.seconds)
        after = self._look()
        seen = (self._events, self._reads, self._requests, self._live)
        latencies = self._latencies[:: max(1, len(self._latencies) // _SAMPLES)]
        firsts, admissions = list(self._firsts), list(self._admissions)
        held_back = self._held_back
        rss_during = meter.rss_kib(job.target)
        self._stage = _Stage.AFTER
        self._serve_until(time.monotonic() + load.longest + 5, to_the_end=True)
        for stream in self._streams.values():
            if stream.phase in (Phase.HEAD, Phase.BODY) and stream.started_at:
                self._broken["did not end in time"] += 1
        target, mock, own, databases = (
            later - earlier for earlier, later in zip(before[:4], after[:4], strict=True)
        )
        earlier, later = before[4], after[4]
        return Tally(
            window=later.at - earlier.at,
            events=seen[0],
            reads=seen[1],
            requests=seen[2],
            target=target,
            target_by_ticks=later.by_ticks - earlier.by_ticks,
            mock=mock,
            load=own,
            databases=databases,
            others=max(0, later.core_busy - earlier.core_busy - target),
            rss_before_kib=rss_before,
            rss_during_kib=rss_during,
            open_streams=seen[3],
            started=self._started,
            whole=self._whole,
            broken=dict(self._broken),
            keepalives=self._keepalives,
            latency_us=latencies,
            first_us=firsts,
            admission_us=admissions,
            held_back=held_back,
        )

    def _look(self) -> tuple[int, int, int, int, meter.Reading]:
        job = self._job
        reading = meter.read(job.target, job.target_core)
        servers = meter.families_ns(job.databases)
        return reading.processes, meter.cpu_ns(job.mock), time.process_time_ns(), servers, reading

    def _start_counting(self) -> None:
        self._stage = _Stage.MEASURING
        self._events = self._reads = self._requests = 0
        self._held_back = 0
        self._latencies.clear()
        if self._load.arrival is not Arrival.HELD:
            self._firsts.clear()
            self._admissions.clear()

    def _serve_until(self, end: float, *, to_the_end: bool = False) -> None:
        opened_at = time.monotonic()
        while (now := time.monotonic()) < end:
            if self._stage is not _Stage.AFTER:
                self._begin(now - opened_at)
            elif to_the_end and not self._live:
                return
            for fd, _ in self._readable(self._patience(end - now)):
                self._read(self._streams[fd])

    def _begin(self, passed: float) -> None:
        """Ask what is to be asked by now."""
        if self._load.arrival is Arrival.RATE:
            self._arrive()
        else:
            self._open(passed)
            self._wake()

    def _readable(self, patience: float) -> Sequence[tuple[int, int]]:
        if self._load.arrival is not Arrival.RATE:
            return self._poll.poll(patience)
        select.select((self._poll,), (), (), patience)  # to the microsecond; epoll counts in milliseconds
        return self._poll.poll(0)

    def _patience(self, left: float) -> float:
        """How long nothing has to be done but to read, in seconds."""
        if self._load.arrival is Arrival.RATE and self._stage is not _Stage.AFTER:
            return max(0.0, min(0.05, left, (self._next_at - time.monotonic_ns()) / 1e9))
        if self._stage is _Stage.BEFORE and self._load.ramp:
            return min(_STEP_MS / 1000, left)
        if self._resting:
            left = min(left, (self._resting[0][0] - time.monotonic_ns()) / 1e9)
        return max(0.0, min(0.05, left))

    def _open(self, passed: float) -> None:
        load = self._load
        missing = load.streams - (self._started if load.arrival is Arrival.HELD else len(self._streams))
        if missing <= 0 or self._broken.total() > load.streams + _TOO_MANY_BROKEN:
            return
        if load.ramp:
            missing -= load.streams - int(load.streams * min(1.0, passed / load.ramp))
        until = time.monotonic_ns() + _CONNECT_SLICE_NS
        for _ in range(missing):
            if not self._open_one() or time.monotonic_ns() > until:
                return

    def _arrive(self) -> None:
        """What is due goes out on the connection that has been idle longest, else on a new one."""
        now = time.monotonic_ns()
        came = 0
        while self._next_at <= now:
            self._next_at += int(self._chance.expovariate(self._load.rate) * 1e9)
            came += 1
        self._due += came
        while self._due and (self._idle or len(self._streams) < self._load.streams):
            if self._idle:
                self._ask(self._idle.popleft())
            elif self._broken.total() > _TOO_MANY_BROKEN or not self._open_one():
                break
            self._due -= 1
        self._held_back += min(came, self._due)

    def _open_one(self) -> bool:
        try:
            stream = Stream(self._job.port, END_MARKS[self._job.protocol], self._latencies)
        except OSError as error:
            self._started += 1
            self._broken[f"no connection: {error}"] += 1
            return False
        self._streams[stream.fd] = stream
        self._poll.register(stream.fd, select.EPOLLIN)
        self._ask(stream)
        return True

    def _wake(self) -> None:
        now = time.monotonic_ns()
        while self._resting and self._resting[0][0] <= now:
            self._ask(self._streams[heapq.heappop(self._resting)[1]])

    def _ask(self, stream: Stream) -> None:
        self._started += 1
        self._live += 1
        stream.ask(self._request)
        if stream.phase is Phase.BROKEN:
            self._ended(stream)

    def _read(self, stream: Stream) -> None:
        silent_before = not stream.events
        found = stream.read()
        if found:
            self._events += found
            self._reads += 1
            if silent_before:
                self._firsts.append(stream.spoke_after)
                self._admissions.append(stream.admitted_after)
        if stream.phase in (Phase.WHOLE, Phase.BROKEN):
            self._ended(stream)

    def _ended(self, stream: Stream) -> None:
        load = self._load
        self._live -= 1
        self._requests += 1
        self._keepalives += stream.keepalives
        if stream.phase is Phase.WHOLE and stream.marked and stream.events == load.events:
            self._whole += 1
        else:
            self._broken[stream.why or f"whole, but {stream.events} events, end mark {stream.marked}"] += 1
        if stream.phase is Phase.BROKEN:
            self._poll.unregister(stream.fd)
            del self._streams[stream.fd]
            stream.close()
        elif load.arrival is Arrival.RATE:
            self._idle.append(stream)
        elif load.arrival is Arrival.LOOP and self._stage is not _Stage.AFTER:
            heapq.heappush(self._resting, (time.monotonic_ns() + int(load.pause * 1e9), stream.fd))


def main() -> None:
    """Argument: the job as JSON. Prints the tally as JSON."""
    gc.disable()
    job = msgspec.json.decode(sys.argv[1], type=Job)
    os.write(1, msgspec.json.encode(Load(job).run()))


if __name__ == "__main__":
    main()
