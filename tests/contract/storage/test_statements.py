"""Writes that are promised go together, on a server with one question, and are counted before the commit."""

import pytest
from sqlalchemy.exc import DataError, IntegrityError
from tests.unit.storage.stores import rows

from tidegate.storage.booking import BALANCES, POSTINGS
from tidegate.storage.database import Database
from tidegate.storage.statements import Inexact, Statements

ONCE = "ON CONFLICT DO NOTHING"
INTENTS = ("id", "account", "amount", "owner", "created_at", "record")
POSTED = ("req_1", "hold", "acme", None, "available", "held", 5, 1, None)


def intents(*ids: str) -> list[tuple[object, ...]]:
    return [(one, "acme", 5, "owner", 1, "{}") for one in ids]


def open_intents(database: Database) -> list[tuple[object, ...]]:
    return rows(database, "SELECT id FROM intents ORDER BY id")


def test_what_is_promised_is_kept(database: Database) -> None:
    with database.connect_writer() as connection, connection.begin():
        Statements(connection).insert("intents", INTENTS, intents("old", 'o"l,d}', "other"))
    with database.connect_writer() as connection, connection.begin():
        statements = Statements(connection)
        statements.promise_delete("intents", ["old", 'o"l,d}', "never there"], must=2)
        statements.promise_insert("intents", INTENTS, intents("a", "b"), ONCE, must=2)
        statements.promise_insert("postings", POSTINGS, [POSTED])
        statements.promise_insert("balances", BALANCES, [("acme", 10, 5, False)])
        statements.keep()
        statements.keep()  # nothing is left to do
    assert open_intents(database) == [("a",), ("b",), ("other",)]
    assert rows(database, "SELECT reference, amount FROM postings") == [("req_1", 5)]
    assert rows(database, "SELECT account, balance, held FROM balances") == [("acme", 10, 5)]


@pytest.mark.parametrize("there", ["deleted", "inserted", "posted too"])
def test_another_count_than_was_promised_is_told_before_the_commit(database: Database, there: str) -> None:
    with database.connect_writer() as connection, connection.begin():
        statements = Statements(connection)
        statements.insert("intents", INTENTS, intents("a"))
        if there == "posted too":  # then the database would refuse the postings
            statements.insert("postings", POSTINGS, [POSTED])
    with database.connect_writer() as connection, pytest.raises(Inexact), connection.begin():
        statements = Statements(connection)
        if there == "deleted":
            statements.promise_delete("intents", ["a"], must=0)
        else:
            statements.promise_insert("intents", INTENTS, intents("a", "b"), ONCE, must=2)
        statements.promise_insert("postings", POSTINGS, [POSTED])
        statements.keep()
    assert open_intents(database) == [("a",)]
    assert len(rows(database, "SELECT reference FROM postings")) == (there == "posted too")


def test_without_a_count_the_error_is_the_databases(database: Database) -> None:
    with database.connect_writer() as connection, pytest.raises(IntegrityError), connection.begin():
        statements = Statements(connection)
        statements.promise_insert("postings", POSTINGS, [POSTED, POSTED])
        statements.keep()


@pytest.mark.parametrize("kind", ["postgresql"], indirect=True)
def test_a_value_that_no_column_takes_is_no_matter_of_counts(database: Database) -> None:
    with database.connect_writer() as connection, pytest.raises(DataError), connection.begin():
        statements = Statements(connection)
        statements.promise_insert("intents", INTENTS, intents("a\0"), ONCE, must=1)
        statements.keep()
