"""The JSON shapes of channels, models, accounts and keys, without any secret."""

from collections.abc import Sequence
from decimal import Decimal
from enum import Enum
from typing import assert_never

from tidegate.admin.ports import Entry, Value
from tidegate.admin.resources import iso_time
from tidegate.core.capability import Capabilities
from tidegate.core.price import Price, PriceTier
from tidegate.core.query_secrets import without_query_secrets
from tidegate.ledger.entries import Balance, Posting
from tidegate.ledger.money import usd
from tidegate.routing.catalog import Account, Channel, Key, Model
from tidegate.storage.audit import SET
from tidegate.storage.ledger_desk import Refund

Json = dict[str, object]

_RATES = ("input", "output", "cache_read", "cache_write", "cache_write_1h", "web_search")


def entry_json(entry: Entry, warnings: Sequence[str] = ()) -> Json:
    """One entry with its settings, defaults filled in."""
    origin = entry.origin
    head: Json = {
        "name": entry.name,
        "managed_by": "file" if origin is None else "database",
        "version": None if origin is None else origin.version,
        "created_at": None if origin is None else iso_time(origin.created_at),
        "changed_at": None if origin is None else iso_time(origin.changed_at),
        "problem": entry.problem,
        "warnings": list(warnings),
    }
    if origin is not None and origin.hint is not None:
        head["hint"] = origin.hint
    return head if entry.value is None else head | settings_json(entry.value)


def settings_json(value: Value) -> Json:
    """The settings but for the name."""
    match value:
        case Channel():
            return _channel(value)
        case Model():
            return {
                "first_event_timeout": value.first_event_timeout,
                "idle_timeout": value.idle_timeout,
                "max_output_tokens": value.max_output_tokens,
                **_pricing(value.price),
                "capabilities": _capabilities(value.capabilities),
            }
        case Account():
            return {"prepaid": value.prepaid, **_limits(value)}
        case Key():
            return {
                "account": value.account,
                "models": None if value.models is None else list(value.models),
                "conversion": value.conversion.value,
                "unsupported_tools": value.unsupported_tools.value,
                "capture": value.capture,
                **_limits(value),
            }
        case _ as never:
            assert_never(never)


def balance_json(balance: Balance | None) -> Json:
    """What an account has; null where nothing is kept of it."""
    return {
        "balance": None if balance is None else usd(balance.balance),
        "held": None if balance is None else usd(balance.held),
    }


def posting_json(posting: Posting) -> Json:
    """One movement of money."""
    return {
        "number": posting.number,
        "at": iso_time(posting.at),
        "kind": posting.kind,
        "reference": posting.reference,
        "account": posting.account,
        "key": posting.key,
        "source": posting.source,
        "target": posting.target,
        "amount": usd(posting.amount),
        "note": posting.note,
    }


def refund_json(request_id: str, reference: str, done: Refund) -> Json:
    """What came of a refund."""
    return {
        "request": request_id,
        "account": done.account,
        "reference": reference,
        "refunded": done.new,
        "amount": usd(done.amount),
    }


def _channel(value: Channel) -> Json:
    """The credential and the headers' values are never shown, only whether they are there."""
    return {
        "protocol": value.protocol.value,
        "base_url": without_query_secrets(value.base_url, SET),
        "has_api_key": bool(value.api_key),
        "header_names": sorted(value.headers),
        "models": dict(value.models),
        "priority": value.priority,
        "weight": value.weight,
        "connect_timeout": value.connect_timeout,
        "ca_file": value.ca_file,
        "forward_headers": list(value.forward_headers),
        "group": value.group or value.name,
        "capabilities": _capabilities(value.capabilities),
        "unsupported_tools": value.unsupported_tools.value,
        "upstream_stream": value.upstream_stream.value,
        **_pricing(value.price),
    }


def _limits(value: Account | Key) -> Json:
    return {
        "max_concurrency": value.max_concurrency,
        "requests_per_minute": value.requests_per_minute,
        "tokens_per_minute": value.tokens_per_minute,
        "budget_per_day": None if value.budget_per_day is None else usd(value.budget_per_day),
        "budget_per_month": None if value.budget_per_month is None else usd(value.budget_per_month),
    }


def _pricing(price: Price | None) -> Json:
    if price is None:
        return {"price": None, "price_tiers": [], "service_tiers": {}}
    return {
        "price": _rates(price),
        "price_tiers": [
            {"above_input_tokens": tier.above_input_tokens, **_rates(tier)} for tier in price.tiers
        ],
        "service_tiers": {name: plain(factor) for name, factor in price.service_tiers.items()},
    }


def _rates(price: Price | PriceTier) -> Json:
    rates = ((name, getattr(price, name)) for name in _RATES)
    return {name: plain(rate) for name, rate in rates if rate is not None}


def plain(amount: Decimal) -> str:
    """A decimal without an exponent."""
    return f"{amount:f}"


def _capabilities(told: Capabilities) -> Json:
    members = ((name, getattr(told, name)) for name in told.__struct_fields__)
    return {name: _member(value) for name, value in members if value is not None}


def _member(value: object) -> object:
    match value:
        case Enum():
            return value.value
        case tuple():
            return [_member(one) for one in value]
        case _:  # a flag or a number
            return value
