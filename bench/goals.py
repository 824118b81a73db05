"""The goals of the project, and whether a run reached them."""

from collections.abc import Callable, Iterator, Mapping

from bench.figures import Figures
from bench.requests import Requests
from bench.workloads import CROSSES, crossing

Results = Mapping[str, Mapping[str, Figures]]
_Measure = Callable[[Results], float | None]
_Goal = tuple[str, str, _Measure, float, str]


def judge(results: Results, requests: Requests) -> list[list[str]]:
    """Rows of: figure, reach, measured, verdict."""
    rows = []
    slowest = max((cost.cpu_ms for cost in requests.values()), default=None)
    request: _Goal = (
        "request of 1 MB converted, slowest pair",
        "≤ 15 ms",
        lambda _: slowest,
        15.0,
        "{0:.1f} ms",
    )
    for figure, reach, measure, most, form in (*_GOALS, *_crossing_goals(), request, *_ACCOUNTING):
        value = measure(results)
        if value is None:
            rows.append([figure, reach, "–", "not measured"])
        else:
            rows.append([figure, reach, form.format(value, 1 / value if value else 0), _verdict(value, most)])
    return rows


def _verdict(value: float, most: float) -> str:
    return "reached" if value <= most else "NOT REACHED"


def _figure(results: Results, workload: str, target: str, name: str) -> float | None:
    found = results.get(workload, {}).get(target)
    value = getattr(found, name) if found else None
    return None if value is None else float(value)


def _own(workload: str, name: str, target: str = "tidegate") -> _Measure:
    return lambda results: _figure(results, workload, target, name)


def _crossing_goals() -> Iterator[_Goal]:
    for upstream, client in CROSSES:
        name = crossing(upstream, client)
        figure = f"{upstream} upstream, {client} client, CPU per event"
        for other, reach, most in (("nginx", "≤ 2.0 × nginx", 2.0), ("same", "≤ 1.25 × same protocol", 1.25)):
            yield figure, reach, _share_of(name, other, "cpu_us_per_event"), most, "{0:.2f} ×"
        slow = _share_of(f"{name}16", "litellm", "cpu_us_per_event")
        yield f"{figure}, 16 streams", "≤ 1/40 of LiteLLM", slow, 1 / 40, "1/{1:.0f}"


def _share_of(workload: str, other: str, name: str, mine: str = "tidegate") -> _Measure:
    def measure(results: Results) -> float | None:
        ours, theirs = (_figure(results, workload, target, name) for target in (mine, other))
        return ours / theirs if ours is not None and theirs else None

    return measure


def _added_first_ms(results: Results) -> float | None:
    ours, theirs = (results.get("first", {}).get(target) for target in ("tidegate", "nginx"))
    if not ours or not theirs or ours.first.p50 is None or theirs.first.p50 is None:
        return None
    return (ours.first.p50 - theirs.first.p50) / 1000


def _admission_p99_ms(target: str) -> _Measure:
    def measure(results: Results) -> float | None:
        found = results.get("admission", {}).get(target)
        return found.admission.p99 / 1000 if found and found.admission.p99 is not None else None

    return measure


def _seconds_per_request(results: Results) -> float | None:
    """Of one worker on one core that has as much to do as it can."""
    rate = _figure(results, "accounts", "accounts", "requests_per_second")
    return 1 / rate if rate else None


def _not_whole(results: Results) -> float | None:
    found = results.get("open", {}).get("tidegate")
    return float(found.started - found.whole) if found else None


def _unequal(results: Results) -> float | None:
    mine = _figure(results, "paced", "tidegate", "cpu_us_per_event")
    theirs = _figure(results, "paced16", "litellm", "cpu_us_per_event")
    return mine / theirs if mine is not None and theirs else None


_COST = "cpu_ms_per_request"
_ACCOUNTING: tuple[_Goal, ...] = (
    ("accounts, CPU per request", "≤ 0.6 ms", _own("accounts", _COST, "accounts"), 0.6, "{0:.3f} ms"),
    (
        "accounts on PostgreSQL and Redis, CPU per request",
        "≤ 0.8 ms",
        _own("accounts", _COST, "cluster"),
        0.8,
        "{0:.3f} ms",
    ),
    ("accounts, requests a second on one core", "≥ 800", _seconds_per_request, 1 / 800, "{1:.0f}"),
    (
        "accounts, CPU per request",
        "≤ 1/30 of LiteLLM",
        _share_of("accounts", "litellm", _COST, "accounts"),
        1 / 30,
        "1/{1:.0f}",
    ),
    ("admission at 60 % of the capacity, p99", "≤ 10 ms", _admission_p99_ms("accounts"), 10.0, "{0:.1f} ms"),
    (
        "the same on PostgreSQL and Redis",
        "≤ 10 ms",
        _admission_p99_ms("cluster"),
        10.0,
        "{0:.1f} ms",
    ),
    *(
        (
            f"{load}, two workers, CPU per request",
            "≤ 1.15 × one worker",
            _share_of(load, "accounts", _COST, "pair"),
            1.15,
            "{0:.2f} ×",
        )
        for load in ("accounts", "admission")
    ),
    (
        "with figures kept, CPU per request",
        "≤ 1.03 × without",
        _share_of("console", "accounts", _COST, "figures"),
        1.03,
        "{0:.3f} ×",
    ),
    (
        "with a console open, CPU per request",
        "≤ 1.03 × closed",
        _share_of("console", "figures", _COST, "watched"),
        1.03,
        "{0:.3f} ×",
    ),
    *(
        (
            "paced with accounts, CPU per event",
            f"≤ 1.05 × {than}",
            _share_of("pacedaccounts", other, "cpu_us_per_event", "accounts"),
            1.05,
            "{0:.2f} ×",
        )
        for other, than in (("bare", "without"), ("before", "before there were any"))
    ),
)

_GOALS: tuple[_Goal, ...] = (
    (
        "paced, CPU per event",
        "≤ 1.9 × nginx",
        _share_of("paced", "nginx", "cpu_us_per_event"),
        1.9,
        "{0:.2f} ×",
    ),
    (
        "the same at 5 ms (brisk)",
        "≤ 1.9 × nginx",
        _share_of("brisk", "nginx", "cpu_us_per_event"),
        1.9,
        "{0:.2f} ×",
    ),
    ("paced, CPU per event, LiteLLM with 16 streams", "≤ 1/40 of LiteLLM", _unequal, 1 / 40, "1/{1:.0f}"),
    (
        "paced, CPU per event, 16 streams both",
        "≤ 1/40 of LiteLLM",
        _share_of("paced16", "litellm", "cpu_us_per_event"),
        1 / 40,
        "1/{1:.0f}",
    ),
    ("short, CPU per request", "≤ 0.25 ms", _own("short", "cpu_ms_per_request"), 0.25, "{0:.3f} ms"),
    (
        "short, CPU per request",
        "≤ 1/80 of LiteLLM",
        _share_of("short", "litellm", "cpu_ms_per_request"),
        1 / 80,
        "1/{1:.0f}",
    ),
    (
        "unloaded, added first-event latency p50",
        "≤ 0.4 ms more than nginx",
        _added_first_ms,
        0.4,
        "{0:.2f} ms",
    ),
    ("open, memory per open stream", "≤ 35 KiB", _own("open", "kib_per_stream"), 35.0, "{0:.1f} KiB"),
    ("open, streams that did not end whole", "none", _not_whole, 0.0, "{0:.0f}"),
    ("idle, 2,000 silent open streams", "< 1 % of a core", _own("silent", "cpu_share"), 0.9999, "{0:.2f} %"),
)
