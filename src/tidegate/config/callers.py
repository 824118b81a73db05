"""Reads what callers see and who they are: models, accounts, keys."""

from decimal import Decimal

from tidegate.config import values
from tidegate.config.capabilities import capabilities
from tidegate.config.names import DEFAULT_ACCOUNT, model_name, name, named
from tidegate.config.prices import price
from tidegate.config.problems import shown
from tidegate.config.settings import Account, Streaming
from tidegate.config.table import Table
from tidegate.config.values import Parse, Wrong
from tidegate.core.capability import Conversion, UnsupportedTools
from tidegate.ledger.money import MOST, NANO, to_nano
from tidegate.routing.catalog import Key, Model, digest

_limit = values.whole(1, 1_000_000_000)
_fraction = values.decimal(Decimal(1), 6)
_usd = values.decimal(Decimal(MOST // NANO), 9)


def nano_usd(raw: object) -> int | Wrong:
    """An amount of US dollars as nano-USD."""
    read = _usd(raw)
    if isinstance(read, Wrong):
        return read
    amount = to_nano(read)
    return Wrong("has more than 9 decimals", "round it") if amount is None else amount


def share(raw: object) -> float | Wrong:
    """A part of a whole."""
    read = _fraction(raw)
    return read if isinstance(read, Wrong) else float(read)


def models(table: Table, streaming: Streaming, served: Parse[str]) -> tuple[Model, ...]:
    """All models of the file; limits that a model does not set are those of `streaming`."""
    return tuple(model(row, called, streaming) for row, called in named(table, "models", "model", served))


def model(row: Table, called: str, streaming: Streaming) -> Model:
    """One model."""
    read = Model(
        name=called,
        first_event_timeout=row.read("first_event_timeout", values.seconds, streaming.first_event_timeout),
        idle_timeout=row.read("idle_timeout", values.seconds, streaming.idle_timeout),
        max_output_tokens=row.read("max_output_tokens", _limit, None),
        price=price(row),
        capabilities=capabilities(row),
    )
    row.close()
    return read


def accounts(table: Table) -> tuple[Account, ...]:
    """All accounts of the file."""
    return tuple(account(row, called) for row, called in named(table, "accounts", "account", name))


def account(row: Table, called: str) -> Account:
    """One account."""
    balance = row.read("balance", nano_usd, None)
    read = Account(
        name=called,
        balance=None if balance is None else Decimal(balance).scaleb(-9),
        prepaid=row.read("prepaid", values.flag, balance is not None),
        max_concurrency=row.read("max_concurrency", _limit, None),
        requests_per_minute=row.read("requests_per_minute", _limit, None),
        tokens_per_minute=row.read("tokens_per_minute", _limit, None),
        budget_per_day=row.read("budget_per_day", nano_usd, None),
        budget_per_month=row.read("budget_per_month", nano_usd, None),
    )
    if balance is not None and not read.prepaid:
        row.error("prepaid", "is false, but a balance is set", "leave one of them out")
    row.close()
    return read


def keys(table: Table, served: Parse[str], account: Parse[str]) -> tuple[tuple[bytes, Key], ...]:
    """All keys of the file in its order, each with the digest of its secret."""
    read: list[tuple[bytes, Key]] = []
    owners: dict[bytes, str] = {}
    for row, called in named(table, "keys", "key", name):
        secret = row.need("key", values.credential, None, 'write key = "env:NAME" or "file:PATH"')
        key = caller(row, called, served, account)
        if row.peek("models") == []:
            mend = "name models, or leave it out to allow all"
            row.report.warning((*row.path, "models"), "is empty, so the key may use no model", mend)
        row.close()
        if secret is None:
            continue
        hashed = digest(secret.reveal())
        if hashed in owners:
            row.error("key", f"is also the secret of {shown(owners[hashed])}", "give each key its own")
        owners.setdefault(hashed, called or "another key")
        read.append((hashed, key))
    return tuple(read)


def caller(row: Table, called: str, served: Parse[str], account: Parse[str]) -> Key:
    """One key but for its secret; to be closed by whoever reads that."""
    return Key(
        name=called,
        account=row.read("account", account, DEFAULT_ACCOUNT),
        models=_key_models(row, served),
        conversion=row.read("conversion", values.choice(Conversion), Conversion.LENIENT),
        unsupported_tools=row.read(
            "unsupported_tools", values.choice(UnsupportedTools), UnsupportedTools.DROP
        ),
        max_concurrency=row.read("max_concurrency", _limit, None),
        requests_per_minute=row.read("requests_per_minute", _limit, None),
        tokens_per_minute=row.read("tokens_per_minute", _limit, None),
        budget_per_day=row.read("budget_per_day", nano_usd, None),
        budget_per_month=row.read("budget_per_month", nano_usd, None),
        capture=row.read("capture", share, 0.0),
    )


def _key_models(row: Table, served: Parse[str]) -> tuple[str, ...] | None:
    """A key may name a model before a channel serves it, or after; that is likely, but not surely, a slip."""
    models = row.items("models", model_name)
    for number, model in enumerate(models or ()):
        wrong = served(model)
        if isinstance(wrong, Wrong):
            row.report.warning((*row.path, "models", number), wrong.message, wrong.mend)
    return models
