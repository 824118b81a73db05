"""The query parameters of the admin API."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from http import HTTPStatus

from msgspec import Struct

from tidegate.admin.problems import Problem
from tidegate.storage.pages import OUTCOMES, PROTOCOLS, REQUEST_ID_PREFIX, Filters

DEFAULT_LIMIT = 50
LARGEST_LIMIT = 500

_CHOICES = {"outcome": OUTCOMES, "protocol": PROTOCOLS}
_NAMES = ("key", "account", "model", "channel", "outcome", "protocol")
FILTERS = Filters.__struct_fields__
_KNOWN = ("limit", "before", *FILTERS)
_STATUS_DIGITS = 3
_LONGEST_ID = 64
_LAST_TIME = 253_370_764_800  # the year 9999


class Wanted(Struct, frozen=True, kw_only=True):
    """Which rows the caller asks for."""

    filters: Filters
    limit: int = DEFAULT_LIMIT
    before: str | None = None


def read_wanted(query: Iterable[tuple[str, str]]) -> Wanted:
    """What the query string says. An empty value counts as not given; anything wrong raises a Problem."""
    given = read_known(query, _KNOWN)
    return Wanted(
        filters=read_filters(given), limit=read_limit(given.get("limit")), before=given.get("before")
    )


def read_filters(given: Mapping[str, str]) -> Filters:
    """The filters of rows; anything wrong raises a Problem."""
    since, until = (read_time(name, given.get(name)) for name in ("since", "until"))
    if since is not None and until is not None and since >= until:
        raise wrong("since", "must come before `until`")
    return Filters(
        **{name: read_choice(name, given) for name in _NAMES},
        status=_status(given.get("status")),
        stream=None if "stream" not in given else read_flag("stream", given["stream"]),
        since=since,
        until=until,
        id=_id(given.get("id")),
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


def read_choice(name: str, given: Mapping[str, str], choices: Sequence[str] = ()) -> str | None:
    """A name; where there are choices, one of them."""
    value = given.get(name)
    choices = choices or _CHOICES.get(name, ())
    if value is not None and choices and value not in choices:
        raise wrong(name, f"must be one of {', '.join(choices)}")
    return value


def read_time(name: str, text: str | None) -> int | None:
    """A time in microseconds since 1970, rounded to the millisecond; without a zone it is in UTC."""
    if text is None:
        return None
    try:
        read = datetime.fromisoformat(text)
    except ValueError:
        raise wrong(name, "must be a time like 2026-11-30T12:00:00Z (in a URL a + is written %2B)") from None
    try:
        at = (read if read.tzinfo else read.replace(tzinfo=UTC)).timestamp()
    except OverflowError:
        at = -1.0
    if not 0 <= at < _LAST_TIME:
        raise wrong(name, "must be a time from 1970 to 9998")
    return round(at * 1_000) * 1_000


def _status(text: str | None) -> int | None:
    if text is None:
        return None
    if not (text.isascii() and text.isdigit() and len(text) == _STATUS_DIGITS):
        raise wrong("status", "must be an HTTP status of three digits")
    return int(text)


def _id(text: str | None) -> str | None:
    """The beginning of a request's id, with or without what all of them begin with."""
    if text is None:
        return None
    if len(text) > _LONGEST_ID or not text.isascii() or not text.isprintable():
        raise wrong("id", "must be the beginning of a request's id")
    return text if text.startswith(REQUEST_ID_PREFIX) else REQUEST_ID_PREFIX + text


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
