"""`tidegate accounts`: makes, shows, credits and deletes accounts."""

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from tidegate.cli.books import open_books
from tidegate.cli.configured import DEFAULT_CONFIG, ConfigOption, DatabaseOption, JsonOption, configured_for
from tidegate.cli.desk import at_desk
from tidegate.cli.limits import (
    ConcurrencyOption,
    DayOption,
    MonthOption,
    RpmOption,
    TpmOption,
    limits,
)
from tidegate.cli.lists import print_json, print_table

if TYPE_CHECKING:
    from tidegate.managed.desk import Desk

app = typer.Typer(no_args_is_help=True, help="Accounts: make, list, show, credit, delete.")

NameArgument: TypeAlias = Annotated[str, typer.Argument(help="The account's name.")]
Row: TypeAlias = dict[str, object]

_COLUMNS = ("name", "managed_by", "prepaid", "balance", "held", "requests_per_minute", "problem")
_HEADS = ("NAME", "IN", "PREPAID", "BALANCE", "HELD", "RPM", "PROBLEM")


@app.command()
def create(
    name: NameArgument,
    balance: Annotated[
        str | None, typer.Option(help="Opening balance in US dollars; the account is then prepaid.")
    ] = None,
    prepaid: Annotated[
        bool, typer.Option("--prepaid", help="It spends only what it has, also without an opening balance.")
    ] = False,
    rpm: RpmOption = None,
    tpm: TpmOption = None,
    concurrency: ConcurrencyOption = None,
    day: DayOption = None,
    month: MonthOption = None,
    as_json: JsonOption = False,
    config: ConfigOption = DEFAULT_CONFIG,
    database: DatabaseOption = None,
) -> None:
    """Make an account. Without a balance and --prepaid it is unlimited and pays afterwards."""
    from tidegate.admin.accounts_api import open_balance  # late: `--help` need not load it
    from tidegate.storage.catalog import Kind

    settings: Row = {
        "name": name,
        "balance": balance,
        "prepaid": True if prepaid else None,
        **limits(rpm, tpm, concurrency, day, month),
    }
    url = configured_for(config, database).database.url.reveal()

    async def work(desk: "Desk") -> None:
        if balance is not None:
            await desk.check(Kind.ACCOUNTS, settings)
            async with open_books(url) as books:
                await open_balance(settings, books)
        await desk.create(Kind.ACCOUNTS, settings)

    at_desk(config, database, work, creates=True)
    _show([name], as_json, config, database)


@app.command("list")
def list_accounts(
    as_json: JsonOption = False, config: ConfigOption = DEFAULT_CONFIG, database: DatabaseOption = None
) -> None:
    """List accounts with what they have."""
    _show(None, as_json, config, database)


@app.command()
def show(
    name: NameArgument,
    as_json: JsonOption = False,
    config: ConfigOption = DEFAULT_CONFIG,
    database: DatabaseOption = None,
) -> None:
    """Show one account with what it has."""
    _show([name], as_json, config, database)


@app.command()
def credit(
    name: NameArgument,
    amount: Annotated[str, typer.Argument(help='US dollars, like "10.00".')],
    reference: Annotated[
        str | None, typer.Option(help="The payment's own name: the same one is never credited twice.")
    ] = None,
    config: ConfigOption = DEFAULT_CONFIG,
    database: DatabaseOption = None,
) -> None:
    """Add a payment to an account."""
    from tidegate.admin.amounts import read_payment  # late, as above
    from tidegate.storage.catalog import Kind, NotThere

    url = configured_for(config, database).database.url.reveal()

    async def work(desk: "Desk") -> tuple[bool, str]:
        if await desk.entry(Kind.ACCOUNTS, name) is None:
            raise NotThere(name)
        nano, used = read_payment({"amount": amount, "reference": reference})
        async with open_books(url) as books:
            return await books.credit(name, nano, used), used

    credited, used = at_desk(config, database, work)
    print(
        f"credited, reference {used}"
        if credited
        else f"reference {used} was credited before: nothing changed"
    )
    _show([name], False, config, database)


@app.command()
def delete(
    name: NameArgument,
    force: Annotated[bool, typer.Option("--force", help="Revoke its keys too.")] = False,
    config: ConfigOption = DEFAULT_CONFIG,
    database: DatabaseOption = None,
) -> None:
    """Delete an account. Its postings stay in the ledger."""
    from tidegate.storage.catalog import Kind  # late, as above

    async def work(desk: "Desk") -> None:
        await desk.remove(Kind.ACCOUNTS, name, None, revoke_keys=force)

    at_desk(config, database, work)
    print(f"deleted {name!r}", file=sys.stderr)


def _show(
    names: Sequence[str] | None, as_json: bool, config: "ConfigOption", database: "DatabaseOption"
) -> None:
    from tidegate.admin.accounts_api import account_rows  # late, as above
    from tidegate.storage.catalog import Kind, NotThere

    url = configured_for(config, database).database.url.reveal()

    async def work(desk: "Desk") -> list[Row]:
        entries = [
            entry for entry in await desk.entries(Kind.ACCOUNTS) if names is None or entry.name in names
        ]
        if names is not None and not entries:
            raise NotThere(names[0])
        async with open_books(url) as books:
            return await account_rows(entries, desk, books)

    rows = at_desk(config, database, work)
    if as_json:
        print_json(rows)
    else:
        print_table(_HEADS, ([row.get(column) for column in _COLUMNS] for row in rows))
