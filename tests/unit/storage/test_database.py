import sqlite3
from pathlib import Path

import pytest
from sqlalchemy.exc import IntegrityError, OperationalError

from tidegate.storage.database import (
    Database,
    DatabaseUnusable,
    insert_text,
    passes,
    patiently,
    reason,
    sqlite_path,
)


@pytest.mark.parametrize(
    ("url", "path"),
    [
        ("sqlite:///tidegate.db", "tidegate.db"),
        ("sqlite:////var/lib/tidegate.db", "/var/lib/tidegate.db"),
        ("sqlite:///data/my%20db", "data/my db"),
    ],
)
def test_a_sqlite_url_names_a_file(url: str, path: str) -> None:
    assert sqlite_path(url) == Path(path)


@pytest.mark.parametrize(
    "url",
    [
        "sqlite://",
        "sqlite:///",
        "sqlite:///:memory:",
        "sqlite://host/path",
        "sqlite:///a.db?mode=ro",
        "mysql://root:hunter2@host/db",
        "postgresql://root:hunter2@host/db",
        "hunter2",
        "",
    ],
)
def test_another_url_is_refused_with_a_mend_and_without_its_password(url: str) -> None:
    with pytest.raises(DatabaseUnusable, match=r"^database\.url: ") as refused:
        sqlite_path(url)
    assert "sqlite:///" in str(refused.value)
    assert "hunter2" not in str(refused.value)


def test_a_missing_folder_is_told(tmp_path: Path) -> None:
    with pytest.raises(DatabaseUnusable, match="folder"):
        Database(f"sqlite:///{tmp_path}/no/such/x.db").prepare()


def test_a_file_that_is_no_database_is_told(tmp_path: Path) -> None:
    (tmp_path / "x.db").write_bytes(b"this is a text, and no database of any kind" * 100)
    with pytest.raises(DatabaseUnusable, match="not a database"):
        Database(f"sqlite:///{tmp_path}/x.db").prepare()


def test_readers_do_not_wait_for_the_writer(database: Database) -> None:
    with database.connect_writer() as writing, writing.begin():
        writing.exec_driver_sql("DELETE FROM requests")
        with database.engine.connect() as reading:
            assert reading.exec_driver_sql("SELECT count(*) FROM requests").scalar() == 0
            assert reading.exec_driver_sql("PRAGMA journal_mode").scalar() == "wal"
            assert reading.exec_driver_sql("PRAGMA synchronous").scalar() == 1


def test_a_writing_transaction_holds_the_lock_from_its_start(database: Database) -> None:
    with (
        database.connect_writer() as first,
        first.begin(),
        database.connect_writer() as second,
        pytest.raises(OperationalError, match="locked"),
    ):
        second.begin()


def wrapped(error: sqlite3.Error) -> OperationalError | IntegrityError:
    kind = OperationalError if isinstance(error, sqlite3.OperationalError) else IntegrityError
    return kind("INSERT INTO requests VALUES (?)", ("a value",), error)


def test_a_lock_passes_and_a_bad_row_does_not() -> None:
    assert passes(wrapped(sqlite3.OperationalError("database is locked")))
    assert passes(wrapped(sqlite3.OperationalError("disk I/O error")))
    assert not passes(wrapped(sqlite3.IntegrityError("NOT NULL constraint failed")))
    assert not passes(UnicodeEncodeError("utf-8", "\ud800", 0, 1, "surrogates not allowed"))
    assert not passes(OverflowError("Python int too large"))


def test_a_reason_has_neither_statement_nor_values() -> None:
    assert reason(wrapped(sqlite3.OperationalError("disk full"))) == "disk full"


def test_only_a_lock_is_waited_for() -> None:
    tries = 0

    def task() -> None:
        nonlocal tries
        tries += 1
        raise wrapped(sqlite3.OperationalError("unable to open database file"))

    with pytest.raises(OperationalError):
        patiently(task)
    assert tries == 1


def test_one_statement_inserts_many_rows() -> None:
    assert insert_text("t", ["id", "key"], 2, "DO NOTHING") == (
        'INSERT INTO t ("id","key") VALUES (?,?),(?,?) ON CONFLICT DO NOTHING'
    )
