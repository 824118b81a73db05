import pytest
from tests.unit.storage.records import RECORD, record

from tidegate.exchange.ports import RequestRecord
from tidegate.storage.database import Database
from tidegate.storage.figures import read_keys
from tidegate.storage.items import REQUESTS
from tidegate.storage.overview import GROUPS, Overview, Question, read_overview
from tidegate.storage.spans import span_of
from tidegate.storage.sums import COUNTS
from tidegate.storage.tally import requests_in
from tidegate.storage.writer import Writer

HOUR = span_of(RECORD.created_at, RECORD.created_at + 3_600, RECORD.created_at)

ROWS = [
    record(1, key="a", account="x", model="sonnet", channel="one", protocol="chat", cost=1),
    record(2, key="b", account="x", model="haiku", channel="two", protocol="messages", cost=20),
    record(3, key="a", account="y", model="sonnet", channel="two", protocol="responses", cost=300),
    record(
        4, key=None, account=None, model=None, channel=None, protocol="chat", outcome="rejected", attempts=()
    ),
    record(9_000, key="a", cost=4_000),
]


async def fill(writer: Writer, rows: list[RequestRecord]) -> None:
    for row in rows:
        writer.put(REQUESTS, row)
    await writer.flush()


def ask(database: Database, **wanted: str) -> Overview:
    with database.connect_reader() as connection:
        return read_overview(connection, Question(span=HOUR, **wanted))  # type: ignore[arg-type]


def cost(overview: Overview) -> int:
    return overview.totals[COUNTS.index("cost")]


@pytest.mark.parametrize(
    ("wanted", "requests", "spent"),
    [
        ({}, 4, 321),
        ({"key": "a"}, 2, 301),
        ({"account": "x"}, 2, 21),
        ({"model": "haiku"}, 1, 20),
        ({"channel": "two"}, 2, 320),
        ({"protocol": "chat"}, 2, 1),
        ({"key": "a", "channel": "one"}, 1, 1),
        ({"model": "none"}, 0, 0),
    ],
)
async def test_only_what_fits_is_added_up(
    database: Database, writer: Writer, wanted: dict[str, str], requests: int, spent: int
) -> None:
    await fill(writer, ROWS)
    found = ask(database, **wanted)
    assert (requests_in(found.totals), cost(found)) == (requests, spent)
    assert [at for at, _ in found.series] == list(HOUR.starts)
    assert sum(requests_in(sums) for _, sums in found.series) == requests


async def test_groups_come_by_size_and_what_has_no_name_is_one(database: Database, writer: Writer) -> None:
    await fill(writer, ROWS)
    groups = ask(database, group_by="key").groups
    assert [(one.kind, one.name, requests_in(one.sums)) for one in groups] == [
        ("name", "a", 2),
        ("none", None, 1),
        ("name", "b", 1),
    ]
    assert ask(database).groups == ()


async def test_beyond_fifty_groups_the_rest_is_one(database: Database, writer: Writer) -> None:
    names = [f"key-{number:03}" for number in range(GROUPS + 7)]
    await fill(writer, [record(number, key=name) for number, name in enumerate(names)])
    groups = ask(database, group_by="key").groups
    assert [one.name for one in groups] == [*names[:GROUPS], None]
    assert (groups[-1].kind, requests_in(groups[-1].sums)) == ("rest", 7)


async def test_a_key_has_its_last_use_and_what_it_spent(database: Database, writer: Writer) -> None:
    await fill(writer, ROWS)
    yesterday = record(0, id="req_x", created_at=RECORD.created_at - 86_400, key="a", cost=50_000)
    await fill(writer, [yesterday])
    with database.connect_reader() as connection:
        found = read_keys(connection, ["a", "b", "c"], RECORD.created_at)
    assert (found["a"].last_used_at, found["a"].spent_today, found["a"].spent_month) == (
        RECORD.created_at + 9_000,
        301,
        54_301,
    )
    assert (found["b"].spent_today, found["c"].last_used_at, found["c"].spent_month) == (20, None, 0)
