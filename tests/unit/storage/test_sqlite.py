from pathlib import Path

import pytest
from sqlalchemy.exc import OperationalError

from tidegate.storage.database import Database, DatabaseUnusable
from tidegate.storage.sqlite import inserts, sqlite_path


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


def test_one_statement_inserts_many_rows() -> None:
    [(text, values)] = inserts("t", ("id", "key"), [[1, 2], [3, 4]], "ON CONFLICT DO NOTHING", 64)
    assert text == 'INSERT INTO t ("id","key") VALUES (?,?),(?,?) ON CONFLICT DO NOTHING'
    assert values == (1, 2, 3, 4)


def test_very_many_rows_are_several_statements() -> None:
    statements = inserts("t", ("id",), [[number] for number in range(150)], "", 64)
    assert [len(values) for _, values in statements] == [64, 64, 22]
    assert inserts("t", ("id",), [], "", 64) == []
