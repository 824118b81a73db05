"""The sums of buckets and uncounted rows are those of the rows, whatever order and batches they come in."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from sqlalchemy import Connection
from tests.unit.storage.records import ATTEMPT, RECORD

from tidegate.exchange.ports import RequestRecord
from tidegate.storage import rows
from tidegate.storage.counting import count_backlog, count_new, write_counted
from tidegate.storage.database import Database
from tidegate.storage.journal_query import select_page
from tidegate.storage.migrate import bring_up_to_date
from tidegate.storage.overview import Overview, Question, read_overview
from tidegate.storage.pages import OUTCOMES, Filters
from tidegate.storage.spans import span_of
from tidegate.storage.statements import Statements
from tidegate.storage.tally import COLUMNS, add, nothing, tally

NOW = RECORD.created_at + 80 * 86_400
"""Late enough that the oldest rows have no short buckets any more."""
NAMES = st.sampled_from(["a", "b", None])


@st.composite
def records(draw: st.DrawFn) -> RequestRecord:
    channel = draw(NAMES)
    tries = [] if channel is None else [replace(ATTEMPT, channel=channel)]
    if draw(st.booleans()):
        tries.insert(0, replace(ATTEMPT, channel="b", outcome="failed"))
    return replace(
        RECORD,
        created_at=RECORD.created_at + draw(st.floats(0, 40 * 86_400 - 1)),
        model=draw(NAMES),
        channel=channel,
        key=draw(NAMES),
        account=draw(NAMES),
        protocol=draw(st.sampled_from(["chat", "messages"])),
        stream=draw(st.booleans()),
        outcome=draw(st.sampled_from(OUTCOMES)),
        first_token_ms=draw(st.none() | st.floats(0.1, 1e6)),
        output_tokens=draw(st.integers(0, 2**63 - 1)),
        cost=draw(st.integers(0, 10**15)),
        attempts=tuple(tries),
    )


@cache
def empty() -> bytes:
    """A file with all tables."""
    with tempfile.TemporaryDirectory() as folder:
        database = Database(f"sqlite:///{folder}/empty.db")
        bring_up_to_date(database)
        with database.engine.connect() as connection:
            connection.execution_options(tidegate_begin=None).exec_driver_sql(
                "PRAGMA wal_checkpoint(TRUNCATE)"
            )
        database.close()
        return Path(folder, "empty.db").read_bytes()


@contextmanager
def fresh() -> Iterator[Database]:
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "tidegate.db").write_bytes(empty())
        database = Database(f"sqlite:///{folder}/tidegate.db")
        yield database
        database.close()


def insert(connection: Connection, some: list[RequestRecord]) -> None:
    Statements(connection).insert("requests", rows.COLUMNS, [rows.encode(one) for one in some])


def count(database: Database, limit: int) -> None:
    with database.connect_reader() as connection:
        counted = count_new(connection, NOW, limit)
        older = count_backlog(connection, NOW, limit)
    for one in (counted, older):
        if one is not None:
            with database.connect_writer() as connection, connection.begin():
                write_counted(connection, one, NOW)


def straight(some: list[RequestRecord], question: Question) -> Overview:
    """What the rows come to when they are simply added up."""
    columns = [dict(zip(rows.COLUMNS, rows.encode(one), strict=True)) for one in some]
    span = question.span
    sums = nothing()
    for (at, combination), more in tally(
        ([row[name] for name in COLUMNS] for row in columns), span.bucket
    ).items():
        fits = all(
            wanted in (None, value)
            for value, wanted in zip(
                combination, (question.model, question.channel, question.key), strict=False
            )
        )
        if span.since <= at < span.until and fits:
            add(sums, more)
    return Overview(totals=sums, series=(), groups=(), open_requests=0, uncounted_rows=0)


@settings(max_examples=40, deadline=None)
@given(
    batches=st.lists(st.tuples(st.lists(records(), max_size=8), st.integers(0, 6)), max_size=6),
    begin=st.floats(0, 40),
    days=st.floats(0.01, 40),
    wanted=st.fixed_dictionaries(
        {}, optional={"model": st.just("a"), "channel": st.just("b"), "key": st.just("a")}
    ),
    page=st.fixed_dictionaries(
        {},
        optional={
            "model": st.just("a"),
            "channel": st.just("b"),
            "key": st.just("a"),
            "stream": st.booleans(),
            "outcome": st.sampled_from(OUTCOMES),
            "since": st.integers(0, 40 * 86_400).map(lambda after: int(RECORD.created_at + after) * 10**6),
        },
    ),
    limit=st.integers(1, 9),
)
def test_buckets_and_new_rows_are_all_rows(
    batches: list[tuple[list[RequestRecord], int]],
    begin: float,
    days: float,
    wanted: dict[str, str],
    page: dict[str, object],
    limit: int,
) -> None:
    since = RECORD.created_at + begin * 86_400
    question = Question(span=span_of(since, since + days * 86_400, NOW), group_by="channel", **wanted)
    put: list[RequestRecord] = []
    with fresh() as database:
        for some, step in batches:
            new = [replace(one, id=f"req_{len(put) + place:05}") for place, one in enumerate(some)]
            with database.connect_writer() as connection, connection.begin():
                insert(connection, new)
            put += new
            if step:
                count(database, step)
            with database.connect_reader() as connection:
                found = read_overview(connection, question)
            expected = straight(put, question)
            assert found.totals == expected.totals
            summed = nothing()
            for group in found.groups:
                add(summed, group.sums)
            assert summed == found.totals
            assert found.uncounted_rows == 0
        filters = Filters(**page)  # type: ignore[arg-type]
        with database.connect_reader() as connection:
            seen = []
            before = None
            while True:
                some_rows = select_page(connection, filters, limit, before)
                seen += [one.id for one in some_rows.requests]
                if (before := some_rows.next) is None:
                    break
        assert seen == [one.id for one in _fitting(put, filters)]


def _fitting(put: list[RequestRecord], filters: Filters) -> list[RequestRecord]:
    names = ("model", "channel", "key", "stream", "outcome")
    return sorted(
        (
            one
            for one in put
            if all(getattr(filters, name) in (None, getattr(one, name)) for name in names)
            and (filters.since is None or rows.to_microseconds(one.created_at) >= filters.since)
        ),
        key=lambda one: (rows.to_microseconds(one.created_at), one.id),
        reverse=True,
    )
