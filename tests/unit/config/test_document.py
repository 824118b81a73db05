from decimal import Decimal
from pathlib import Path

import pytest
from tests.unit.config.files import problems, write

from tidegate.config import document
from tidegate.config.problems import ConfigError


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("a = 1\nb = \n", 2),
        ("a = 1\n\nb = nonsense\n", 3),
        ("[server\n", 1),
        ('a = "open', 1),
        ("a = 1\nb = [1,\n2", 3),
        ("a = 1\na = 2\n", 2),
        ("[x]\n[y]\n[x]\n", 3),
        ('a = "\\ud800"', 1),
        ("a = 1\r\nb = \r\n", 2),
        ("a = 0001", 1),
    ],
)
def test_a_syntax_error_has_its_line(tmp_path: Path, text: str, line: int) -> None:
    [problem] = problems(tmp_path, text)
    assert problem.line == line
    assert problem.message.startswith("is not valid TOML")
    assert "\n" not in str(problem)


@pytest.mark.parametrize(
    "text",
    [
        "key = sk-secret-1",
        '"sk-secret-1" = 1\n"sk-secret-1" = 2',
        "[sk-secret-1]\n[sk-secret-1]",
        "x = { sk-secret-1 = 1, sk-secret-1 = 2 }",
        'a = "sk-secret-1',
    ],
)
def test_a_syntax_error_repeats_nothing_of_the_file(tmp_path: Path, text: str) -> None:
    [problem] = problems(tmp_path, text)
    assert "secret" not in str(problem)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"a = 1\nb = \xff", "is not UTF-8 text"),
        (b"\x00\x01\x02", "is not valid TOML"),
        (b"x = " + b"[" * 50_000, "is nested too deep"),
        (b"x = " + b"9" * 5000, "holds a number that is too long"),
        (b"#" * 5_000_000, "has more than 4194304 bytes"),
    ],
)
def test_a_file_that_is_no_config_is_told_in_words(tmp_path: Path, content: bytes, message: str) -> None:
    file = tmp_path / "binary"
    file.write_bytes(content)
    with pytest.raises(ConfigError) as caught:
        document.parse(file, document.read_text(file))
    [problem] = caught.value.problems
    assert problem.message.startswith(message)


@pytest.mark.parametrize("name", ["none.toml", ".", "a\0b"])
def test_a_file_that_cannot_be_read_is_told(tmp_path: Path, name: str) -> None:
    with pytest.raises(ConfigError) as caught:
        document.read_text(tmp_path / name)
    assert len(caught.value.problems) == 1


def test_a_name_with_a_line_break_stays_on_one_line(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        document.read_text(tmp_path / "a\nb\udcff.toml")
    assert str(caught.value).endswith(
        "a?b?.toml: cannot be read: No such file or directory - name a readable file"
    )


def test_a_byte_order_mark_and_windows_line_ends_do_no_harm(tmp_path: Path) -> None:
    text = document.read_text(write(tmp_path, "\ufeffa = 1\r\nb = 2\r\n"))
    assert document.parse(tmp_path, text) == {"a": 1, "b": 2}


def test_fractions_stay_exact(tmp_path: Path) -> None:
    assert document.parse(tmp_path, "a = 0.1") == {"a": Decimal("0.1")}
    assert str(document.parse(tmp_path, "a = 1e99999999999999999999")["a"]) == "NaN"
