import re
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from tidegate.cli.app import app

FIXTURES = Path(__file__).parents[2] / "fixtures" / "litellm"
FILES = sorted(FIXTURES.glob("*.yaml"))
VALUES = {"REDIS_URL": "redis://localhost:6379/0", "AZURE_API_BASE_GPT_5": "https://a.example/openai/v1"}


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, arguments)


def bad(*arguments: str) -> str:
    told = run(*arguments)
    assert told.exit_code == 2, told.output
    assert "Traceback" not in told.output
    return " ".join(told.stderr.split())


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_the_new_file_is_accepted_once_its_variables_are_set(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written = tmp_path / "new.toml"
    told = run("import", "litellm", str(file), "-o", str(written))
    assert told.exit_code == 0, told.output
    assert "plain-" not in told.output + written.read_text()
    assert "check-config will say" not in told.output
    for name in re.findall(r'"env:([A-Z0-9_]+)"', written.read_text()):
        assert name in told.output
        monkeypatch.setenv(name, VALUES.get(name, f"value-of-{name}"))
    assert "good:" in run("check-config", str(written)).output


def test_a_file_is_overwritten_only_when_told(tmp_path: Path) -> None:
    written = tmp_path / "new.toml"
    written.write_text("mine")
    source = str(FIXTURES / "small.yaml")
    assert "is there already" in bad("import", "litellm", source, "-o", str(written))
    assert written.read_text() == "mine"
    assert run("import", "litellm", source, "-o", str(written), "--force").exit_code == 0
    assert "[[channels]]" in written.read_text()


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"\xff\xfe\x00", "no text in UTF-8"),
        (b"model_list: [", "line"),
        (b"just words", "no names with values"),
        (b"a: &a [*a]", "an alias stands inside"),
        (b"x" * (5 << 20), "larger than"),
    ],
)
def test_garbage_is_told_in_a_line(tmp_path: Path, content: bytes, words: str) -> None:
    file = tmp_path / "config.yaml"
    file.write_bytes(content)
    assert words in bad("import", "litellm", str(file))


def test_a_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    assert "No such file" in bad("import", "litellm", str(tmp_path / "none.yaml"))
