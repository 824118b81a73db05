"""Prints the figures as tables, and next to each goal whether it was reached."""

from collections.abc import Callable, Mapping, Sequence

from bench.figures import Figures
from bench.goals import judge
from bench.requests import Requests
from bench.workloads import Arrival, Workload

Results = Mapping[str, Mapping[str, Figures]]
"""Workload name -> target name -> figures."""

_TITLES = {
    "direct": "mock alone",
    "nginx": "nginx",
    "same": "same protocol",
    "tidegate": "Tidegate",
    "litellm": "LiteLLM",
}
_LEAST_MS = 0.02
_BUSY = 80.0
"""Percent of the load core beyond which the load generator is suspect."""
_Row = tuple[str, Callable[[Figures], float | None], str]
_Added = tuple[str, Callable[[Figures], float | None], str]

_COSTS: tuple[_Row, ...] = (
    ("CPU per event, µs", lambda f: f.cpu_us_per_event, ".1f"),
    ("CPU per request, ms", lambda f: f.cpu_ms_per_request, ".3f"),
    ("CPU, % of its core", lambda f: f.cpu_share, ".2f"),
    ("KiB per open stream", lambda f: f.kib_per_stream, ".1f"),
)
_LATENCIES: tuple[_Added, ...] = (
    ("first event p50, ms", lambda f: _ms(f.first.p50), ".2f"),
    ("first event p99, ms", lambda f: _ms(f.first.p99), ".2f"),
    ("event p50, ms", lambda f: _ms(f.event.p50), ".2f"),
    ("event p99, ms", lambda f: _ms(f.event.p99), ".2f"),
)
_COMPARED = ("nginx", "same", "litellm")
_LEFT_OUT = {
    "paced": {"KiB per open stream"},
    "first": {
        "KiB per open stream",
        "CPU per event, µs",
        "CPU, % of its core",
        "event p50, ms",
        "event p99, ms",
    },
    "silent": {"CPU per event, µs", "CPU per request, ms", "event p50, ms", "event p99, ms"},
    "open": {"CPU per request, ms"},
}


def _ms(microseconds: float | None) -> float | None:
    return None if microseconds is None else microseconds / 1000


def report(
    workloads: Sequence[Workload], results: Results, missing: Mapping[str, str], requests: Requests
) -> str:
    """The whole text, in Markdown that also reads well in a terminal."""
    parts = [_workload(load, results.get(load.name, {}), missing) for load in workloads]
    if requests:
        parts.append("## A request of 1 MB and 400 messages, converted\n\n" + _requests(requests))
    parts.append("## Reach\n\n" + _table(["figure", "reach", "measured", ""], judge(results, requests)))
    parts.append("## Was the load generator the bottleneck?\n\n" + _honesty(workloads, results))
    return "\n\n".join(parts)


def _workload(load: Workload, found: Mapping[str, Figures], missing: Mapping[str, str]) -> str:
    ours = found.get("tidegate")
    shown = [name for name in load.targets if name in found]
    compared = [name for name in _COMPARED if name in found] if ours else []
    heads = ["", *(_TITLES[name] for name in shown), *(f"÷ {_TITLES[name]}" for name in compared)]
    left_out = _LEFT_OUT.get(load.name, _LEFT_OUT["paced"])
    rows = []
    for label, value, form in _COSTS:
        if label in left_out:
            continue
        row = [label, *(_told(value(found[name]), form) for name in shown)]
        row += [_ratio(ours, found[name], value) for name in compared if ours]
        rows.append(row)
    direct = found.get("direct")
    for label, value, form in _LATENCIES:
        if label in left_out:
            continue
        row = [label, *(_with_added(found[name], direct, value, form) for name in shown)]
        row += [_added_ratio(ours, found[name], direct, value) for name in compared if ours]
        rows.append(row)
    rows.append(["streams whole", *(f"{found[name].whole} of {found[name].started}" for name in shown)])
    if load.name == "silent":
        rows.append(["keepalives seen", *(str(found[name].keepalives) for name in shown)])
    notes = [f"{_TITLES[name]}: {missing[name]}" for name in load.targets if name in missing]
    notes += [
        f"{_TITLES[name]}: {times} × {why}"
        for name in shown
        for why, times in list(found[name].broken.items())[:3]
    ]
    body = _table(heads, rows) + "".join(f"\n- {note}" for note in notes)
    return f"## {load.name}: {load.says}\n\n{body}"


