"""The settings of channels, models, accounts and keys in the OpenAPI document."""

from enum import Enum

from tidegate.admin.openapi_parts import (
    AMOUNT,
    COUNT,
    FLAG,
    POSITIVE,
    SECONDS,
    TEXT,
    TIME,
    Schema,
    closed,
    list_of,
    map_of,
    or_null,
)
from tidegate.core.capability import (
    Capabilities,
    Conversion,
    Effort,
    MaxTokensField,
    ReplayReasoning,
    Thinking,
    UnsupportedTools,
)
from tidegate.core.price import Price
from tidegate.core.protocol import Protocol
from tidegate.routing.catalog import UpstreamStream
from tidegate.storage.catalog import Kind

_NAME: Schema = {"type": "string", "maxLength": 256}
_DURATION: Schema = {
    "anyOf": [SECONDS, TEXT],
    "description": 'Seconds, or text like "500ms", "10s", "6m"; 0 switches it off.',
}
_DECIMAL: Schema = {"anyOf": [{"type": "string", "pattern": r"^\d+(\.\d+)?$"}, {"type": "number"}]}
_EXACT: Schema = {"type": "string", "pattern": r"^\d+(\.\d+)?$"}
_SHARE: Schema = {
    "type": "number",
    "minimum": 0,
    "maximum": 1,
    "description": "The share of the key's requests whose content is kept.",
}
_NAMES: Schema = list_of(_NAME)
_RATES = tuple(name for name in Price.__struct_fields__ if name not in ("tiers", "service_tiers"))
_WRITE_ONLY = {"writeOnly": True}


def answered(kind: Kind) -> Schema:
    """The settings as answers show them, defaults filled in."""
    match kind:
        case Kind.CHANNELS:
            return _answered_channel()
        case Kind.MODELS:
            return {
                "first_event_timeout": SECONDS,
                "idle_timeout": SECONDS,
                "max_output_tokens": or_null(POSITIVE),
                **_answered_price(),
                "capabilities": _capabilities(),
            }
        case Kind.ACCOUNTS:
            return {
                "prepaid": FLAG,
                **_limits(or_null(AMOUNT)),
                "balance": or_null(AMOUNT, "What is held counts in."),
                "held": or_null(AMOUNT),
            }
        case Kind.KEYS:
            return {
                "account": TEXT,
                "models": or_null(_NAMES, "null: all."),
                "conversion": _choice(Conversion),
                "unsupported_tools": _choice(UnsupportedTools),
                "capture": _SHARE,
                **_limits(or_null(AMOUNT)),
                "last_used_at": or_null(TIME, "null: no row of the journal tells."),
                "spent_today": or_null(AMOUNT, "What its requests of this UTC day cost."),
                "spent_month": or_null(AMOUNT),
            }


def _answered_channel() -> Schema:
    return {
        "protocol": _choice(Protocol),
        "base_url": TEXT,
        "has_api_key": {**FLAG, "description": "The credential itself is never shown."},
        "header_names": {**list_of(TEXT), "description": "Values are never shown."},
        "models": map_of(TEXT),
        "priority": {"type": "integer"},
        "weight": POSITIVE,
        "connect_timeout": SECONDS,
        "ca_file": or_null(TEXT),
        "forward_headers": list_of(TEXT),
        "group": TEXT,
        "capabilities": _capabilities(),
        "unsupported_tools": _choice(UnsupportedTools),
        "upstream_stream": _choice(UpstreamStream),
        **_answered_price(),
    }


def sent(kind: Kind, *, new: bool) -> Schema:
    """The settings as they are sent; null takes the default."""
    settings: Schema = {name: or_null(schema) for name, schema in _sent(kind).items()}
    required: tuple[str, ...] = ()
    if new:
        settings = {"name": _NAME, **settings}
        required = ("name", *(("protocol", "base_url", "models") if kind is Kind.CHANNELS else ()))
        if kind is Kind.ACCOUNTS:
            opening = "Opening balance in US dollars, credited once; the account is then prepaid."
            settings["balance"] = or_null(_DECIMAL, opening)
    return closed(settings, required)


def _sent(kind: Kind) -> dict[str, Schema]:
    match kind:
        case Kind.CHANNELS:
            return {
                "protocol": _choice(Protocol),
                "base_url": TEXT,
                "api_key": {**TEXT, **_WRITE_ONLY},
                "models": {"anyOf": [_NAMES, map_of(_NAME)]},
                "priority": {"type": "integer", "minimum": -1_000_000, "maximum": 1_000_000},
                "weight": {"type": "integer", "minimum": 1, "maximum": 1_000_000},
                "connect_timeout": _DURATION,
                "headers": {**map_of(TEXT), **_WRITE_ONLY},
                "forward_headers": list_of(TEXT),
                "group": _NAME,
                "capabilities": _capabilities(),
                "unsupported_tools": _choice(UnsupportedTools),
                "upstream_stream": _choice(UpstreamStream),
                **_sent_price(),
            }
        case Kind.MODELS:
            return {
                "first_event_timeout": _DURATION,
                "idle_timeout": _DURATION,
                "max_output_tokens": POSITIVE,
                **_sent_price(),
                "capabilities": _capabilities(),
            }
        case Kind.ACCOUNTS:
            return {"prepaid": FLAG, **_limits(_DECIMAL)}
        case Kind.KEYS:
            return {
                "account": _NAME,
                "models": _NAMES,
                "conversion": _choice(Conversion),
                "unsupported_tools": _choice(UnsupportedTools),
                "capture": _SHARE,
                **_limits(_DECIMAL),
            }


def _limits(budget: Schema) -> dict[str, Schema]:
    number = or_null(POSITIVE)
    return {
        "max_concurrency": number,
        "requests_per_minute": number,
        "tokens_per_minute": number,
        "budget_per_day": budget,
        "budget_per_month": budget,
    }


def _answered_price() -> Schema:
    rates: Schema = dict.fromkeys(_RATES, _EXACT)
    tier: Schema = {"type": "object", "properties": {"above_input_tokens": POSITIVE, **rates}}
    return {
        "price": or_null({"type": "object", "properties": rates}),
        "price_tiers": list_of(tier),
        "service_tiers": map_of(_EXACT),
    }


def _sent_price() -> dict[str, Schema]:
    rates: Schema = dict.fromkeys(_RATES, _DECIMAL)
    tier = closed({"above_input_tokens": POSITIVE, **rates}, required=("above_input_tokens",))
    return {
        "price": closed(rates, required=("input", "output")),
        "price_tiers": list_of(tier),
        "service_tiers": map_of(_DECIMAL),
    }


def _capabilities() -> Schema:
    choices: dict[str, Schema] = {
        "max_tokens_field": _choice(MaxTokensField),
        "thinking": _choice(Thinking),
        "efforts": list_of(_choice(Effort)),
        "replay_reasoning": _choice(ReplayReasoning),
        "tool_name_max": COUNT,
        "unsupported_tools": _choice(UnsupportedTools),
    }
    settings: Schema = {name: choices.get(name, FLAG) for name in Capabilities.__struct_fields__}
    return closed(settings)


def _choice(kind: type[Enum]) -> Schema:
    return {"enum": [member.value for member in kind]}
