"""Prints the figures as tables, and next to each goal whether it was reached."""

from collections.abc import Callable, Iterator, Mapping, Sequence

from bench.figures import Figures
from bench.goals import judge
from bench.requests import Requests
from bench.run import Found
from bench.workloads import Arrival, Workload

Results = Mapping[str, Mapping[str, Figures]]
"""Workload name -> target name -> figures."""

_TITLES = {
    "direct": "mock alone",
    "nginx": "nginx",
    "same": "same protocol",
    "tidegate": "Tidegate",
    "litellm": "LiteLLM",
    "before": "before accounts",
    "bare": "without accounts",
    "barepair": "two workers without",
    "accounts": "accounts",
    "pair": "two workers",
    "cluster": "PostgreSQL + Redis",
    "figures": "with figures",
    "watched": "console open",
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
    ("CPU of the databases per request, ms", lambda f: f.database_ms_per_request, ".3f"),
    ("requests/s", lambda f: f.requests_per_second, ".0f"),
)
_LATENCIES: tuple[_Added, ...] = (
    ("first event p50, ms", lambda f: _ms(f.first.p50), ".2f"),
    ("first event p99, ms", lambda f: _ms(f.first.p99), ".2f"),
    ("event p50, ms", lambda f: _ms(f.event.p50), ".2f"),
    ("event p99, ms", lambda f: _ms(f.event.p99), ".2f"),
    ("admission p50, ms", lambda f: _ms(f.admission.p50), ".2f"),
    ("admission p99, ms", lambda f: _ms(f.admission.p99), ".2f"),
)
_COMPARED = ("nginx", "same", "litellm", "before", "bare", "figures")
_ONLY_FOR_REQUESTS = {
    "CPU of the databases per request, ms",
    "requests/s",
    "admission p50, ms",
    "admission p99, ms",
}
_LEFT_OUT = {
    "paced": {"KiB per open stream", *_ONLY_FOR_REQUESTS},
    "first": {
        "KiB per open stream",
        "CPU per event, µs",
        "CPU, % of its core",
        "event p50, ms",
        "event p99, ms",
        *_ONLY_FOR_REQUESTS,
    },
    "silent": {
        "CPU per event, µs",
        "CPU per request, ms",
        "event p50, ms",
        "event p99, ms",
        *_ONLY_FOR_REQUESTS,
    },
    "open": {"CPU per request, ms", *_ONLY_FOR_REQUESTS},
    "accounts": {"KiB per open stream", "CPU per event, µs", "admission p50, ms", "admission p99, ms"},
    "console": {"KiB per open stream", "CPU per event, µs", "admission p50, ms", "admission p99, ms"},
    "admission": {"KiB per open stream", "CPU per event, µs"},
}
_NOTES = {
    ("accounts", "litellm"): (
        "without spend tracking in a database: the engine that its client needs is in none of its packages"
    ),
    ("accounts", "cluster"): "the databases run on the core of the mock and the load generator",
    **dict.fromkeys(
        (("accounts", "pair"), ("admission", "pair")),
        "the second worker shares its core with the mock and the load generator",
    ),
}
"""What has to be known of a target under a workload."""


def _ms(microseconds: float | None) -> float | None:
    return None if microseconds is None else microseconds / 1000


def report(workloads: Sequence[Workload], found: Found, requests: Requests) -> str:
    """The whole text, in Markdown that also reads well in a terminal."""
    results = found.results
    parts = [
        _workload(load, results.get(load.name, {}), found.missing, found.books.get(load.name, {}))
        for load in workloads
    ]
    if requests:
        parts.append("## A request of 1 MB and 400 messages, converted\n\n" + _requests(requests))
    parts.append("## Reach\n\n" + _table(["figure", "reach", "measured", ""], judge(results, requests)))
    parts.append("## Was the load generator the bottleneck?\n\n" + _honesty(workloads, results))
    return "\n\n".join(parts)


def _workload(
    load: Workload, found: Mapping[str, Figures], missing: Mapping[str, str], books: Mapping[str, str]
) -> str:
    ours = found.get(load.ours)
    shown = [name for name in load.targets if name in found]
    compared = [name for name in _COMPARED if name in shown] if ours else []
    heads = ["", *(_TITLES[name] for name in shown), *(f"÷ {_TITLES[name]}" for name in compared)]
    left_out = _LEFT_OUT.get(load.name, _LEFT_OUT["paced"])
    rows = []
    for label, value, form in _COSTS:
        if label in left_out:
            continue
        if all(value(found[name]) is None for name in shown):
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
    table = [_table(heads, rows)] if shown else ["Not measured."]
    told = "\n".join([*table, *(f"- {note}" for note in _notes(load, found, missing, books))])
    return f"## {load.name}: {load.says}\n\n{told}"


def _notes(
    load: Workload, found: Mapping[str, Figures], missing: Mapping[str, str], books: Mapping[str, str]
) -> Iterator[str]:
    for name in load.targets:
        if name in missing:
            yield f"{_TITLES[name]}: {missing[name]}"
        if name not in found:
            continue
        if note := _NOTES.get((load.name, name)):
            yield f"{_TITLES[name]}: {note}"
        if name in books:
            yield f"{_TITLES[name]}: {books[name]}"
        for why, times in list(found[name].broken.items())[:3]:
            yield f"{_TITLES[name]}: {times} × {why}"
        if found[name].held_back:
            yield f"{_TITLES[name]}: {found[name].held_back} requests waited for a connection: overloaded"
    ours, plain, twice = (found.get(name) for name in ("accounts", "bare", "barepair"))
    if plain and twice:
        ratio = _ratio(twice, plain, lambda figures: figures.cpu_ms_per_request)
        yield f"two workers ÷ one, both without accounts, CPU per request: {ratio}"
    if load.name == "pacedaccounts" and ours and plain:
        rounds = zip(ours.rounds_us_per_event, plain.rounds_us_per_event, strict=True)
        told = ", ".join(f"{mine / theirs:.2f}" for mine, theirs in rounds if theirs)
        yield f"accounts ÷ without accounts, round by round: {told}"


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
            both = found.mock_share + found.load_share + found.database_share
            late = found.lateness
            together = "–" if found.events_per_read is None else f"{found.events_per_read:.3f}"
            verdict = "ok" if both < _BUSY and not late.blocked else "SUSPECT"
            if name == "direct" and load.arrival is Arrival.LOOP and not late.blocked:
                verdict = "ok"  # in a closed loop nothing but the tools themselves holds them back here
            rows.append(
                [
                    f"{load.name}, {_TITLES[name]}",
                    f"{found.mock_share:.0f} + {found.load_share:.0f}"
                    + (f" + {found.database_share:.0f}" if found.database_share else ""),
                    f"{late.p50:.0f} / {late.p99:.0f}",
                    together if load.arrival is Arrival.LOOP or load.events > 1 else "–",
                    f"{found.events_per_second:.0f}",
                    f"{found.others_share:.0f}",
                    verdict,
                ]
            )
    heads = [
        "workload",
        "mock + generator (+ databases), % of core",
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
