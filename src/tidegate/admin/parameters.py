"""The query parameters of `GET /admin/v1/requests`."""

from collections.abc import Iterable, Mapping
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
    given = _once_each(query)
    return Wanted(
        filters=Filters(**{name: value for name in _FILTERS if (value := _choice(name, given)) is not None}),
        limit=_limit(given.get("limit")),
        before=given.get("before"),
    )


def wrong(parameter: str, detail: str) -> Problem:
    """A 400 that names the parameter."""
    return Problem(HTTPStatus.BAD_REQUEST, f"{parameter}: {detail}", parameter=parameter)


def _once_each(query: Iterable[tuple[str, str]]) -> dict[str, str]:
    given: dict[str, str] = {}
    for name, value in query:
        if name not in _KNOWN:
            shown = name[:50].encode("ascii", "backslashreplace").decode()
            raise wrong(shown, f"there is no such parameter; known are {', '.join(_KNOWN)}")
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


def _limit(text: str | None) -> int:
    if text is None:
        return DEFAULT_LIMIT
    is_number = text.isascii() and text.isdigit() and len(text) <= 6
    if not is_number or not 1 <= int(text) <= LARGEST_LIMIT:
        raise wrong("limit", f"must be a whole number from 1 to {LARGEST_LIMIT}")
    return int(text)
