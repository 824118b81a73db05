"""Reads a config file as TOML."""

import re
import tomllib
from decimal import Decimal, InvalidOperation
from pathlib import Path

from tidegate.config.problems import ConfigError, Problem

_LARGEST = 4 * 1024 * 1024
_PLACE = re.compile(r"(.*) \(at (?:line (\d+), column (\d+)|end of document)\)", re.DOTALL)
_TWICE = ("Cannot declare", "Cannot mutate", "Duplicate inline table key")


def file_name(path: Path) -> str:
    """The path, fit for one line of a message."""
    return "".join(char if char.isprintable() else "?" for char in str(path))


def read_text(path: Path) -> str:
    """The file's text with LF line ends. Raises ConfigError."""
    try:
        with path.open("rb") as file:
            content = file.read(_LARGEST + 1)
    except OSError as error:
        raise _unusable(
            path, f"cannot be read: {error.strerror or 'unknown reason'}", "name a readable file"
        ) from error
    except ValueError as error:  # a NUL in the path
        raise _unusable(path, "is no path", "name a readable file") from error
    if len(content) > _LARGEST:
        raise _unusable(path, f"has more than {_LARGEST} bytes", "name a Tidegate configuration in TOML")
    try:
        return content.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise _unusable(path, "is not UTF-8 text", "save it as UTF-8", line) from error


def parse(path: Path, text: str) -> dict[str, object]:
    """The TOML of `text`, fractions as decimals. Raises ConfigError, with the line of the first mistake."""
    try:
        return tomllib.loads(text, parse_float=_exact)
    except tomllib.TOMLDecodeError as error:
        raise _syntax(path, text, str(error)) from None  # its text may hold what must not be shown
    except RecursionError:
        raise _unusable(path, "is nested too deep", "name a Tidegate configuration in TOML") from None
    except ValueError:  # a number of thousands of digits
        raise _unusable(path, "holds a number that is too long", "shorten it") from None


def _exact(text: str) -> Decimal:
    try:
        return Decimal(text)
    except InvalidOperation:
        return Decimal("NaN")  # an absurd exponent: whoever reads the setting refuses it


def _syntax(path: Path, text: str, message: str) -> ConfigError:
    place = _PLACE.fullmatch(message)
    said = place[1] if place else "mistake"
    if said.startswith(_TWICE):
        said = "a key or table stands twice"  # the parser would repeat it
    line = int(place[2]) if place and place[2] else text.count("\n") + 1
    column = f", column {place[3]}" if place and place[3] else ""
    mend = "mend the TOML there; text needs quotes, and each key stands once"
    return _unusable(path, f"is not valid TOML: {said[:1].lower()}{said[1:]}{column}", mend, line)


def _unusable(path: Path, message: str, mend: str, line: int | None = None) -> ConfigError:
    return ConfigError((Problem(file=file_name(path), key="", message=message, mend=mend, line=line),))
