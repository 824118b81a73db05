"""Keeps the channels, models, accounts and keys that are managed in the database."""

import time
from collections.abc import Callable, Collection, Mapping
from enum import Enum
from typing import Any, TypeAlias, TypeVar

from msgspec import Struct
from sqlalchemy import Connection, Row, delete, insert, select, update
from sqlalchemy import Table as SqlTable

from tidegate.storage.catalog_version import next_version, read_version
from tidegate.storage.channel_duties import StoredDuty, forget_duty, read_duties
from tidegate.storage.schema import (
    catalog_accounts,
    catalog_channels,
    catalog_keys,
    catalog_models,
)

T = TypeVar("T")
Task: TypeAlias = Callable[[Connection], T]
"""What is done in one transaction."""

_MICROSECONDS = 1_000_000


class Kind(Enum):
    """What can be managed."""

    CHANNELS = "channels"
    MODELS = "models"
    ACCOUNTS = "accounts"
    KEYS = "keys"

    @property
    def one(self) -> str:
        """The word for one of them."""
        return self.value.removesuffix("s")


class Definition(Struct, frozen=True, kw_only=True):
    """What is kept of one thing. `text` is its settings as JSON, without any secret.

    `sealed` is a channel's credential and headers, encrypted; `digest` and `account` are a key's, and
    `hint` is what of its secret may be shown.
    """

    text: str
    sealed: bytes | None = None
    digest: str | None = None
    hint: str | None = None
    account: str | None = None


class Stored(Struct, frozen=True, kw_only=True):
    """A row. `version` is that of the whole catalog at its last change, so it never comes back."""

    name: str
    definition: Definition
    version: int
    created_at: float
    """Unix seconds"""
    changed_at: float


class StoredCatalog(Struct, frozen=True):
    """All rows at one version, by name."""

    version: int
    rows: Mapping[Kind, Mapping[str, Stored]]
    duties: Mapping[str, StoredDuty] = {}
    """What is wanted of channels, those of the config file too."""


NOTHING_STORED = StoredCatalog(0, {kind: {} for kind in Kind})


class NameTaken(Exception):
    """There is one of this name."""


class NotThere(Exception):
    """There is none of this name."""


class ChangedMeanwhile(Exception):
    """It is not at the version that the change was made for."""


class InUse(Exception):
    """Others refer to it; `names` are some of their names."""

    def __init__(self, names: tuple[str, ...]) -> None:
        super().__init__(", ".join(names))
        self.names = names


class NoAccount(Exception):
    """The account of a key is not there."""


_TABLES: dict[Kind, SqlTable] = {
    Kind.CHANNELS: catalog_channels,
    Kind.MODELS: catalog_models,
    Kind.ACCOUNTS: catalog_accounts,
    Kind.KEYS: catalog_keys,
}
_SHOWN_NAMES = 5


def read_all(connection: Connection) -> StoredCatalog:
    """Every row. The version is read first: at worst a change in between is seen again at the next look."""
    version = read_version(connection)
    rows = {kind: _rows(connection, table) for kind, table in _TABLES.items()}
    return StoredCatalog(version, rows, read_duties(connection))


def create(
    kind: Kind,
    name: str,
    definition: Definition,
    *,
    known_accounts: Collection[str] = (),
    clock: Callable[[], float] = time.time,
) -> Task[None]:
    """Add one. A key's account must be one of `known_accounts` or stored."""

    def task(connection: Connection) -> None:
        version = next_version(connection)
        table = _TABLES[kind]
        if _find(connection, table, name) is not None:
            raise NameTaken(name)
        _check_account(connection, definition, known_accounts)
        now = int(clock() * _MICROSECONDS)
        row = {"name": name, "version": version, "created_at": now, "changed_at": now}
        connection.execute(insert(table).values(row | _columns(table, definition)))
        if kind is Kind.CHANNELS:
            forget_duty(connection, name)

    return task


def change(
    kind: Kind,
    name: str,
    rewrite: Callable[[Definition], Definition],
    *,
    version: int | None = None,
    known_accounts: Collection[str] = (),
    clock: Callable[[], float] = time.time,
) -> Task[None]:
    """Replace one by what `rewrite` makes of it; `version` None takes whichever is there."""

    def task(connection: Connection) -> None:
        raised = next_version(connection)
        table = _TABLES[kind]
        before = _at_version(connection, table, name, version)
        after = rewrite(before.definition)
        if after.account != before.definition.account:
            _check_account(connection, after, known_accounts)
        row = {"version": raised, "changed_at": int(clock() * _MICROSECONDS)}
        statement = update(table).where(table.c.name == name).values(row | _columns(table, after))
        connection.execute(statement)

    return task


class Removed(Struct, frozen=True):
    """What was deleted, with the names of the keys that went with it."""

    definition: Definition
    keys: tuple[str, ...] = ()


def remove(kind: Kind, name: str, *, version: int | None = None, revoke_keys: bool = False) -> Task[Removed]:
    """Delete one. An account that has keys is only deleted together with them."""

    def task(connection: Connection) -> Removed:
        next_version(connection)
        table = _TABLES[kind]
        before = _at_version(connection, table, name, version)
        keys = _keys_of(connection, name) if kind is Kind.ACCOUNTS else ()
        if keys and not revoke_keys:
            raise InUse(keys[:_SHOWN_NAMES])
        if keys:
            connection.execute(delete(catalog_keys).where(catalog_keys.c.account == name))
        connection.execute(delete(table).where(table.c.name == name))
        if kind is Kind.CHANNELS:
            forget_duty(connection, name)
        return Removed(before.definition, keys)

    return task


def _rows(connection: Connection, table: SqlTable) -> dict[str, Stored]:
    return {row.name: _stored(row) for row in connection.execute(select(table).order_by(table.c.name))}


def _find(connection: Connection, table: SqlTable, name: str) -> Stored | None:
    row = connection.execute(select(table).where(table.c.name == name)).first()
    return None if row is None else _stored(row)


def _at_version(connection: Connection, table: SqlTable, name: str, version: int | None) -> Stored:
    found = _find(connection, table, name)
    if found is None:
        raise NotThere(name)
    if version is not None and version != found.version:
        raise ChangedMeanwhile(name)
    return found


def _keys_of(connection: Connection, account: str) -> tuple[str, ...]:
    query = select(catalog_keys.c.name).where(catalog_keys.c.account == account).order_by(catalog_keys.c.name)
    return tuple(connection.execute(query).scalars())


def _check_account(connection: Connection, definition: Definition, known: Collection[str]) -> None:
    account = definition.account
    if account is None or account in known:
        return
    if _find(connection, catalog_accounts, account) is None:
        raise NoAccount(account)


def _stored(row: Row[Any]) -> Stored:
    columns = row._mapping
    definition = Definition(
        text=columns["definition"],
        sealed=columns.get("sealed"),
        digest=columns.get("digest"),
        hint=columns.get("hint"),
        account=columns.get("account"),
    )
    return Stored(
        name=columns["name"],
        definition=definition,
        version=columns["version"],
        created_at=columns["created_at"] / _MICROSECONDS,
        changed_at=columns["changed_at"] / _MICROSECONDS,
    )


def _columns(table: SqlTable, definition: Definition) -> dict[str, object]:
    """The columns that this table has of a definition."""
    values: dict[str, object] = {
        "definition": definition.text,
        "sealed": definition.sealed,
        "digest": definition.digest,
        "hint": definition.hint,
        "account": definition.account,
    }
    return {name: value for name, value in values.items() if name in table.c}
