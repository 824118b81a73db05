"""Puts the config file and the database together into the one catalog that is in force."""

from collections.abc import Iterable, Mapping
from functools import partial

from msgspec import Struct, field, structs

from tidegate.admin.ports import Entry, Invalid, Origin, Value
from tidegate.config import Config
from tidegate.config.names import DEFAULT_ACCOUNT
from tidegate.config.problems import shown
from tidegate.config.settings import Account as PaidAccount
from tidegate.config.settings import Streaming
from tidegate.managed.definitions import parsed, read_value
from tidegate.managed.sealing import NO_CREDENTIALS, Credentials, Unsealable, Vault, mapping_of
from tidegate.routing.catalog import Account, Channel, Key, Model
from tidegate.routing.names import Lookup, narrower
from tidegate.storage.catalog import Kind, Stored, StoredCatalog
from tidegate.storage.channel_duties import StoredDuty

_MOST_NAMED = 5


class State(Struct, frozen=True, kw_only=True):
    """What is in force. `config` is that of the file with what the database adds; `notes` are for the log."""

    config: Config
    entries: Mapping[Kind, Mapping[str, Entry]]
    """By name, in the order of the names."""
    notes: tuple[str, ...] = ()
    duties: Mapping[str, StoredDuty] = {}
    """Of channels that were ever paused or left to drain."""
    models: Lookup[Model] = field(default_factory=lambda: Lookup({}))
    """What is set for models, by name and pattern."""

    def doubts(self, entry: Entry) -> tuple[str, ...]:
        """What about it is likely not meant."""
        match entry.value:
            case Key(models=models) if models is not None and not any(map(self._served, models)):
                return ("models: no channel serves any of them, so the key can call nothing",)
            case Model(name=name) if not self._served(name):
                return ("name: no channel serves this model",)
            case Channel(models=models) if free := [name for name in models if self._is_free(name)]:
                more = f" and {len(free) - _MOST_NAMED} more" if len(free) > _MOST_NAMED else ""
                return (f"models: {', '.join(free[:_MOST_NAMED])}{more} have no price: free until priced",)
            case _:  # nothing to doubt in the others
                return ()

    def _is_free(self, model: str) -> bool:
        found = self.models.first(model)
        return found is None or found.price is None

    def _served(self, model: str) -> bool:
        return any(narrower(public, model) for one in self.config.channels for public in one.models)


class Reading:
    """Reads rows; what was read once is kept for as long as the row does not change."""

    def __init__(self, vault: Vault | None) -> None:
        """Without a vault channels are read without their credentials."""
        self._vault = vault
        self._read: dict[tuple[Kind, str], tuple[int, Streaming, Entry]] = {}

    def merge(self, config: Config, stored: StoredCatalog) -> State:
        """One catalog of both. What the file declares goes before what is stored under the same name."""
        notes: list[str] = []
        declared = _declared(config)
        self._forget(stored)
        entries: dict[Kind, dict[str, Entry]] = {}
        for kind in (Kind.CHANNELS, Kind.MODELS, Kind.ACCOUNTS, Kind.KEYS):
            kept = dict(declared[kind])
            for row in stored.rows[kind].values():
                if row.name in kept:
                    notes.append(
                        f"{kind.one} {shown(row.name)}: stands in the config file and in the database;"
                        " that of the file is in force"
                    )
                    continue
                entry = self._entry(kind, row, config.streaming)
                kept[row.name] = _with_account(entry, entries[Kind.ACCOUNTS]) if kind is Kind.KEYS else entry
            notes += [f"{kind.one} {shown(one.name)}: {one.problem}" for one in kept.values() if one.problem]
            entries[kind] = dict(sorted(kept.items()))
        effective = _effective(config, entries, stored)
        return State(
            config=effective,
            entries=entries,
            notes=tuple(notes),
            duties=stored.duties,
            models=Lookup({model.name: model for model in effective.models}),
        )

    def _entry(self, kind: Kind, row: Stored, streaming: Streaming) -> Entry:
        known = self._read.get((kind, row.name))
        if known is not None and known[:2] == (row.version, streaming):
            return known[2]
        entry = self._read_row(kind, row, streaming)
        self._read[kind, row.name] = (row.version, streaming, entry)
        return entry

    def _read_row(self, kind: Kind, row: Stored, streaming: Streaming) -> Entry:
        entry = partial(Entry, kind=kind, name=row.name, origin=_origin(row))
        try:
            sealed = mapping_of(self.credentials(row))
            return entry(
                value=read_value(kind, row.name, {**parsed(row.definition.text), **sealed}, streaming)
            )
        except Unsealable:
            return entry(
                value=None,
                problem="its credential cannot be opened: server.secret is not the one that sealed it;"
                " restore that secret, or set api_key and headers of the channel anew",
            )
        except Invalid as error:
            return entry(value=None, problem=f"cannot be used: {error}")

    def credentials(self, row: Stored) -> Credentials:
        """What is sealed in a row. Raises Unsealable."""
        sealed = row.definition.sealed
        if sealed is None or self._vault is None:
            return NO_CREDENTIALS
        return self._vault.open(row.name, sealed)

    def _forget(self, stored: StoredCatalog) -> None:
        """Let go of what is deleted."""
        self._read = {
            place: known for place, known in self._read.copy().items() if place[1] in stored.rows[place[0]]
        }


def _declared(config: Config) -> dict[Kind, dict[str, Entry]]:
    """What the config file declares."""
    values: dict[Kind, Iterable[Value]] = {
        Kind.CHANNELS: config.channels,
        Kind.MODELS: config.models,
        Kind.ACCOUNTS: (account.payer for account in config.accounts),
        Kind.KEYS: config.keys.values(),
    }
    return {
        kind: {value.name: Entry(kind=kind, name=value.name, value=value) for value in declared}
        for kind, declared in values.items()
    }


def _with_account(entry: Entry, accounts: Mapping[str, Entry]) -> Entry:
    """A key whose account is not there, or cannot be used, would be one without any limit: it is left out."""
    if not isinstance(entry.value, Key):
        return entry
    account = accounts.get(entry.value.account)
    usable = entry.value.account == DEFAULT_ACCOUNT if account is None else account.value is not None
    return entry if usable else structs.replace(entry, value=None, problem="its account cannot be used")


def _on_duty(channel: Channel, duties: Mapping[str, StoredDuty]) -> Channel:
    kept = duties.get(channel.name)
    return channel if kept is None or kept.duty is channel.duty else structs.replace(channel, duty=kept.duty)


def _origin(row: Stored) -> Origin:
    return Origin(
        version=row.version,
        created_at=row.created_at,
        changed_at=row.changed_at,
        hint=row.definition.hint,
    )


def _effective(config: Config, entries: Mapping[Kind, Mapping[str, Entry]], stored: StoredCatalog) -> Config:
    values = [entry.value for kind in Kind for entry in entries[kind].values() if entry.origin is not None]
    keys = {
        bytes.fromhex(row.definition.digest): entry.value
        for name, row in stored.rows[Kind.KEYS].items()
        if (entry := entries[Kind.KEYS][name]).origin is not None
        and isinstance(entry.value, Key)
        and row.definition.digest is not None
    }
    accounts = (value for value in values if isinstance(value, Account))
    channels = (*config.channels, *(value for value in values if isinstance(value, Channel)))
    return structs.replace(
        config,
        channels=tuple(_on_duty(channel, stored.duties) for channel in channels),
        models=(*config.models, *(value for value in values if isinstance(value, Model))),
        accounts=(*config.accounts, *(PaidAccount(**structs.asdict(account)) for account in accounts)),
        keys={**keys, **config.keys},
    )
