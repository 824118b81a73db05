from pathlib import Path

import pytest
from tests.unit.cli.commands import Commands

from tidegate.cli.author import author
from tidegate.storage.audit import Via


@pytest.fixture
def commands(tmp_path: Path) -> Commands:
    return Commands(tmp_path)


def test_what_commands_did_is_listed_newest_first(commands: Commands) -> None:
    secret = commands.good("keys", "create", "app", "--rpm", "5").strip()
    commands.good("accounts", "create", "paid", "--balance", "5")
    commands.good("accounts", "credit", "paid", "1", "--reference", "r1")
    commands.good("accounts", "credit", "paid", "1", "--reference", "r1")
    commands.good("keys", "revoke", "app")
    rows = commands.rows("audit")
    assert [(row["action"], row["kind"], row["name"]) for row in rows] == [
        ("delete", "keys", "app"),
        ("credit", "accounts", "paid"),
        ("create", "accounts", "paid"),
        ("credit", "accounts", "paid"),
        ("create", "keys", "app"),
    ]
    assert {(row["operator"], row["via"], row["address"]) for row in rows} == {
        (author().operator, "command_line", None)
    }
    assert rows[-1]["changes"] == {"requests_per_minute": [None, 5]}
    assert rows[0]["changes"] == {"requests_per_minute": [5, None]}
    assert secret not in str(rows)


def test_the_list_can_be_narrowed(commands: Commands) -> None:
    for name in ("a", "b"):
        commands.good("keys", "create", name)
    assert [row["name"] for row in commands.rows("audit", "--limit", "1")] == ["b"]
    assert [row["name"] for row in commands.rows("audit", "--kind", "keys", "--name", "a")] == ["a"]
    assert commands.rows("audit", "--operator", "nobody-of-this-name") == []


def test_people_see_a_table(commands: Commands) -> None:
    commands.good("keys", "create", "a\u202eb", "--rpm", "5", "--models", "sonnet")
    shown = "".join(commands.good("audit").split())
    assert "requests_per_minute=5" in shown
    assert 'models=["sonnet"]' in shown
    assert "\u202e" not in shown


def test_without_a_database_it_says_so(commands: Commands) -> None:
    assert "there is nothing yet" in commands.bad("audit")


def test_a_user_without_a_name_is_told_by_number(monkeypatch: pytest.MonkeyPatch) -> None:
    def nameless() -> str:
        raise OSError("no such user")

    monkeypatch.setattr("getpass.getuser", nameless)
    assert author().via is Via.COMMAND_LINE
    assert (author().operator or "").isdigit()
