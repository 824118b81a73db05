from pathlib import Path

import pytest
from tests.unit.config.files import CHANNEL, KEY, write
from typer.testing import CliRunner, Result

from tidegate.cli.app import app


def check(file: Path) -> Result:
    return CliRunner().invoke(app, ["check-config", str(file)])


def test_a_good_file_is_summed_up(tmp_path: Path) -> None:
    result = check(write(tmp_path, CHANNEL + KEY + '[[models]]\nname = "sonnet"\n'))
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout == "good: 1 channel, 1 model, 1 key, 0 warnings\n"


def test_warnings_are_told_and_do_no_harm(tmp_path: Path) -> None:
    file = write(tmp_path, CHANNEL)
    result = check(file)
    assert result.exit_code == 0
    assert result.stderr == (
        f"{file}: warning: keys: no key is set, so nobody can call but with those of the database"
        " - add [[keys]], or make one with `tidegate keys create`\n"
    )
    assert result.stdout == "good: 1 channel, 0 models, 0 keys, 1 warning\n"


def test_each_problem_is_one_line_on_standard_error(tmp_path: Path) -> None:
    file = write(tmp_path, CHANNEL + KEY + "mdels = []\nmax_concurrency = 'x'")
    result = check(file)
    assert (result.exit_code, result.stdout) == (2, "")
    assert [line.partition(" - ")[0] for line in result.stderr.splitlines()] == [
        f"{file}:12: keys[0].mdels (laptop): is not a setting",
        f"{file}:13: keys[0].max_concurrency (laptop): must be a whole number, not text",
    ]


@pytest.mark.parametrize("content", [None, b"\x00\xff\xfe", b"[[[", b"x = " + b"[" * 50_000])
def test_a_file_that_is_no_config_is_no_traceback(tmp_path: Path, content: bytes | None) -> None:
    file = tmp_path / "odd.toml"
    if content is not None:
        file.write_bytes(content)
    result = check(file)
    assert result.exit_code == 2
    assert result.stderr.startswith(str(file))
    assert len(result.stderr.splitlines()) == 1
    assert "Traceback" not in result.output


def test_a_folder_is_no_config(tmp_path: Path) -> None:
    result = check(tmp_path)
    assert result.exit_code == 2
    assert "Is a directory" in result.stderr
