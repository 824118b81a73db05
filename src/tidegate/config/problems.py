"""What is wrong with a config file, told without ever showing a value of it."""

import re
from enum import Enum
from typing import TypeAlias

from msgspec import Struct

KeyPath: TypeAlias = tuple[str | int, ...]
"""Where a setting stands: names of tables and settings, and positions in arrays, counted from zero."""

_BARE = re.compile(r"[A-Za-z0-9_-]+")
_LIKE_A_CREDENTIAL = re.compile(
    r"(?:sk|pk|rk|gsk|xai|hf|ghp)[-_].{6,}|bearer .+|AIza|eyJ|[A-Za-z0-9+/=_]{32,}", re.IGNORECASE
)
_LONGEST_SHOWN = 100


class Severity(Enum):
    """Whether the gateway can run with the problem."""

    ERROR = "error"
    WARNING = "warning"


class Problem(Struct, frozen=True, kw_only=True):
    """One thing to mend. `key` is the setting's path, `name` that of its channel, model, account or key.

    `line` counts from one and is None where the file has no line for it.
    """

    file: str
    key: str
    message: str
    mend: str
    line: int | None = None
    name: str | None = None
    severity: Severity = Severity.ERROR

    def __str__(self) -> str:
        place = self.file if self.line is None else f"{self.file}:{self.line}"
        name = "" if self.name is None else f" ({self.name})"
        key = f"{self.key}{name}: " if self.key else ""
        mark = "warning: " if self.severity is Severity.WARNING else ""
        return f"{place}: {mark}{key}{self.message} - {self.mend}"


class ConfigError(Exception):
    """The file cannot be used; `problems` are all that were found, warnings included, in the file's order."""

    def __init__(self, problems: tuple[Problem, ...]) -> None:
        super().__init__("\n".join(map(str, problems)))
        self.problems = problems


def shown(text: str) -> str:
    """A name from the file, fit for one line of a message; what looks like a credential is hidden."""
    if _LIKE_A_CREDENTIAL.match(text):
        return "…"
    clean = "".join(char if char.isprintable() else "?" for char in text)
    return clean if len(clean) <= _LONGEST_SHOWN else f"{clean[:_LONGEST_SHOWN]}…"


def key_text(path: KeyPath) -> str:
    """`channels[1].base_url`; names that TOML would quote are quoted."""
    text = ""
    for part in path:
        match part:
            case int():
                text += f"[{part}]"
            case str():
                name = shown(part)
                name = name if _BARE.fullmatch(name) else f'"{name}"'
                text += f".{name}" if text else name
    return text
