from typing import Any

import psycopg
import pytest

from tidegate.storage.database import DatabaseUnusable
from tidegate.storage.limited_connection import LimitedConnection
from tidegate.storage.postgresql import Postgresql, deletes, inserts, together


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://u:hunter2@host/db?sslmod=require",
        "postgresql://u:hunter2%@host/db",
        "postgresql://u:hunter2@[::1/db",
        "postgresql://u:hunter2@host/db?statement_timeout=5",
    ],
)
def test_a_url_that_cannot_be_read_is_told_without_its_password(url: str) -> None:
    with pytest.raises(DatabaseUnusable, match="percent-encode") as told:
        Postgresql(url, 10)
    assert "hunter2" not in f"{told.value}{told.value.__cause__}"
    assert told.value.__suppress_context__


def opened_with(monkeypatch: pytest.MonkeyPatch, url: str) -> dict[str, Any]:
    """What libpq would be given."""
    given: dict[str, Any] = {}

    def connect(_conninfo: str, **parameters: Any) -> None:
        given.update(parameters)
        raise psycopg.OperationalError("enough")

    monkeypatch.setattr(LimitedConnection, "connect", connect)
    with pytest.raises(psycopg.OperationalError):
        Postgresql(url, 0.25)._connect()
    return given


def test_every_connection_has_limits_of_time(monkeypatch: pytest.MonkeyPatch) -> None:
    given = opened_with(monkeypatch, "postgres://u:p%40ss@host/db?sslmode=verify-full")
    assert (given["user"], given["password"], given["dbname"]) == ("u", "p@ss", "db")
    assert (given["sslmode"], given["connect_timeout"], given["application_name"]) == (
        "verify-full",
        5,
        "tidegate",
    )
    assert "statement_timeout=250 " in given["options"]
    assert "idle_in_transaction_session_timeout=250" in given["options"]
    assert given["tcp_user_timeout"] == 10_000


def test_the_operators_own_settings_go_first(monkeypatch: pytest.MonkeyPatch) -> None:
    own = "connect_timeout=2&application_name=edge&options=-c%20statement_timeout%3D9"
    given = opened_with(monkeypatch, f"postgresql://u@h/db?{own}")
    assert (given["connect_timeout"], given["application_name"]) == ("2", "edge")
    assert given["options"].endswith(" -c statement_timeout=9")  # of two, PostgreSQL takes the last


def test_the_password_is_in_no_repr() -> None:
    side = Postgresql("postgresql://u:hunter2@h/db", 10)
    assert "hunter2" not in f"{side!r}{side.engine!r}{side.engine.url!r}{vars(side.engine)}{side.place}"


def test_one_statement_inserts_any_number_of_rows() -> None:
    columns = ("id", "account", "channel_group", "expires_at")
    [(text, values)] = inserts(
        "owned_ids", columns, [["a", "b", "ü", 9], ["c", "d", None, 10]], "ON CONFLICT DO NOTHING"
    )
    assert text == (
        'INSERT INTO owned_ids ("id","account","channel_group","expires_at")'
        ' SELECT "id","account","channel_group","expires_at" FROM json_to_recordset(%s::json)'
        ' AS given ("id" TEXT,"account" TEXT,"channel_group" TEXT,"expires_at" BIGINT) ON CONFLICT DO NOTHING'
    )
    assert values == (
        '[{"id":"a","account":"b","channel_group":"ü","expires_at":9},'
        '{"id":"c","account":"d","channel_group":null,"expires_at":10}]',
    )
    assert inserts("owned_ids", columns, [], "") == []


def test_the_text_that_deletes_is_the_same_for_any_number_of_rows() -> None:
    text, values = deletes("intents", ["a", 'b"'])
    assert text == "DELETE FROM intents WHERE id = ANY(ARRAY(SELECT json_array_elements_text(%s::json)))"
    assert values == ('["a","b\\""]',)
    assert deletes("intents", ["c"])[0] == text


def test_writes_go_together_and_the_counts_of_some_are_asked_for() -> None:
    assert together((("DELETE FROM a", True), ("DELETE FROM b", False), ("DELETE FROM c", True))) == (
        "WITH w0 AS (DELETE FROM a RETURNING 1), w1 AS (DELETE FROM b), w2 AS (DELETE FROM c RETURNING 1)"
        " SELECT (SELECT count(*) FROM w0), (SELECT count(*) FROM w2)"
    )
