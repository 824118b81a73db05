"""What is told beside the configuration: what was left, what changed, which variables to set."""

import re
from collections.abc import Iterable

from msgspec import Struct

ENVIRON = "os.environ/"
_REFERENCE = re.compile(r"os\.environ/([A-Za-z0-9_]+)")
_NO_NAME = re.compile(r"[^A-Z0-9]+")


class Note(Struct, frozen=True, order=True):
    """A member of the source, and a sentence about it that repeats no value."""

    path: str
    words: str


class Variable(Struct, frozen=True, order=True):
    """An environment variable that the new configuration reads; `holds` says what."""

    name: str
    holds: str


class Notes:
    """Gathers them. Secrets come in here and go nowhere else."""

    def __init__(self, source: str = "") -> None:
        """No variable gets a name that the text of the source uses for another."""
        self.left: list[Note] = []
        """What could not be carried."""
        self.changed: list[Note] = []
        """What was carried, and means something else now."""
        self._variables: dict[str, str] = {}
        self._known: dict[str, str] = {}
        self._taken = frozenset(_REFERENCE.findall(source))

    @property
    def variables(self) -> tuple[Variable, ...]:
        """By name."""
        return tuple(sorted(Variable(name, holds) for name, holds in self._variables.items()))

    def leave(self, path: str, why: str) -> None:
        """It could not be carried."""
        self.left.append(Note(path, why))

    def change(self, path: str, what: str) -> None:
        """It is carried as something else."""
        self.changed.append(Note(path, what))

    def variable(self, name: str, holds: str) -> str:
        """The setting that reads a variable."""
        self._variables.setdefault(name, holds)
        return f"env:{name}"

    def secret(self, value: str, path: str, words: Iterable[str]) -> str:
        """The setting that reads a secret from the environment; `words` make up a name where it has none."""
        if value.startswith(ENVIRON):
            return self.variable(value.removeprefix(ENVIRON), f"as before ({path})")
        return self.derived(value, words, f"what stands at {path}")

    def derived(self, what: str, words: Iterable[str], holds: str) -> str:
        """The setting that reads a variable which is to be made; the same one for the same `what`."""
        if what not in self._known:
            self._known[what] = self._free("_".join(words))
            self.variable(self._known[what], holds)
        return f"env:{self._known[what]}"

    def _free(self, wanted: str) -> str:
        name = _NO_NAME.sub("_", wanted.upper()).strip("_") or "SECRET"
        name = name if name[0].isalpha() else f"KEY_{name}"
        number = 1
        while (found := name if number == 1 else f"{name}_{number}") in self._taken.union(self._variables):
            number += 1
        return found
