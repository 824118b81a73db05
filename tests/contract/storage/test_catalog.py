from typing import TypeVar

import pytest
from sqlalchemy.exc import IntegrityError

from tidegate.storage.catalog import (
    ChangedMeanwhile,
    Definition,
    InUse,
    Kind,
    NameTaken,
    NoAccount,
    NotThere,
    Task,
    change,
    create,
    read_all,
    remove,
)
from tidegate.storage.catalog_version import read_version
from tidegate.storage.database import Database

T = TypeVar("T")


def do(database: Database, task: Task[T]) -> T:
    with database.connect_writer() as connection, connection.begin():
        return task(connection)


def key(name: str, account: str = "acme") -> Definition:
    return Definition(text="{}", digest=name * 4, hint="sk…", account=account)


def accounts(database: Database, *names: str) -> None:
    for name in names:
        do(database, create(Kind.ACCOUNTS, name, Definition(text="{}")))


def test_an_empty_catalog_has_version_zero(database: Database) -> None:
    stored = do(database, read_all)
    assert stored.version == 0
    assert all(stored.rows[kind] == {} for kind in Kind)


def test_what_is_created_is_read(database: Database) -> None:
    clock = iter([10.5, 20.25]).__next__
    do(database, create(Kind.CHANNELS, "a", Definition(text='{"x": 1}', sealed=b"\x00\xff"), clock=clock))
    do(database, change(Kind.CHANNELS, "a", lambda before: Definition(text=before.text + " "), clock=clock))
    row = do(database, read_all).rows[Kind.CHANNELS]["a"]
    assert row.definition == Definition(text='{"x": 1} ')
    assert (row.version, row.created_at, row.changed_at) == (2, 10.5, 20.25)


def test_every_change_raises_the_version_and_a_refused_one_does_not(database: Database) -> None:
    do(database, create(Kind.MODELS, "a", Definition(text="{}")))
    assert do(database, read_version) == 1
    with pytest.raises(NameTaken):
        do(database, create(Kind.MODELS, "a", Definition(text="{}")))
    with pytest.raises(NotThere):
        do(database, remove(Kind.MODELS, "b"))
    with pytest.raises(NotThere):
        do(database, change(Kind.MODELS, "b", lambda before: before))
    assert do(database, read_version) == 1
    do(database, remove(Kind.MODELS, "a"))
    assert do(database, read_version) == 2


def test_one_name_may_be_of_several_kinds(database: Database) -> None:
    accounts(database, "a")
    do(database, create(Kind.KEYS, "a", key("a", "a")))
    do(database, create(Kind.MODELS, "a", Definition(text="{}")))
    assert [list(rows) for rows in do(database, read_all).rows.values()] == [[], ["a"], ["a"], ["a"]]


def test_names_come_sorted(database: Database) -> None:
    accounts(database, "b", "a", "c")
    assert list(do(database, read_all).rows[Kind.ACCOUNTS]) == ["a", "b", "c"]


def test_a_change_for_another_version_is_refused(database: Database) -> None:
    accounts(database, "a", "b")
    with pytest.raises(ChangedMeanwhile):
        do(database, change(Kind.ACCOUNTS, "a", lambda before: before, version=2))
    with pytest.raises(ChangedMeanwhile):
        do(database, remove(Kind.ACCOUNTS, "a", version=2))
    do(database, change(Kind.ACCOUNTS, "a", lambda before: before, version=1))
    do(database, remove(Kind.ACCOUNTS, "a", version=3))


def test_what_a_rewrite_raises_changes_nothing(database: Database) -> None:
    def refuse(_before: Definition) -> Definition:
        raise ValueError("no")

    accounts(database, "a")
    with pytest.raises(ValueError, match="no"):
        do(database, change(Kind.ACCOUNTS, "a", refuse))
    assert do(database, read_version) == 1


def test_a_key_needs_its_account(database: Database) -> None:
    with pytest.raises(NoAccount):
        do(database, create(Kind.KEYS, "k", key("k")))
    do(database, create(Kind.KEYS, "k", key("k"), known_accounts={"acme"}))
    with pytest.raises(NoAccount):
        do(database, change(Kind.KEYS, "k", lambda _: key("k", "other"), known_accounts={"acme"}))
    accounts(database, "other")
    do(database, change(Kind.KEYS, "k", lambda _: key("k", "other")))


def test_an_account_with_keys_goes_only_with_them(database: Database) -> None:
    accounts(database, "acme", "other")
    for name in "abcdefg":
        do(database, create(Kind.KEYS, name, key(name)))
    do(database, create(Kind.KEYS, "kept", key("kept", "other")))
    with pytest.raises(InUse) as caught:
        do(database, remove(Kind.ACCOUNTS, "acme"))
    assert caught.value.names == tuple("abcde")
    assert do(database, remove(Kind.ACCOUNTS, "acme", revoke_keys=True)).keys == tuple("abcdefg")
    stored = do(database, read_all)
    assert (list(stored.rows[Kind.ACCOUNTS]), list(stored.rows[Kind.KEYS])) == (["other"], ["kept"])


def test_two_keys_never_have_one_digest(database: Database) -> None:
    do(database, create(Kind.KEYS, "a", key("a"), known_accounts={"acme"}))
    twin = Definition(text="{}", digest="aaaa", hint="…", account="acme")
    with pytest.raises(IntegrityError):
        do(database, create(Kind.KEYS, "b", twin, known_accounts={"acme"}))


def test_an_error_does_not_show_what_was_to_be_written(database: Database) -> None:
    do(database, create(Kind.KEYS, "a", key("a"), known_accounts={"acme"}))
    twin = Definition(text="private text", digest="aaaa", hint="…", account="acme")
    with pytest.raises(IntegrityError) as caught:
        do(database, create(Kind.KEYS, "b", twin, known_accounts={"acme"}))
    assert "private text" not in str(caught.value)
