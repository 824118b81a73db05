from pathlib import Path

import pytest

from tidegate.cli.books import open_books, verify
from tidegate.ledger.entries import Balance
from tidegate.ledger.refusals import RefundRefused
from tidegate.storage.database import Database, DatabaseUnusable
from tidegate.storage.migrate import bring_up_to_date


@pytest.fixture
def url(tmp_path: Path) -> str:
    url = f"sqlite:///{tmp_path}/tidegate.db"
    database = Database(url)
    bring_up_to_date(database)
    database.close()
    return url


def run(url: str, statement: str) -> None:
    database = Database(url)
    with database.connect_writer() as connection, connection.begin():
        connection.exec_driver_sql(statement)
    database.close()


async def test_what_is_paid_in_is_there(url: str) -> None:
    async with open_books(url) as books:
        assert await books.credit("acme", 5, "invoice") is True
        assert await books.credit("acme", 5, "invoice") is False
        assert await books.balance("acme") == Balance("acme", 5, 0)
        assert await books.balances() == [Balance("acme", 5, 0)]
        (posting,) = await books.postings(None, limit=5, before=None)
        assert (posting.kind, posting.amount) == ("credit", 5)
        with pytest.raises(RefundRefused):
            await books.refund("req_1", None, "r")
    assert verify(url) is None


async def test_the_difference_is_told_in_words(url: str) -> None:
    async with open_books(url) as books:
        await books.credit("acme", 5, "invoice")
    run(url, "UPDATE balances SET balance = balance + 1")
    told = verify(url)
    assert told is not None
    assert "account acme: its balance is 0.000000006" in told


async def test_books_of_another_version_are_left_alone(url: str) -> None:
    run(url, "UPDATE alembic_version SET version_num = '0001'")
    with pytest.raises(DatabaseUnusable, match="its tables are at 0001"):
        verify(url)
    with pytest.raises(DatabaseUnusable, match="start the gateway once"):
        async with open_books(url):
            pass


def test_where_there_are_none_none_are_made(tmp_path: Path) -> None:
    with pytest.raises(DatabaseUnusable, match="there are no books"):
        verify(f"sqlite:///{tmp_path}/tidegate.db")
    assert list(tmp_path.iterdir()) == []