def _requests(requests: Requests) -> str:
    rows = [[pair, f"{cost.size / 1e6:.2f}", f"{cost.cpu_ms:.1f}"] for pair, cost in requests.items()]
    return _table(["client → channel", "MB", "CPU, ms"], rows)


def _told(value: float | None, form: str) -> str:
    return "–" if value is None else format(value, form)


def _ratio(ours: Figures, other: Figures, value: Callable[[Figures], float | None]) -> str:
    mine, theirs = value(ours), value(other)
    if mine is None or not theirs:
        return "–"
    ratio = mine / theirs
    return f"{ratio:.2f}" if ratio >= 0.1 else f"1/{1 / ratio:.0f}"


def _added_ratio(
    ours: Figures, other: Figures, direct: Figures | None, value: Callable[[Figures], float | None]
) -> str:
    """Of what both add to the mock alone; too small to divide: a dash."""
    seen = [value(figures) if figures else None for figures in (ours, other, direct)]
    if any(one is None for one in seen):
        return "–"
    mine, theirs, plain = (one or 0.0 for one in seen)
    return f"{(mine - plain) / (theirs - plain):.2f}" if theirs - plain >= _LEAST_MS else "–"


def _with_added(
    mine: Figures, direct: Figures | None, value: Callable[[Figures], float | None], form: str
) -> str:
    seen, plain = value(mine), value(direct) if direct else None
    if seen is None or plain is None or mine is direct:
        return _told(seen, form)
    return (
        f"{seen:{form}} (+{seen - plain:{form}})"
        if seen >= plain
        else f"{seen:{form}} ({seen - plain:{form}})"
    )


def _honesty(workloads: Sequence[Workload], results: Results) -> str:
    rows = []
    for load in workloads:
        for name, found in results.get(load.name, {}).items():
            both = found.mock_share + found.load_share
            late = found.lateness
            together = "–" if found.events_per_read is None else f"{found.events_per_read:.3f}"
            verdict = "ok" if both < _BUSY and not late.blocked else "SUSPECT"
            if name == "direct" and load.arrival is Arrival.LOOP and not late.blocked:
                verdict = "ok"  # in a closed loop nothing but the tools themselves holds them back here
            rows.append(
                [
                    f"{load.name}, {_TITLES[name]}",
                    f"{found.mock_share:.0f} + {found.load_share:.0f}",
                    f"{late.p50:.0f} / {late.p99:.0f}",
                    together if load.arrival is Arrival.LOOP or load.events > 1 else "–",
                    f"{found.events_per_second:.0f}",
                    f"{found.others_share:.0f}",
                    verdict,
                ]
            )
    heads = [
        "workload",
        "mock + generator, % of core",
        "sent late p50/p99, µs",
        "events per read",
        "events/s",
    ]
    return _table([*heads, "others on the target's core, %", ""], rows)


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    wide = [
        max(len(row[column]) if column < len(row) else 0 for row in (heads, *rows))
        for column in range(len(heads))
    ]

    def line(cells: Sequence[str]) -> str:
        filled = [*cells, *[""] * (len(heads) - len(cells))]
        return "| " + " | ".join(cell.ljust(width) for cell, width in zip(filled, wide, strict=True)) + " |"

    rule = "|" + "|".join("-" * (width + 2) for width in wide) + "|"
    return "\n".join([line(heads), rule, *(line(row) for row in rows)])
