"""Reads payments: an amount of money, and the reference that keeps it from counting twice."""

import re
import secrets
from decimal import Decimal

from tidegate.admin.ports import Fault, Invalid, Settings
from tidegate.ledger.entries import LATE, OPENING
from tidegate.ledger.money import MOST, NANO, to_nano

_AMOUNT = re.compile(r"[0-9]{1,10}(?:\.[0-9]{1,9})?")
_LONGEST_REFERENCE = 200
_RESERVED = ("req_", OPENING, LATE)
_KNOWN = ("amount", "reference")


def read_payment(settings: Settings) -> tuple[int, str]:
    """The amount in nano-USD, and the reference, which is made where none is given. Raises Invalid."""
    amount, reference, faults = _read(settings, "credit")
    if amount is None:
        faults = [_no_amount(), *faults]
    if faults or amount is None:
        raise Invalid(tuple(faults))
    return amount, reference


def read_refund(settings: Settings) -> tuple[int | None, str]:
    """As `read_payment`; without an amount all of it is meant."""
    amount, reference, faults = _read(settings, "refund")
    if amount is None and settings.get("amount") is not None:
        faults = [_no_amount(), *faults]
    if faults:
        raise Invalid(tuple(faults))
    return amount, reference


def _read(settings: Settings, what: str) -> tuple[int | None, str, list[Fault]]:
    faults = [
        Fault(name[:50].encode("ascii", "backslashreplace").decode(), "is not a setting", "leave it out")
        for name in settings
        if name not in _KNOWN
    ]
    reference = settings.get("reference")
    if reference is None:
        reference = f"{what}_{secrets.token_hex(12)}"
    elif not _is_reference(reference):
        mend = (
            f"use 1 to {_LONGEST_REFERENCE} printable characters, not beginning with {' or '.join(_RESERVED)}"
        )
        faults.append(Fault("reference", "cannot be used", mend))
    return read_amount(settings.get("amount")), str(reference), faults


def _no_amount() -> Fault:
    mend = f'write US dollars like "10.00", above 0 and at most {MOST // NANO}'
    return Fault("amount", "is no amount with at most 9 decimals, as text", mend)


def read_amount(raw: object) -> int | None:
    """A decimal text above zero in nano-USD."""
    if not isinstance(raw, str) or not _AMOUNT.fullmatch(raw):
        return None
    return to_nano(Decimal(raw)) or None


def _is_reference(raw: object) -> bool:
    if not isinstance(raw, str) or not raw.isprintable() or raw != raw.strip():
        return False
    return 0 < len(raw) <= _LONGEST_REFERENCE and not raw.startswith(_RESERVED)


def read_opening(raw: object) -> int:
    """An opening balance that has been checked already, in nano-USD."""
    return to_nano(Decimal(str(raw))) or 0
