"""Takes the members of a mapping one by one, so that none is overlooked."""

from collections.abc import Mapping
from decimal import Decimal, InvalidOperation

from tidegate.importing.notes import ENVIRON, Notes
from tidegate.importing.yaml_text import Value

UNKNOWN = "is not known here"


class Members:
    """A mapping of the source; what is never taken is told at the end."""

    def __init__(self, value: Value, path: str, notes: Notes) -> None:
        self.path = path
        self._notes = notes
        self._rest: dict[str, Value] = {}
        if isinstance(value, dict):
            self._rest = dict(value)
        elif value is not None:
            notes.leave(path or "the file", "should hold names with values")

    def __contains__(self, name: str) -> bool:
        return name in self._rest

    def at(self, name: str) -> str:
        """The path of a member."""
        return f"{self.path}.{name}" if self.path else name

    def take(self, name: str) -> Value:
        """A member, None where it is not there."""
        return self._rest.pop(name, None)

    def text(self, name: str) -> str | None:
        """A text that is not empty; anything else but null is told."""
        value = self.take(name)
        if value is None or value == "":
            return None
        if isinstance(value, bool | list | dict):
            self._notes.leave(self.at(name), "should be a text")
            return None
        return str(value)

    def number(self, name: str) -> Decimal | None:
        """A number that is not negative, also one written as text; anything else but null is told."""
        value = self.take(name)
        if value is None:
            return None
        if not isinstance(value, bool | list | dict):
            try:
                read = Decimal(str(value))
            except InvalidOperation:
                read = Decimal("NaN")
            if read.is_finite() and 0 <= read < 10**12:
                return read
        if isinstance(value, str) and value.startswith(ENVIRON):
            self._notes.leave(self.at(name), "is read from the environment, which a number cannot be here")
        else:
            self._notes.leave(self.at(name), "is no number that can be used")
        return None

    def flag(self, name: str) -> bool | None:
        """True or false; anything else but null is told."""
        value = self.take(name)
        if value is None or isinstance(value, bool):
            return value
        self._notes.leave(self.at(name), "should be true or false")
        return None

    def inner(self, name: str) -> "Members":
        """A mapping within."""
        return Members(self.take(name), self.at(name), self._notes)

    def items(self, name: str) -> list[tuple[str, Value]]:
        """The elements of a list with their paths; anything else but null is told."""
        value = self.take(name)
        if isinstance(value, list):
            return [(f"{self.at(name)}[{number}]", one) for number, one in enumerate(value)]
        if value is not None:
            self._notes.leave(self.at(name), "should be a list")
        return []

    def names(self) -> tuple[str, ...]:
        """The members that are left."""
        return tuple(self._rest)

    def close(self, reasons: Mapping[str, str], otherwise: str = UNKNOWN) -> None:
        """Tell of all that is left, with the reason that is known for it."""
        for name, value in self._rest.items():
            if value is not None:
                self._notes.leave(self.at(name), reasons.get(name, otherwise))
        self._rest = {}
