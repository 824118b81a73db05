from functools import partial
from pathlib import Path

import pytest
from sqlalchemy import Connection
from tests.unit.cli.commands import Commands

from tidegate.storage.booking import Booking, Held
from tidegate.storage.ledger_desk import credit
from tidegate.storage.statements import Statements


def charge(connection: Connection) -> None:
    booking = Booking(Statements(connection), 1_700_000_000_000_000)
    booking.lock(["acme"])
    booking.end(Held("req_1", "acme", "laptop", 0, 0), 500_000_000)
    booking.save()


@pytest.fixture
def commands(tmp_path: Path) -> Commands:
    """Three payments, and one request that cost half a dollar."""
    commands = Commands(tmp_path)
    for number, account in enumerate(("acme", "globex", "acme"), 1):
        commands.in_books(
            partial(credit, account=account, amount=number * 10**9, reference=f"p{number}", at=number)
        )
    commands.in_books(charge)
    return commands


def test_postings_come_newest_first(commands: Commands) -> None:
    assert [row["reference"] for row in commands.rows("ledger", "show")] == ["req_1", "p3", "p2", "p1"]
    mine = commands.rows("ledger", "show", "--account", "acme", "-n", "2")
    assert [row["reference"] for row in mine] == ["req_1", "p3"]
    lines = commands.good("ledger", "show", "--account", "globex").splitlines()
    assert lines[0].split()[0] == "NUMBER"
    assert "2.000000000" in lines[1]


def test_balances_that_are_wrong_are_found_and_made_anew(commands: Commands) -> None:
    assert "the books add up" in commands.good("ledger", "verify")
    commands.in_books(lambda connection: connection.exec_driver_sql("UPDATE balances SET balance = 7"))
    assert commands.run("ledger", "verify").exit_code == 1
    assert "made anew" in commands.good("ledger", "rebuild")
    assert "the books add up" in commands.good("ledger", "verify")
    (noted,) = commands.rows("audit", "--kind", "ledger")
    assert (noted["action"], noted["via"]) == ("rebuild", "command_line")


def test_a_refund_is_paid_once(commands: Commands) -> None:
    order = ("ledger", "refund", "req_1", "--amount", "0.1", "--reference", "sorry")
    told = commands.good(*order)
    assert "paid back 0.100000000 USD to acme, reference sorry" in told
    assert "balance 3.600000000" in told
    again = commands.good(*order)
    assert "paid back before: 0.100000000 USD to acme, reference sorry; nothing changed" in again
    assert "balance 3.600000000" in again
    (rest,) = commands.rows("ledger", "refund", "req_1")
    assert (rest["refunded"], rest["amount"], rest["balance"]) == (True, "0.400000000", "4.000000000")
    assert "add up" not in commands.bad("ledger", "refund", "req_1")


def test_a_refund_that_cannot_be_is_told(commands: Commands) -> None:
    assert "0.500000000 USD are left" in commands.bad("ledger", "refund", "req_1", "--amount", "0.6")
    assert "nothing was charged" in commands.bad("ledger", "refund", "req_2")
    assert "amount: is no amount" in commands.bad("ledger", "refund", "req_1", "--amount", "half")
    commands.good("ledger", "refund", "req_1", "--amount", "0.1", "--reference", "r")
    told = commands.bad("ledger", "refund", "req_1", "--amount", "0.2", "--reference", "r")
    assert "0.100000000 USD for req_1 already" in told


def test_the_first_difference_is_told(commands: Commands) -> None:
    commands.in_books(
        lambda connection: connection.exec_driver_sql("DELETE FROM postings WHERE kind = 'settle'")
    )
    result = commands.run("ledger", "verify")
    assert result.exit_code == 1
    assert "the books do not add up: account acme: its balance is 3.500000000" in result.stdout


def test_books_that_add_up_are_told(tmp_path: Path) -> None:
    commands = Commands(tmp_path)
    commands.in_books(partial(credit, account="acme", amount=5, reference="p", at=1.0))
    assert "the books add up" in commands.good("ledger", "verify")


def test_a_database_that_is_not_there_is_told(tmp_path: Path) -> None:
    commands = Commands(tmp_path)
    for words in (("verify",), ("show",), ("refund", "req_1")):
        assert "there are no books; the gateway makes them at its start" in commands.bad("ledger", *words)


def test_tables_of_another_version_are_left_alone(commands: Commands) -> None:
    commands.in_books(
        lambda connection: connection.exec_driver_sql("UPDATE alembic_version SET version_num = '0001'")
    )
    for words in (("verify",), ("show",), ("refund", "req_1")):
        assert "start the gateway once to upgrade" in commands.bad("ledger", *words)
