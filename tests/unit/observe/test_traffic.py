from dataclasses import dataclass, field
from typing import Any

from msgspec.structs import replace
from tests.unit.routing.channels import channel
from tests.unit.storage.records import ATTEMPT, RECORD

from tidegate.core.failure import Kind
from tidegate.observe import figures
from tidegate.observe.counts import Cell, Counts, Labels
from tidegate.observe.traffic import ModelLabels, Traffic
from tidegate.routing.catalog import Catalog


@dataclass
class Desk:
    catalog: Catalog = field(default_factory=lambda: Catalog([channel("main", "sonnet", "gpt-*")]))
    earlier: Counts = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.traffic = Traffic(ModelLabels(lambda: self.catalog), self.earlier)

    def ends(self, kind: Kind | None = None, **changes: Any) -> None:
        self.traffic.ended(replace(RECORD, **changes), kind)

    def of(self, figure: figures.Figure) -> dict[Labels, Cell]:
        return next(series.cells for series in self.traffic.series if series.figure is figure)

    def numbers(self, figure: figures.Figure) -> dict[Labels, int | float]:
        return {labels: cell[0] for labels, cell in self.of(figure).items() if any(cell)}


def test_a_request_counts_everywhere() -> None:
    desk = Desk()
    desk.ends(cost=7, cache_read_tokens=3, cache_write_tokens=4)
    assert desk.numbers(figures.REQUESTS) == {("chat", "sonnet", "main", "completed", "none"): 1}
    assert desk.numbers(figures.ATTEMPTS) == {("main", "served", "none"): 1}
    assert desk.numbers(figures.TOKENS) == {
        ("sonnet", "input"): 18,
        ("sonnet", "cache_read"): 3,
        ("sonnet", "cache_write"): 4,
        ("sonnet", "output"): 12,
    }
    assert desk.numbers(figures.COST) == {("sonnet",): 7}
    duration, first = desk.of(figures.DURATION)["chat", "sonnet"], desk.of(figures.FIRST_TOKEN)
    assert (duration[0], sum(duration[1:])) == (5_321_000, 1)
    assert duration[1 + figures.DURATION.bounds.index(10.0)] == 1
    assert first["chat", "sonnet"][1 + figures.FIRST_TOKEN.bounds.index(0.5)] == 1


def test_callers_make_no_labels() -> None:
    desk = Desk()
    for model in ("gpt-1", "gpt-2", "gpt-*"):
        desk.ends(model=model)
    for unserved in (None, "x" * 100_000, 'evil"} 1\n', "sonnet\n", ""):
        desk.ends(Kind.MODEL_NOT_FOUND, model=unserved, channel=None, outcome="rejected", attempts=())
    models = {labels[1] for labels in desk.of(figures.REQUESTS)}
    assert models == {"gpt-*", "none", "unknown"}


def test_names_are_remembered_within_bounds_and_for_one_catalog() -> None:
    desk = Desk()
    labels = desk.traffic._labels
    for number in range(10_000):
        assert labels.of(f"gpt-{number}") == "gpt-*"
    assert len(labels._known) < 5_000
    desk.catalog = Catalog([channel("main", "sonnet")])
    assert labels.of("gpt-9999") == "unknown"


def test_a_failure_tells_its_kind_and_where_the_request_went_next() -> None:
    desk = Desk()
    failed = replace(ATTEMPT, channel="a", outcome="failed", failure_kind="timeout")
    again = replace(ATTEMPT, channel="a", outcome="repaired", failure_kind="upstream")
    desk.ends(attempts=(failed, again, ATTEMPT))
    desk.ends(Kind.TIMEOUT, attempts=(failed,), outcome="failed", channel="a")
    assert desk.numbers(figures.ATTEMPTS) == {
        ("a", "failed", "timeout"): 2,
        ("a", "repaired", "upstream"): 1,
        ("main", "served", "none"): 1,
    }
    assert desk.numbers(figures.FAILOVERS) == {("a",): 1}
    assert ("chat", "sonnet", "a", "failed", "timeout") in desk.of(figures.REQUESTS)


def test_clients_that_left_are_told_apart() -> None:
    desk = Desk()
    desk.ends(outcome="client_closed", status=499, first_token_ms=None)
    desk.ends(outcome="client_closed", status=200)
    desk.ends(outcome="client_closed", status=200)
    assert desk.numbers(figures.DISCONNECTS) == {("nothing",): 1, ("something",): 2}
    assert sum(desk.of(figures.FIRST_TOKEN)["chat", "sonnet"][1:]) == 2


def test_what_channels_cost_is_summed_over_all_attempts() -> None:
    desk = Desk()
    desk.ends(attempts=(replace(ATTEMPT, upstream_cost=3), replace(ATTEMPT, upstream_cost=4)))
    assert desk.numbers(figures.UPSTREAM_COST) == {("main",): 7}


def test_it_goes_on_from_what_was_counted_before() -> None:
    first = Desk()
    first.ends(cost=2)
    second = Desk(earlier={one.figure.name: one.cells for one in first.traffic.series})
    second.ends(cost=3)
    assert second.numbers(figures.COST) == {("sonnet",): 5}
    assert sum(second.of(figures.DURATION)["chat", "sonnet"][1:]) == 2
    assert first.numbers(figures.COST) == {("sonnet",): 2}
