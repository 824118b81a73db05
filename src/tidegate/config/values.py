"""Reads single settings: each function takes what stood in the file and gives the value, or what is wrong."""

import re
from collections.abc import Callable
from decimal import Decimal
from enum import Enum
from typing import TypeAlias, TypeVar

from msgspec import Struct

from tidegate.core.secret import Secret

E = TypeVar("E", bound=Enum)
T = TypeVar("T")

_UNITS = {"ms": Decimal("0.001"), "s": Decimal(1), "m": Decimal(60), "h": Decimal(3600), "d": Decimal(86400)}
_DURATION = re.compile(r"(-?[0-9]{1,12}(?:\.[0-9]{1,9})?) ?(ms|s|m|h|d)")
_LONGEST = Decimal(100 * 365 * 86400)
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_SURROGATE = re.compile(r"[\ud800-\udfff]")
_CREDENTIAL = re.compile(r"[\x21-\x7e]+")


class Wrong(Struct, frozen=True):
    """Why a value cannot be used, and what to write instead. Neither repeats the value."""

    message: str
    mend: str


Parse: TypeAlias = Callable[[object], T | Wrong]


def _kind(raw: object) -> str:
    match raw:
        case bool():
            return "true or false"
        case str():
            return "text"
        case int() | Decimal():
            return "a number"
        case list():
            return "a list"
        case dict():
            return "a table"
        case None:  # from JSON only
            return "null"
        case _:  # TOML has dates and times besides
            return "a date or time"


def not_a(wanted: str, raw: object, mend: str) -> Wrong:
    """A value of the wrong type."""
    return Wrong(f"must be {wanted}, not {_kind(raw)}", mend)


def free_text(raw: object) -> str | Wrong:
    """Any text with something in it."""
    if not isinstance(raw, str):
        return not_a("text", raw, "write it in quotes")
    if _SURROGATE.search(raw):
        return Wrong("is not valid UTF-8", "mend the variable or file that it comes from")
    return raw if raw.strip() else Wrong("is empty", "give it a value or leave it out")


def text(raw: object) -> str | Wrong:
    """One line of text with something in it."""
    read = free_text(raw)
    if isinstance(read, str) and _CONTROL.search(read):
        return Wrong("holds a line break or another control character", "write it on one line")
    return read


def flag(raw: object) -> bool | Wrong:
    """True or false."""
    return raw if isinstance(raw, bool) else not_a("true or false", raw, "write true or false without quotes")


def whole(least: int, most: int) -> Parse[int]:
    """A whole number in these bounds."""

    def parse(raw: object) -> int | Wrong:
        if isinstance(raw, bool) or not isinstance(raw, int):
            mend = "write it without quotes and without a fraction; env: and file: give text only"
            return not_a("a whole number", raw, mend)
        if not least <= raw <= most:
            return Wrong("is out of range", f"choose a number from {least} to {most}")
        return raw

    return parse


def seconds(raw: object) -> float | Wrong:
    """A duration: a number of seconds, or text like "500ms", "10s", "6m", "1h", "90d"."""
    mend = 'write a number of seconds or text like "500ms", "10s", "6m", "1h" or "90d"; 0 switches it off'
    match raw:
        case bool():
            return not_a("a duration", raw, mend)
        case int() | Decimal():
            amount = Decimal(raw)
        case str() if found := _DURATION.fullmatch(raw.strip()):
            amount = Decimal(found[1]) * _UNITS[found[2]]
        case str():
            return Wrong("is no duration", mend)
        case _:  # a list, table or date
            return not_a("a duration", raw, mend)
    if not amount.is_finite() or amount > _LONGEST:
        return Wrong("is too long", "choose at most 36500d, or 0 to switch it off")
    return Wrong("is negative", "choose 0 to switch it off") if amount < 0 else float(amount)


def choice(kind: type[E]) -> Parse[E]:
    """One of the values of an enum."""
    allowed = ", ".join(f'"{member.value}"' for member in kind)

    def parse(raw: object) -> E | Wrong:
        for member in kind:
            if member.value == raw:
                return member
        return Wrong("is none of the values it can have", f"choose one of {allowed}")

    return parse


def decimal(most: Decimal, places: int) -> Parse[Decimal]:
    """An exact decimal from 0 to `most` with at most so many decimals, as text or as a number."""
    mend = f'write a decimal like "3.00", from 0 to {most}, with at most {places} decimals'

    def parse(raw: object) -> Decimal | Wrong:
        if isinstance(raw, bool) or not isinstance(raw, str | int | Decimal):
            return not_a("a decimal", raw, mend)
        amount = _exact(raw)
        if amount is None:
            return Wrong("is no decimal", mend)
        if amount < 0:
            return Wrong("is negative", mend)
        if amount > most:
            return Wrong("is too large", mend)
        exponent = amount.as_tuple().exponent
        if isinstance(exponent, int) and exponent < -places:
            return Wrong(f"has more than {places} decimals", mend)
        return amount

    return parse


def _exact(raw: str | int | Decimal) -> Decimal | None:
    """The number without any rounding; None if it is none."""
    if isinstance(raw, str) and not re.fullmatch(r"[+-]?[0-9]{1,20}(\.[0-9]{1,20})?", raw.strip()):
        return None
    amount = Decimal(raw)
    return amount if amount.is_finite() else None


def secret(raw: object) -> Secret | Wrong:
    """Any text, kept so that it is never printed."""
    read = free_text(raw)
    return read if isinstance(read, Wrong) else Secret(read)


def credential(raw: object) -> Secret | Wrong:
    """Text that can stand in a header as a credential."""
    read = free_text(raw)
    if isinstance(read, Wrong):
        return read
    if not _CREDENTIAL.fullmatch(read):
        return Wrong(
            "holds spaces, line breaks or characters other than ASCII",
            "copy the credential again, without quotes around it",
        )
    return Secret(read)
