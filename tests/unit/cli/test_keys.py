from pathlib import Path

import pytest
from tests.unit.cli.commands import Commands
from typer.testing import CliRunner

from tidegate.cli.app import app


@pytest.fixture
def commands(tmp_path: Path) -> Commands:
    return Commands(tmp_path)


def test_a_secret_stands_alone_on_standard_output(commands: Commands) -> None:
    result = commands.run("keys", "create", "app", "--account", "acme")
    assert result.stdout.startswith("sk-tg-")
    assert len(result.stdout.split()) == 1
    assert "shown only now" in result.stderr
    quiet = commands.run("keys", "create", "other", "--quiet")
    assert quiet.stderr == ""
    assert quiet.stdout.strip() != result.stdout.strip()


def test_all_options_reach_the_key(commands: Commands) -> None:
    limits = ["--rpm", "5", "--tpm", "6", "--concurrency", "7", "--day", "1.5", "--month", "20"]
    (made,) = commands.rows(
        "keys", "create", "app", "--models", "sonnet, gpt-*", "--capture", "0.05", *limits
    )
    assert made["capture"] == 0.05
    assert made["secret"].startswith("sk-tg-")
    assert made["models"] == ["sonnet", "gpt-*"]
    numbers = [made[name] for name in ("requests_per_minute", "tokens_per_minute", "max_concurrency")]
    assert numbers == [5, 6, 7]
    assert (made["budget_per_day"], made["budget_per_month"]) == ("1.500000000", "20.000000000")


def test_a_key_that_can_call_nothing_is_told(commands: Commands) -> None:
    assert "no channel serves" in commands.run("keys", "create", "app", "--models", "gone").stderr


def test_a_list_has_no_secret(commands: Commands) -> None:
    secret = commands.good("keys", "create", "app", "--quiet").strip()
    listed = commands.good("keys", "list")
    assert secret not in listed
    assert [line.split()[:2] for line in listed.splitlines()[1:]] == [["app", "database"], ["laptop", "file"]]
    assert [row["managed_by"] for row in commands.rows("keys", "list")] == ["database", "file"]


def test_a_revoked_key_is_gone(commands: Commands) -> None:
    commands.good("keys", "create", "app")
    commands.good("keys", "revoke", "app")
    assert [row["name"] for row in commands.rows("keys", "list")] == ["laptop"]
    assert "none of this name" in commands.bad("keys", "revoke", "app")


def test_what_cannot_be_is_told(commands: Commands) -> None:
    assert "config file declares it" in commands.bad("keys", "revoke", "laptop")
    assert "one of this name already" in commands.bad("keys", "create", "laptop")
    assert "account: is no account" in commands.bad("keys", "create", "app", "--account", "nobody")
    assert "budget_per_day" in commands.bad("keys", "create", "app", "--day", "much")


def test_a_database_may_be_named_without_a_configuration(commands: Commands) -> None:
    arguments = ["keys", "create", "app", "--quiet", "--database", commands.url]
    assert CliRunner().invoke(app, arguments).stdout.startswith("sk-tg-")
    assert [row["name"] for row in commands.rows("keys", "list")] == ["app", "laptop"]


@pytest.mark.parametrize(
    "words",
    [
        ("keys", "list"),
        ("keys", "revoke", "app"),
        ("accounts", "list"),
        ("accounts", "credit", "acme", "5"),
        ("channels", "list"),
    ],
)
def test_a_named_database_that_is_not_there_is_likely_a_mistake(
    tmp_path: Path, words: tuple[str, ...]
) -> None:
    result = CliRunner().invoke(app, [*words, "--database", f"sqlite:///{tmp_path}/typo.db"])
    assert result.exit_code == 2
    assert "there is nothing yet" in " ".join(result.stderr.split())
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_is_no_database_is_told(commands: Commands, tmp_path: Path) -> None:
    (tmp_path / "tidegate.db").write_bytes(b"no database" * 100)
    assert "cannot be read" in commands.bad("keys", "list")


def test_a_missing_configuration_is_told(tmp_path: Path) -> None:
    result = CliRunner().invoke(app, ["keys", "list", "--config", str(tmp_path / "none.toml")])
    assert result.exit_code == 2
    assert "no such file" in " ".join(result.stderr.split())
