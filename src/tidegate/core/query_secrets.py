"""Finds credentials in the query of a URL: some upstreams take theirs there."""

from collections.abc import Iterator
from urllib.parse import unquote_plus

from tidegate.core.header_names import may_be_secret


def query_secrets(url: str) -> tuple[str, ...]:
    """Values that may be credentials, as they are written and as they are meant."""
    found = [value for name, value in _members(url) if value and may_be_secret(name, value)]
    return tuple(dict.fromkeys((*found, *map(unquote_plus, found))))


def without_query_secrets(url: str, stand_in: str) -> str:
    """The URL with `stand_in` in place of such values."""
    address, mark, _ = url.partition("?")
    told = (f"{name}={stand_in if may_be_secret(name, value) else value}" for name, value in _members(url))
    return f"{address}{mark}{'&'.join(told)}"


def with_query_secrets(url: str, known: str, stand_in: str) -> str:
    """The URL with the values of `known` where `stand_in` stands for them: what undoes the above."""
    address, mark, _ = url.partition("?")
    values = dict(_members(known))
    told = (
        f"{name}={values.get(name, value) if value == stand_in else value}" for name, value in _members(url)
    )
    return f"{address}{mark}{'&'.join(told)}" if stand_in in url else url


def _members(url: str) -> Iterator[tuple[str, str]]:
    for member in url.partition("?")[2].split("&"):
        name, _, value = member.partition("=")
        if member:
            yield name, value
