"""The workloads: how many streams, how fast they speak, how long is measured."""

from collections.abc import Iterator
from enum import Enum

from msgspec import Struct, structs


class Arrival(Enum):
    """When a stream is opened."""

    LOOP = "loop"
    """Every connection asks again as soon as its answer has ended."""
    RATE = "rate"
    """Requests begin by chance, so many a second, whether or not earlier ones have been answered."""
    HELD = "held"
    """Every connection asks once, and all stay open."""


class Workload(Struct, frozen=True):
    """Times are in seconds. `every` is the gap between two events of one stream, and before its end."""

    name: str
    says: str
    arrival: Arrival
    streams: int
    events: int
    every: float
    targets: tuple[str, ...]
    at_once: bool = False
    """The first event comes together with the response head instead of in its turn."""
    ramp: float = 0.0
    """Over it the connections ask for the first time, one after another."""
    warm_up: float = 1.0
    """Before the measured interval; after the ramp, where there is one."""
    seconds: float = 10.0
    """The measured interval."""
    pause: float = 0.0
    """Between two requests of one connection."""
    rounds: int = 1
    """The targets take turns this often, so that a slow minute of the machine meets all of them."""
    rate: float = 0.0
    """Requests per second; RATE only. Not known in advance: set for each run."""
    of_capacity: float = 0.0
    """RATE only: that part of what one connection after another gets out of the target, see `Bench`."""
    ours: str = "tidegate"
    """The target that is compared with the others."""
    crosses: tuple[str, str] | None = None
    """Protocols of upstream and client where they differ; None: both are that of the run."""
    word: str = ""
    """Said before the counted events, see `dialects.script`."""

    @property
    def longest(self) -> float:
        """An upper bound of one stream's life, as the mock paces it."""
        return self.every * (self.events + 1) + 1.0

    def asked_in(self, target: str, protocol: str) -> str:
        """The protocol in which a target is asked; those that do not convert are asked in the upstream's."""
        if self.crosses is None:
            return protocol
        upstream, client = self.crosses
        return client if target in _CONVERTS else upstream


_BOTH = ("direct", "nginx", "tidegate")
_CONVERTS = ("tidegate", "litellm")
_WORD = "Well,"
CROSSES = (("messages", "chat"), ("chat", "messages"), ("chat", "responses"))
"""Upstream and client of the pairs that are measured."""


def crossing(upstream: str, client: str) -> str:
    """The name of the workload that crosses two protocols, in the way that answers go."""
    return f"{upstream}2{client}"


def _crossings() -> Iterator[Workload]:
    for pair in CROSSES:
        says = f"{pair[0]} upstream, {pair[1]} client: {{}} streams, 100 events each, 20 ms apart"
        yield Workload(
            crossing(*pair),
            says.format(64),
            Arrival.LOOP,
            64,
            100,
            0.02,
            ("nginx", "same", "tidegate"),
            ramp=2.0,
            warm_up=0.5,
            rounds=2,
            seconds=5,
            crosses=pair,
            word=_WORD,
        )
        yield Workload(
            f"{crossing(*pair)}16",
            says.format(16),
            Arrival.LOOP,
            16,
            100,
            0.02,
            ("tidegate", "litellm"),
            ramp=2.0,
            warm_up=1.0,
            seconds=8,
            crosses=pair,
            word=_WORD,
        )


ACCOUNTING = (
    Workload(
        "accounts",
        "short, with each request held, limited, charged and journalled",
        Arrival.LOOP,
        32,
        5,
        0.001,
        ("bare", "accounts", "pair", "cluster", "litellm"),
        warm_up=0.7,
        rounds=2,
        seconds=3.5,
        ours="accounts",
    ),
    Workload(
        "admission",
        "the same at 60 % of the capacity, requests begin by chance",
        Arrival.RATE,
        256,
        5,
        0.001,
        ("direct", "bare", "barepair", "accounts", "pair", "cluster"),
        warm_up=0.7,
        rounds=2,
        seconds=3,
        of_capacity=0.6,
        ours="accounts",
    ),
    Workload(
        "console",
        "accounts, with figures kept, and with a console open on its live tail and its overview",
        Arrival.LOOP,
        32,
        5,
        0.001,
        ("accounts", "figures", "watched"),
        warm_up=0.7,
        rounds=3,
        seconds=6,
        ours="watched",
    ),
    Workload(
        "pacedaccounts",
        "paced, with and without accounting",
        Arrival.LOOP,
        64,
        100,
        0.02,
        ("before", "bare", "accounts"),
        ramp=2.0,
        warm_up=0.5,
        rounds=3,
        seconds=3,
        ours="accounts",
    ),
)
"""What keeping accounts costs. `bare` has no prices, a postpaid account and no limits; what is open is still
noted in the database before its upstream is called, as a crash must not lose it. `before` did not do that.
"""

FULL = (
    Workload(
        "paced",
        "64 streams, 100 events each, 20 ms apart",
        Arrival.LOOP,
        64,
        100,
        0.02,
        _BOTH,
        ramp=2.0,
        warm_up=0.5,
        rounds=2,
        seconds=6,
    ),
    Workload(
        "brisk",
        "64 streams, 100 events each, 5 ms apart",
        Arrival.LOOP,
        64,
        100,
        0.005,
        _BOTH,
        ramp=0.5,
        warm_up=0.5,
        rounds=2,
        seconds=4,
    ),
    Workload(
        "open",
        "2,000 streams open at once, an event each 100 ms",
        Arrival.HELD,
        2000,
        180,
        0.1,
        _BOTH,
        ramp=2.5,
        seconds=14,
    ),
    Workload(
        "silent",
        "2,000 streams open at once, silent after the first event",
        Arrival.HELD,
        2000,
        1,
        16.0,
        ("nginx", "tidegate"),
        at_once=True,
        ramp=2.5,
        seconds=10,
    ),
    Workload(
        "first",
        "one stream at a time on an idle machine",
        Arrival.LOOP,
        1,
        1,
        0.002,
        _BOTH,
        at_once=True,
        pause=0.003,
        rounds=4,
        seconds=3,
    ),
    Workload(
        "short",
        "32 connections, 5 events per request, 1 ms apart",
        Arrival.LOOP,
        32,
        5,
        0.001,
        (*_BOTH, "litellm"),
        warm_up=1.5,
        rounds=2,
        seconds=5,
    ),
    Workload(
        "paced16",
        "16 streams, 100 events each, 20 ms apart",
        Arrival.LOOP,
        16,
        100,
        0.02,
        (*_BOTH, "litellm"),
        ramp=2.0,
        warm_up=1.0,
        seconds=10,
    ),
    *_crossings(),
    *ACCOUNTING,
)

WARM = Workload(
    "warm",
    "fills caches and pools before anything is measured",
    Arrival.LOOP,
    32,
    5,
    0.004,
    (),
    warm_up=0.3,
    seconds=1.2,
    word=_WORD,
)


QUICK = ("paced", "open", "first", "short")
"""Those of a quick look, unless others are asked for."""


def quick(workload: Workload) -> Workload:
    """The same workload with a shorter look at it; figures are rougher."""
    match workload.name:
        case "open":
            return structs.replace(workload, events=60, ramp=1.5, warm_up=0.5, seconds=3)
        case "silent":
            return structs.replace(workload, every=14.0, ramp=2.0)
        case _:
            return structs.replace(workload, ramp=min(workload.ramp, 1.0), warm_up=0.5, rounds=1, seconds=2)
