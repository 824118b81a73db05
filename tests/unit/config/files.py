"""Writes config files for the tests of the config."""

from collections.abc import Mapping
from pathlib import Path

from tidegate.config import Config, ConfigError, Problem, load

CHANNEL = """
[[channels]]
name = "main"
protocol = "chat"
base_url = "https://api.example.com/v1"
api_key = "sk-upstream-credential"
models = ["sonnet", "gpt-*"]
"""
KEY = """
[[keys]]
name = "laptop"
key = "sk-tg-caller-secret"
"""


def write(folder: Path, text: str) -> Path:
    file = folder / "tidegate.toml"
    file.write_bytes(text.encode())
    return file


def read(folder: Path, text: str, environ: Mapping[str, str] | None = None) -> Config:
    return load(write(folder, text), environ or {})


def problems(folder: Path, text: str, environ: Mapping[str, str] | None = None) -> list[Problem]:
    """The errors and warnings of a file that must not load."""
    try:
        config = read(folder, text, environ)
    except ConfigError as error:
        return list(error.problems)
    raise AssertionError(f"loaded: {config}")


def told(
    folder: Path, text: str, environ: Mapping[str, str] | None = None
) -> list[tuple[int | None, str, str]]:
    """Line, key and message of all problems but the warnings."""
    found = problems(folder, text, environ)
    return [(one.line, one.key, one.message) for one in found if one.severity.value == "error"]
