from pathlib import Path

import pytest

from tidegate.config.sources import NOWHERE, Sources
from tidegate.config.values import Wrong


@pytest.fixture
def sources(tmp_path: Path) -> Sources:
    return Sources(tmp_path, {"NAME": "value", "EMPTY": "", "NESTED": "env:NAME"})


@pytest.mark.parametrize("raw", ["plain", "environment", "filed", 5, None, True, ["env:NAME"]])
def test_what_is_no_placeholder_stays(sources: Sources, raw: object) -> None:
    assert sources.resolve(raw) == raw


def test_a_variable_is_read_once(sources: Sources) -> None:
    assert sources.resolve("env:NAME") == "value"
    assert sources.resolve("env:NESTED") == "env:NAME"


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        ("env:NONE", "the environment variable NONE is not set"),
        ("env:EMPTY", "the environment variable EMPTY is empty"),
        ("env:", 'names no environment variable after "env:"'),
        ("env:sk-secret value", 'names no environment variable after "env:"'),
    ],
)
def test_a_missing_variable_is_told_by_name(sources: Sources, raw: str, message: str) -> None:
    wrong = sources.resolve(raw)
    assert isinstance(wrong, Wrong)
    assert wrong.message == message


@pytest.mark.parametrize(
    ("content", "expected"),
    [(b"token\n", "token"), (b"token\r\n", "token"), (b"token", "token"), (b"a\n\n", "a\n"), (b" a ", " a ")],
)
def test_a_file_gives_its_text_without_the_last_line_end(
    sources: Sources, tmp_path: Path, content: bytes, expected: str
) -> None:
    (tmp_path / "token").write_bytes(content)
    assert sources.resolve("file:token") == expected
    assert sources.resolve(f"file:{tmp_path}/token") == expected


@pytest.mark.parametrize("content", [b"", b"\n", b"\xff\xfe", b"x" * 70_000])
def test_a_file_that_gives_nothing_good_is_told(sources: Sources, tmp_path: Path, content: bytes) -> None:
    (tmp_path / "token").write_bytes(content)
    assert isinstance(sources.resolve("file:token"), Wrong)


@pytest.mark.parametrize("name", ["none", "", ".", "a\0b", "none/none"])
def test_a_file_that_cannot_be_read_is_told(sources: Sources, name: str) -> None:
    assert isinstance(sources.resolve(f"file:{name}"), Wrong)


@pytest.mark.parametrize("raw", ["env:HOME", "file:/etc/hostname", "env:", "file:"])
def test_what_does_not_come_from_the_file_reads_nothing(raw: str) -> None:
    read = NOWHERE.resolve(raw)
    assert isinstance(read, Wrong)
    assert raw not in read.message + read.mend
    assert NOWHERE.resolve("environment") == "environment"
