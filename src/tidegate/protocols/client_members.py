"""Takes a client's request apart member by member, and names what is of the wrong type."""

from collections.abc import Iterator, Mapping
from typing import Any

from tidegate.core import json_text
from tidegate.core.conversation import Given
from tidegate.core.failure import Failure
from tidegate.core.json_text import JsonError
from tidegate.protocols.base import Asked
from tidegate.protocols.losses import Losses, malformed
from tidegate.protocols.request_body import invalid


class Members:
    """The members of one object. Each is taken once; what nobody took is in `rest`.

    Null counts as absent. A wrong type is refused, and reads as absent.
    """

    __slots__ = ("_base", "_left", "_refusals")

    def __init__(self, members: dict[str, Any], refusals: Losses, base: str = "") -> None:
        self._left = dict(members)
        self._refusals = refusals
        self._base = base and base + "."

    def path(self, name: str) -> str:
        """Where the member stands in the request."""
        return self._base + name

    def take(self, name: str) -> Any:
        """The value whatever its type."""
        return self._left.pop(name, None)

    def text(self, name: str) -> Given[str] | None:
        """A string."""
        value = self.take(name)
        if value is None or isinstance(value, str):
            return None if value is None else Given(value, self.path(name))
        self._no(name, "a string")
        return None

    def number(self, name: str) -> Given[float] | None:
        """A number."""
        value = self.take(name)
        if value is None or (isinstance(value, int | float) and not isinstance(value, bool)):
            return None if value is None else Given(value, self.path(name))
        self._no(name, "a number")
        return None

    def whole(self, name: str) -> Given[int] | None:
        """A whole number, also where it is written as 10.0."""
        found = self.number(name)
        if found is None:
            return None
        if isinstance(found.value, int) or found.value.is_integer():
            return Given(int(found.value), found.path)
        self._no(name, "a whole number")
        return None

    def flag(self, name: str) -> Given[bool] | None:
        """True or false."""
        value = self.take(name)
        if value is None or isinstance(value, bool):
            return None if value is None else Given(value, self.path(name))
        self._no(name, "true or false")
        return None

    def object(self, name: str) -> "Members | None":
        """An object, to be taken apart in turn."""
        value = self.take(name)
        if value is None or isinstance(value, dict):
            return None if value is None else Members(value, self._refusals, self.path(name))
        self._no(name, "an object")
        return None

    def elements(self, name: str) -> list[Any]:
        """The elements of an array; empty where there is none."""
        value = self.take(name)
        if value is None or isinstance(value, list):
            return value or []
        self._no(name, "an array")
        return []

    def rest(self, defaults: Mapping[str, Any]) -> Iterator[Given[Any]]:
        """What was not taken and says something: neither null, nor empty, nor its default."""
        for name, value in self._left.items():
            if value is not None and value not in ([], {}) and defaults.get(name) != value:
                yield Given(value, self.path(name))

    def _no(self, name: str, wanted: str) -> None:
        self._refusals.refuse(malformed(self.path(name), wanted))


def read_members(asked: Asked, refusals: Losses) -> Members | Failure:
    """The whole body. It has been checked before, all but the depth of its values."""
    try:
        body = json_text.load(asked.body)
    except JsonError as error:
        return invalid(error.message, None)
    if not isinstance(body, dict):
        return invalid("The JSON text is not an object.", None)
    return Members(body, refusals)


def objects(values: list[Any], path: str, refusals: Losses) -> Iterator[tuple[str, dict[str, Any]]]:
    """The elements of an array with their paths; one that is no object is refused."""
    for number, value in enumerate(values):
        where = f"{path}[{number}]"
        if isinstance(value, dict):
            yield where, value
        else:
            refusals.refuse(malformed(where, "an object"))


def text_at(members: Mapping[str, Any], name: str, path: str, refusals: Losses) -> str:
    """A string that must be there; else refused, and empty."""
    value = members.get(name)
    if isinstance(value, str):
        return value
    refusals.refuse(malformed(f"{path}.{name}", "a string"))
    return ""


def text_if_any(members: Mapping[str, Any], name: str, path: str, refusals: Losses) -> str | None:
    """A string that may be absent or null; another type is refused."""
    return None if members.get(name) is None else text_at(members, name, path, refusals)
