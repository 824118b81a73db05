"""A request's record as the values of its row, and back."""

from collections.abc import Sequence
from math import isfinite
from typing import Any

import msgspec

from tidegate.exchange.ports import AttemptRecord, RequestRecord, SkippedRecord
from tidegate.ledger.books import chargeable
from tidegate.ledger.entries import Item
from tidegate.storage.schema import requests

COLUMNS: tuple[str, ...] = tuple(column.name for column in requests.columns if column.name != "seq")
"""The columns of a row in the order of the record's fields, which a test holds equal."""

_WARNINGS, _ATTEMPTS, _COST, _ITEMS, _SKIPPED = map(
    COLUMNS.index, ("warnings", "attempts", "cost", "items", "skipped")
)
MICROSECONDS = 1_000_000
"""In a second: what the columns count."""

_LARGEST = 2**63 - 1

_to_json = msgspec.json.Encoder().encode
_to_warnings = msgspec.json.Decoder(tuple[str, ...]).decode
_to_items = msgspec.json.Decoder(tuple[Item, ...]).decode
_to_skipped = msgspec.json.Decoder(tuple[SkippedRecord, ...]).decode
_to_attempts = msgspec.json.Decoder(tuple[AttemptRecord, ...]).decode


def to_microseconds(seconds: float) -> int:
    """Unix seconds as the whole number that the column holds."""
    return round(seconds * MICROSECONDS)


def encode(record: RequestRecord) -> list[object]:
    """The row of a record. A text that UTF-8 cannot hold raises UnicodeEncodeError; see `mended`."""
    row: list[object] = list(msgspec.structs.astuple(record))
    row[1] = to_microseconds(record.created_at)
    row[_WARNINGS] = _to_json(record.warnings).decode()
    row[_ATTEMPTS] = _to_json(record.attempts).decode()
    row[_COST] = chargeable(record.cost)  # what the books charge, also where something else was told
    row[_ITEMS] = _to_json(record.items).decode() if record.items else "[]"
    row[_SKIPPED] = _to_json(record.skipped).decode() if record.skipped else None
    return row


def decode(row: Sequence[Any]) -> RequestRecord:
    """The record of a row of COLUMNS."""
    values = dict(zip(COLUMNS, row, strict=True))
    values["created_at"] /= MICROSECONDS
    values["stream"] = bool(values["stream"])
    values["warnings"] = _to_warnings(values["warnings"])
    values["attempts"] = _to_attempts(values["attempts"])
    values["items"] = _to_items(values["items"])
    values["skipped"] = _to_skipped(values["skipped"] or "[]")
    return RequestRecord(**values)


def mended(record: RequestRecord) -> RequestRecord:
    """The record with what no column can hold replaced: lone surrogates, NUL, NaN, counts beyond 64 bits."""
    plain: dict[str, object] = msgspec.to_builtins(record)
    return msgspec.convert(_mend(plain), RequestRecord)


def _mend(value: Any) -> Any:
    match value:
        case str():
            return value.encode("utf-8", "replace").decode().replace("\0", "\ufffd")
        case bool():
            return value
        case int():
            return max(-_LARGEST, min(value, _LARGEST))
        case float():
            return value if isfinite(value) else 0.0
        case list() | tuple():
            return [_mend(entry) for entry in value]
        case dict():
            return {name: _mend(entry) for name, entry in value.items()}
        case _:  # only None is left
            return value
