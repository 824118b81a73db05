"""The rules of CONTRIBUTING.md that a program can check in the source."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[2]
SRC = ROOT / "src" / "tidegate"
SOURCES = sorted(SRC.rglob("*.py"))
PYTHON = sorted(path for top in ("src", "tests", "bench") for path in (ROOT / top).rglob("*.py"))
PURE = ("core", "protocols", "engine", "routing", "ledger", "doctor", "importing")
MAX_FILE_LINES = 400
MAX_FUNCTION_LINES = {"src": 40, "bench": 60, "tests": 60}  # a test may tell a longer story
BANNED = {
    *("util", "utils", "helper", "helpers", "common", "misc", "manager"),
    *("handler", "processor", "data", "info"),
}
DOMAIN_NAMES = {"DataPlane"}  # what the documentation calls the routes that callers use
Function = ast.FunctionDef | ast.AsyncFunctionDef


def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def name(path: Path) -> str:
    return str(path.relative_to(ROOT))


def functions(path: Path) -> Iterator[Function]:
    return (node for node in ast.walk(tree(path)) if isinstance(node, Function))


class Defined(NamedTuple):
    """A function or class as the rules see it."""

    is_class: bool
    name: str
    line: int
    lines: int


@cache
def defined(path: Path) -> tuple[Defined, ...]:
    """Read once for all rules: to parse every file takes seconds."""
    return tuple(
        Defined(
            isinstance(node, ast.ClassDef),
            node.name,
            node.lineno,
            (node.end_lineno or node.lineno) - node.lineno + 1,
        )
        for node in ast.walk(tree(path))
        if isinstance(node, Function | ast.ClassDef)
    )


def test_there_is_something_to_check() -> None:
    assert len(SOURCES) > 30


def test_no_file_is_too_long() -> None:
    long = {name(path): lines for path in PYTHON if (lines := path.read_text().count("\n")) > MAX_FILE_LINES}
    assert not long, f"more than {MAX_FILE_LINES} lines: there is a second subject in there"


def test_no_function_is_too_long() -> None:
    long = {
        f"{name(path)}:{one.line} {one.name}": one.lines
        for path in PYTHON
        if "versions" not in path.parts  # migrations are lists of columns
        for one in defined(path)
        if not one.is_class and one.lines > MAX_FUNCTION_LINES[path.relative_to(ROOT).parts[0]]
    }
    assert not long, "too long: there is a second subject in there"


def test_every_module_says_in_one_sentence_what_it_is_for() -> None:
    wrong = {
        name(path): said
        for path in SOURCES
        if (
            "versions" not in path.parts
            and not re.fullmatch(r"[^\n]+\.", said := ast.get_docstring(tree(path)) or "")
        )
        or re.search(r"[.!?]\s+[A-Z]", said)
    }
    assert not wrong


def test_names_say_what_a_thing_is() -> None:
    files = [name(path) for path in PYTHON if BANNED & set(path.stem.lower().split("_"))]
    classes = [
        f"{name(path)}: {one.name}"
        for path in PYTHON
        for one in defined(path)
        if one.is_class
        and one.name not in DOMAIN_NAMES
        and BANNED & {word.lower() for word in re.findall(r"[A-Z][a-z0-9]*|[a-z0-9]+", one.name)}
    ]
    logging_only = "src/tidegate/observe/"  # a logging handler is called so by the standard library
    assert not [found for found in files + classes if not found.startswith(logging_only)]


def has_logic(path: Path) -> bool:
    """Whether the file holds a function that does more than say what it would do."""
    return any(not only_docstring(node) for node in functions(path))


def only_docstring(node: Function) -> bool:
    return all(isinstance(line, ast.Expr) and isinstance(line.value, ast.Constant) for line in node.body)


def test_every_pure_file_has_a_test_file() -> None:
    without = []
    for path in (path for part in PURE for path in sorted((SRC / part).rglob("*.py"))):
        folder = ROOT / "tests" / "unit" / path.parent.relative_to(SRC)
        stem = path.stem if path.stem != "__init__" else "init"
        tests = [*folder.glob(f"test_{stem}.py"), *folder.glob(f"test_{stem}_*.py")]
        if has_logic(path) and not tests:
            without.append(name(path))
    assert not without


OUTGOING_MODULES = {"http.client", "urllib.request", "requests", "httpx", "urllib3", "ftplib", "smtplib"}
OUTGOING_NAMES = {
    *("ClientSession", "TCPConnector", "UnixConnector", "urlopen"),
    *("create_connection", "open_connection", "create_unix_connection", "open_unix_connection"),
    *("sock_connect", "connect_ex", "create_datagram_endpoint"),
}


def reaches_out(path: Path) -> Iterator[str]:
    for node in ast.walk(tree(path)):
        match node:
            case ast.Import(names=names):
                found = {alias.name for alias in names} & OUTGOING_MODULES
            case ast.ImportFrom(module=module, names=names):
                found = ({module or ""} & OUTGOING_MODULES) | (
                    {alias.name for alias in names} & OUTGOING_NAMES
                )
            case ast.Attribute(attr=attr):
                found = {attr} & OUTGOING_NAMES
            case _:  # other syntax opens no connection by itself
                continue
        yield from (f"{name(path)}:{node.lineno} {word}" for word in found)


def test_only_upstream_opens_connections() -> None:
    outside = [path for path in SOURCES if not path.is_relative_to(SRC / "upstream")]
    assert not [found for path in outside for found in reaches_out(path)]


def test_the_check_for_outgoing_connections_finds_some() -> None:
    inside = [path for path in SOURCES if path.is_relative_to(SRC / "upstream")]
    assert [found for path in inside for found in reaches_out(path)]


@pytest.mark.parametrize("mark", ["TO" + "DO", "FIX" + "ME", "X" + "XX"])
def test_nothing_is_left_for_later(mark: str) -> None:
    found = [name(path) for path in PYTHON if mark in path.read_text(encoding="utf-8")]
    assert not found


def test_a_silenced_check_names_what_it_silences() -> None:
    bare = re.compile(r"#\s*(?:type:\s*ignore(?!\[)|noqa(?!:))")
    assert not [name(path) for path in PYTHON if bare.search(path.read_text(encoding="utf-8"))]


@pytest.mark.parametrize("path", SOURCES, ids=name)
def test_no_pattern_repeats_a_group_possessively(path: Path) -> None:
    """Python before 3.11.5 (Debian 12: 3.11.2) matches them wrongly, gh-106052."""
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str | bytes):
            text = node.value if isinstance(node.value, str) else node.value.decode("latin-1")
            assert not re.search(r"\)[*+?]\+|\(\?>", text), text
