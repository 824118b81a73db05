"""The query parameters of the admin API."""

from collections.abc import Collection, Iterable, Mapping
from http import HTTPStatus

from msgspec import Struct

from tidegate.admin.problems import Problem
from tidegate.storage.pages import OUTCOMES, PROTOCOLS, Filters

DEFAULT_LIMIT = 50
LARGEST_LIMIT = 500

_CHOICES = {"outcome": OUTCOMES, "protocol": PROTOCOLS}
_FILTERS = Filters.__struct_fields__
_KNOWN = ("limit", "before", *_FILTERS)


class Wanted(Struct, frozen=True, kw_only=True):
    """Which rows the caller asks for."""

    filters: Filters
    limit: int = DEFAULT_LIMIT
    before: str | None = None


def read_wanted(query: Iterable[tuple[str, str]]) -> Wanted:
    """What the query string says. An empty value counts as not given; anything wrong raises a Problem."""
    given = read_known(query, _KNOWN)
    return Wanted(
        filters=Filters(**{name: value for name in _FILTERS if (value := _choice(name, given)) is not None}),
        limit=read_limit(given.get("limit")),
        before=given.get("before"),
    )


def wrong(parameter: str, detail: str) -> Problem:
    """A 400 that names the parameter."""
    return Problem(HTTPStatus.BAD_REQUEST, f"{parameter}: {detail}", parameter=parameter)


def read_known(query: Iterable[tuple[str, str]], known: Collection[str]) -> dict[str, str]:
    """The parameters with a value. One that is not known, or is given twice, raises a Problem."""
    given: dict[str, str] = {}
    for name, value in query:
        if name not in known:
            shown = name[:50].encode("ascii", "backslashreplace").decode()
            raise wrong(shown, f"there is no such parameter; known are {', '.join(known) or 'none'}")
        if name in given:
            raise wrong(name, "is given more than once")
        given[name] = value
    return {name: value for name, value in given.items() if value}


def _choice(name: str, given: Mapping[str, str]) -> str | None:
    value = given.get(name)
    choices = _CHOICES.get(name)
    if value is not None and choices is not None and value not in choices:
        raise wrong(name, f"must be one of {', '.join(choices)}")
    return value


def read_limit(text: str | None) -> int:
    """How many rows at most."""
    if text is None:
        return DEFAULT_LIMIT
    is_number = text.isascii() and text.isdigit() and len(text) <= 6
    if not is_number or not 1 <= int(text) <= LARGEST_LIMIT:
        raise wrong("limit", f"must be a whole number from 1 to {LARGEST_LIMIT}")
    return int(text)


def read_flag(name: str, text: str | None) -> bool:
    """True or false; false where it is not given."""
    if text not in (None, "true", "false"):
        raise wrong(name, "must be true or false")
    return text == "true"


def read_number(name: str, text: str | None) -> int | None:
    """A whole number above zero."""
    if text is None:
        return None
    if not (text.isascii() and text.isdigit() and len(text) <= 18 and int(text)):
        raise wrong(name, "must be the `next` of an earlier answer")
    return int(text)
