"""Whoever counts what, the page is the same."""

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from tests.unit.routing.channels import channel
from tests.unit.storage.records import ATTEMPT, RECORD

from tidegate.core.failure import Kind
from tidegate.exchange.ports import RequestRecord
from tidegate.observe.board import CountsBoard
from tidegate.observe.counts import merged
from tidegate.observe.exposition import Format, render
from tidegate.observe.traffic import ModelLabels, Traffic
from tidegate.routing.catalog import Catalog

WORKERS = 3
CATALOG = Catalog([channel(name, "sonnet", "gpt-*") for name in "abc"])

attempts = st.builds(
    lambda name, outcome, kind, cost: replace(
        ATTEMPT, channel=name, outcome=outcome, failure_kind=kind, upstream_cost=cost
    ),
    st.sampled_from("abc"),
    st.sampled_from(["served", "failed", "abandoned", "repaired"]),
    st.none() | st.sampled_from([kind.value for kind in Kind]),
    st.none() | st.integers(0, 10**12),
)
records = st.builds(
    lambda **changes: replace(RECORD, **changes),
    protocol=st.sampled_from(["chat", "responses", "messages"]),
    model=st.none() | st.sampled_from(["sonnet", "gpt-1", "gpt-2"]) | st.text(max_size=5),
    channel=st.none() | st.sampled_from("abc"),
    outcome=st.sampled_from(["completed", "failed", "client_closed"]),
    status=st.sampled_from([200, 499]),
    first_token_ms=st.none() | st.floats(0, 1e6),
    duration_ms=st.floats(0, 1e7),
    input_tokens=st.integers(0, 10**9),
    cost=st.integers(0, 10**15),
    attempts=st.lists(attempts, max_size=3).map(tuple),
)
seen = st.lists(
    st.tuples(st.integers(0, WORKERS - 1), records, st.none() | st.sampled_from(Kind)), max_size=12
)


@given(seen, st.sets(st.integers(0, 11)), st.sampled_from(Format))
def test_any_split_among_workers_and_lives_gives_the_same_page(
    requests: list[tuple[int, RequestRecord, Kind | None]], deaths: set[int], form: Format
) -> None:
    """A worker may die after each request; the next of its number goes on."""
    split, alone = CountsBoard(WORKERS, room=1 << 16), CountsBoard(1, room=1 << 16)
    one, workers = living(alone, 0), [living(split, number) for number in range(WORKERS)]
    for place, (number, record, kind) in enumerate(requests):
        one.ended(record, kind)
        workers[number].ended(record, kind)
        if place in deaths:
            posted(split, number, workers[number])
            split.leave(number)
            workers[number] = living(split, number)
    for number, worker in enumerate(workers):
        posted(split, number, worker)
    posted(alone, 0, one)
    assert render(merged(split.all()), form) == render(merged(alone.all()), form)


def living(board: CountsBoard, number: int) -> Traffic:
    return Traffic(ModelLabels(lambda: CATALOG), board.inherited(number))


def posted(board: CountsBoard, number: int, traffic: Traffic) -> None:
    board.post(number, {series.figure.name: series.cells for series in traffic.series})
