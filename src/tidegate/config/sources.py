"""Follows `env:NAME` and `file:PATH` values to the text they stand for."""

import re
from collections.abc import Mapping
from pathlib import Path

from tidegate.config.problems import shown
from tidegate.config.values import Wrong

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_LARGEST_FILE = 65536


class Sources:
    """The environment, and the folder of the config file, to which the paths in it are relative.

    Without a folder the values come from elsewhere, and nothing in them may read this machine's secrets.
    """

    def __init__(self, folder: Path | None, environ: Mapping[str, str]) -> None:
        self.folder = folder
        self._environ = environ

    def resolve(self, raw: object) -> object | Wrong:
        """The text behind a placeholder; everything else as it is."""
        match raw:
            case str() if self.folder is None and raw.startswith(("env:", "file:")):
                message = "stands for a variable or a file, which only the config file may"
                return Wrong(message, "write the value itself")
            case str() if raw.startswith("env:"):
                return self._variable(raw.removeprefix("env:"))
            case str() if self.folder is not None and raw.startswith("file:"):
                return self._content(self.folder, raw.removeprefix("file:"))
            case _:  # not text, or text that stands for itself
                return raw

    def _variable(self, name: str) -> str | Wrong:
        if not _NAME.fullmatch(name):
            return Wrong(
                'names no environment variable after "env:"', 'write "env:NAME" with the name of a variable'
            )
        value = self._environ.get(name)
        if value is None:
            return Wrong(
                f"the environment variable {shown(name)} is not set",
                "set it before the start, or write the value here",
            )
        return value or Wrong(f"the environment variable {shown(name)} is empty", "give it a value")

    def _content(self, folder: Path, name: str) -> str | Wrong:
        """A file's text without the line end that editors put last."""
        where = f"the file {shown(name)}"
        mend = "name a readable text file; the path is relative to this config file"
        try:
            with (folder / name).open("rb") as file:
                content = file.read(_LARGEST_FILE + 1)
            text = content.decode()
        except OSError as error:
            return Wrong(f"{where} cannot be read: {error.strerror or 'unknown reason'}", mend)
        except ValueError:  # not UTF-8, or a NUL in the path
            return Wrong(f"{where} is not UTF-8 text", mend)
        if len(content) > _LARGEST_FILE:
            return Wrong(f"{where} has more than {_LARGEST_FILE} bytes", mend)
        text = text.removesuffix("\n").removesuffix("\r")
        return text or Wrong(f"{where} is empty", "write the value into it")


NOWHERE = Sources(None, {})
"""For values that do not come from the config file."""
