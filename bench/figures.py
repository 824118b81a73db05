"""From what was counted to what is told: costs per event and per request, memory, latencies."""

from collections.abc import Sequence

from msgspec import Struct

from bench.load import Tally
from bench.mock import Lateness

_SUMMED = (
    "window",
    "events",
    "reads",
    "requests",
    "target",
    "target_by_ticks",
    "mock",
    "load",
    "databases",
    "others",
)


class Spread(Struct, frozen=True):
    """Two percentiles, in microseconds; None when nothing was seen."""

    p50: float | None
    p99: float | None


class Figures(Struct, frozen=True):
    """One target under one workload, all rounds together."""

    target: str
    cpu_us_per_event: float | None
    cpu_ms_per_request: float | None
    cpu_share: float
    """Of one core, in percent."""
    database_ms_per_request: float | None
    """CPU of the target's own database servers; None where it has none."""
    cpu_share_by_ticks: float
    """The same from utime + stime of /proc, as a check."""
    kib_per_stream: float | None
    event: Spread
    """From the mock's write to the client's read."""
    first: Spread
    """From the request to the first event, less the wait that the mock's pace makes."""
    admission: Spread
    """From the request to the upstream's receipt of it."""
    held_back: int
    """Requests that the load generator could not send in time."""
    rounds_us_per_event: tuple[float, ...]
    """CPU per event of each round by itself, in the order of the rounds."""
    started: int
    whole: int
    broken: dict[str, int]
    keepalives: int
    requests_per_second: float
    events_per_second: float
    events_per_read: float | None
    mock_share: float
    load_share: float
    database_share: float
    others_share: float
    """What others used of the target's core, in percent."""
    lateness: Lateness


def gather(target: str, tallies: Sequence[Tally], lateness: Lateness) -> Figures:
    """Rounds are added up before anything is divided."""
    total = {name: sum(getattr(tally, name) for tally in tallies) for name in _SUMMED}
    window, cpu, events = total["window"], total["target"], total["events"]
    measured = target != "direct"
    broken: dict[str, int] = {}
    for tally in tallies:
        for why, times in tally.broken.items():
            broken[why] = broken.get(why, 0) + times
    grown = sum(tally.rss_during_kib - tally.rss_before_kib for tally in tallies)
    held = sum(tally.open_streams for tally in tallies)
    return Figures(
        target=target,
        cpu_us_per_event=cpu / events / 1e3 if events and measured else None,
        cpu_ms_per_request=cpu / total["requests"] / 1e6 if total["requests"] and measured else None,
        cpu_share=100 * cpu / window,
        database_ms_per_request=_each(total["databases"], total["requests"], 1e6) or None,
        cpu_share_by_ticks=100 * total["target_by_ticks"] / window,
        kib_per_stream=grown / held if held and measured else None,
        event=_spread([value for tally in tallies for value in tally.latency_us]),
        first=_spread([value for tally in tallies for value in tally.first_us]),
        admission=_spread([value for tally in tallies for value in tally.admission_us]),
        held_back=sum(tally.held_back for tally in tallies),
        rounds_us_per_event=tuple(_each(tally.target, tally.events, 1e3) for tally in tallies),
        started=sum(tally.started for tally in tallies),
        whole=sum(tally.whole for tally in tallies),
        broken=broken,
        keepalives=sum(tally.keepalives for tally in tallies),
        requests_per_second=total["requests"] / window * 1e9,
        events_per_second=events / window * 1e9,
        events_per_read=events / total["reads"] if total["reads"] else None,
        mock_share=100 * total["mock"] / window,
        load_share=100 * total["load"] / window,
        database_share=100 * total["databases"] / window,
        others_share=100 * total["others"] / window,
        lateness=lateness,
    )


def _each(nanoseconds: int, times: int, unit: float) -> float:
    return nanoseconds / times / unit if times else 0.0


def _spread(values: list[int]) -> Spread:
    if not values:
        return Spread(None, None)
    values.sort()
    return Spread(*(float(values[int((len(values) - 1) * share)]) for share in (0.5, 0.99)))
