"""A server that hung goes on where it was: what nobody waits for any more is committed after all."""

import asyncio
import threading
import time
from collections.abc import Iterator

import pytest
from tests.unit.storage.records import record
from tests.unit.storage.stores import intent

from tidegate.ledger.books import Wish
from tidegate.storage.accounting import Accounting, Batch
from tidegate.storage.booking import Wanted
from tidegate.storage.database import Database
from tidegate.storage.items import REQUESTS, Entry, Release, Row
from tidegate.storage.scribe import Scribe
from tidegate.storage.statements import Statements
from tidegate.storage.verify import verify


@pytest.fixture
def kind() -> str:
    return "postgresql"  # in SQLite there is one writer at a time


@pytest.fixture
def scribe(database: Database) -> Iterator[Scribe]:
    """Another connection of the same process, after the first was given up."""
    second = Scribe(database, Accounting("owner"), time.time, lambda _connection: None)
    yield second
    second.disconnect()


def wanted() -> Wanted:
    asked = intent(1, 100)
    return Wanted(
        id=asked.record.id,
        account="acme",
        key=None,
        wish=Wish(amount=100, least=100, prepaid=False),
        budgets=(),
        record="{}",
        at=1,
    )


@pytest.mark.parametrize("apart", [False, True], ids=["with its row", "before its row"])
async def test_a_hold_that_is_committed_after_its_release_does_not_stand(
    database: Database, scribe: Scribe, *, apart: bool
) -> None:
    one = wanted()
    release: Entry = Release(one.id, one.account)
    row: Entry = Row(REQUESTS, record(1, id=one.id, account="acme", outcome="rejected", cost=0))
    with database.connect_writer() as late:
        transaction = late.begin()
        Accounting("owner").book(Statements(late), Batch(holds=[one]), 1, exact=True)
        given_back = threading.Thread(
            target=lambda: [
                scribe.write(some, []) for some in ([[release], [row]] if apart else [[release, row]])
            ]
        )
        given_back.start()
        await asyncio.sleep(0.1)
        transaction.commit()
        await asyncio.to_thread(given_back.join, 5.0)
    with database.engine.connect() as connection:
        assert connection.exec_driver_sql("SELECT id FROM intents").all() == []
        assert connection.exec_driver_sql("SELECT id FROM requests").all() == [(one.id,)]
    assert verify(database) is None
