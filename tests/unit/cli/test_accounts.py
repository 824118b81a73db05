from pathlib import Path

import pytest
from tests.unit.cli.commands import Commands


@pytest.fixture
def commands(tmp_path: Path) -> Commands:
    return Commands(tmp_path)


def test_an_account_is_made_with_an_opening_balance(commands: Commands) -> None:
    (made,) = commands.rows("accounts", "create", "globex", "--balance", "25.00", "--rpm", "5")
    assert (made["prepaid"], made["balance"], made["requests_per_minute"]) == (True, "25.000000000", 5)
    assert "one of this name already" in commands.bad("accounts", "create", "globex", "--balance", "25.00")
    assert len(commands.rows("ledger", "show")) == 1


def test_an_account_without_one_pays_afterwards(commands: Commands) -> None:
    (made,) = commands.rows("accounts", "create", "globex")
    assert (made["prepaid"], made["balance"]) == (False, "0.000000000")
    (prepaid,) = commands.rows("accounts", "create", "other", "--prepaid")
    assert prepaid["prepaid"]


def test_lists_and_shows(commands: Commands) -> None:
    commands.good("accounts", "create", "globex", "--balance", "1")
    lines = commands.good("accounts", "list").splitlines()
    assert [line.split()[:4] for line in lines[1:]] == [
        ["acme", "file", "yes", "0.000000000"],
        ["globex", "database", "yes", "1.000000000"],
    ]
    (shown,) = commands.rows("accounts", "show", "acme")
    assert shown["managed_by"] == "file"
    assert "none of this name" in commands.bad("accounts", "show", "nobody")


def test_a_payment_counts_once(commands: Commands) -> None:
    assert "credited, reference invoice" in commands.good(
        "accounts", "credit", "acme", "5", "--reference", "invoice"
    )
    again = commands.good("accounts", "credit", "acme", "5", "--reference", "invoice")
    assert "nothing changed" in again
    assert "5.000000000" in again
    assert "amount" in commands.bad("accounts", "credit", "acme", "five")
    assert "none of this name" in commands.bad("accounts", "credit", "nobody", "5")
    assert "more than the books can keep" in commands.bad("accounts", "credit", "acme", "1000000000")


def test_an_account_goes_only_with_its_keys(commands: Commands) -> None:
    commands.good("accounts", "create", "globex")
    commands.good("keys", "create", "app", "--account", "globex")
    assert "it has keys: app" in commands.bad("accounts", "delete", "globex")
    commands.good("accounts", "delete", "globex", "--force")
    assert [row["name"] for row in commands.rows("keys", "list")] == ["laptop"]
    assert "config file declares it" in commands.bad("accounts", "delete", "acme")


def test_an_opening_balance_is_credited_once(commands: Commands) -> None:
    commands.good("accounts", "create", "globex", "--balance", "25.00")
    commands.good("accounts", "delete", "globex")
    assert "25.000000000 USD to globex already" in commands.bad(
        "accounts", "create", "globex", "--balance", "30"
    )
    (again,) = commands.rows("accounts", "create", "globex", "--balance", "25.00")
    assert again["balance"] == "25.000000000"


def test_a_reference_stands_for_one_payment(commands: Commands) -> None:
    commands.good("accounts", "credit", "acme", "5", "--reference", "invoice")
    told = commands.bad("accounts", "credit", "acme", "6", "--reference", "invoice")
    assert "invoice: is the credit of 5.000000000 USD to acme already" in told


def test_books_that_cannot_be_used_are_told(commands: Commands) -> None:
    commands.good("accounts", "list")
    commands.in_books(lambda connection: connection.exec_driver_sql("DROP TABLE balances"))
    assert "no such table: balances" in commands.bad("accounts", "list")
    assert "no such table: balances" in commands.bad("accounts", "create", "globex", "--balance", "1")
    commands.in_books(lambda connection: connection.exec_driver_sql("DROP TABLE postings"))
    assert [row["name"] for row in commands.rows("keys", "list")] == ["laptop"]
