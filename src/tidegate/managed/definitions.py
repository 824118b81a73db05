"""Reads one channel, model, account or key from outside the config file, by the checks of the file."""

import json
from collections.abc import Mapping
from decimal import Decimal

import msgspec

from tidegate.admin.ports import Fault, Invalid, Settings, Value
from tidegate.config import callers, channels
from tidegate.config.names import model_name, name
from tidegate.config.problems import Severity
from tidegate.config.report import Report
from tidegate.config.settings import Streaming
from tidegate.config.sources import NOWHERE
from tidegate.config.table import Table
from tidegate.config.values import Wrong
from tidegate.storage.catalog import Kind

_numbers = msgspec.json.Encoder(decimal_format="number", order="deterministic")
_UNREACHABLE_IN_URLS = (".", "..")


def read_value(kind: Kind, called: str, settings: Mapping[str, object], streaming: Streaming) -> Value:
    """The value, its defaults filled in. Raises Invalid with all that is wrong."""
    report = Report("", {}, settings)
    table = Table(settings, (), report, NOWHERE)
    value = _read(kind, called, table, streaming)
    faults = tuple(
        Fault(problem.key, problem.message, problem.mend)
        for problem in report.problems()
        if problem.severity is Severity.ERROR
    )
    if faults:
        raise Invalid(faults)
    return value


def _read(kind: Kind, called: str, table: Table, streaming: Streaming) -> Value:
    match kind:
        case Kind.CHANNELS:
            return channels.channel(table, called)
        case Kind.MODELS:
            return callers.model(table, called, streaming)
        case Kind.ACCOUNTS:
            if table.is_set("balance"):
                table.error("balance", "is set once, when the account is made", "credit the account")
            return callers.account(table, called).payer
        case Kind.KEYS:
            key = callers.caller(table, called, model_name, name)
            table.close()
            return key


def read_name(kind: Kind, settings: Settings) -> str:
    """The name that a new thing gives itself. Raises Invalid."""
    raw = settings.get("name")
    read = model_name(raw) if kind is Kind.MODELS else name(raw)
    if raw is None:
        read = Wrong("is missing", f"give the {kind.one} a name of its own")
    elif isinstance(raw, str) and raw.startswith(("env:", "file:")):
        read = Wrong(
            "stands for a variable or a file, which only the config file may", "write the value itself"
        )
    elif read in _UNREACHABLE_IN_URLS:
        read = Wrong("is a step in a path", "use a name that can stand in a URL")
    if isinstance(read, Wrong):
        raise Invalid((Fault("name", read.message, read.mend),))
    return read


def without_defaults(settings: Mapping[str, object]) -> Settings:
    """What is set; None stands for the default."""
    return {key: value for key, value in settings.items() if value is not None}


def written(settings: Mapping[str, object]) -> str:
    """Settings as they are stored."""
    return _numbers.encode(settings).decode()


def parsed(text: str) -> Settings:
    """Stored settings. Raises Invalid where they are none."""
    try:
        settings = json.loads(text, parse_float=Decimal)
    except (ValueError, RecursionError):
        settings = None
    if not isinstance(settings, dict):
        raise Invalid(
            (Fault("", "is stored as something other than settings", "delete it and make it anew"),)
        )
    return settings
