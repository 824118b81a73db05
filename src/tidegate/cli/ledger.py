"""`tidegate ledger`: shows what was booked, proves that it adds up, and pays back."""

from typing import Annotated

import typer

from tidegate.cli import books
from tidegate.cli.complaint import Complaint
from tidegate.cli.configured import DEFAULT_CONFIG, ConfigOption, DatabaseOption, JsonOption, configured_for
from tidegate.cli.desk import finished
from tidegate.cli.exit_codes import Exit
from tidegate.cli.lists import print_json, print_table

app = typer.Typer(no_args_is_help=True, help="The books: verify, rebuild, show, refund.")

_COLUMNS = ("number", "at", "kind", "account", "key", "source", "target", "amount", "reference", "note")


@app.command()
def verify(config: ConfigOption = DEFAULT_CONFIG, database: DatabaseOption = None) -> None:
    """Recompute balances, holds and budgets from the postings; exit code 1 with the first difference."""
    from tidegate.storage.database import DatabaseUnusable  # late: `--help` need not load it

    url = configured_for(config, database).database.url.reveal()
    try:
        difference = books.verify(url)
    except DatabaseUnusable as error:
        raise Complaint(str(error)) from error
    if difference is not None:
        print(f"the books do not add up: {difference}")
        raise typer.Exit(Exit.FAILED)
    print("the books add up")


@app.command()
def rebuild(config: ConfigOption = DEFAULT_CONFIG, database: DatabaseOption = None) -> None:
    """Make balances, holds and budgets anew from the postings; a running gateway waits meanwhile."""
    from tidegate.storage.database import DatabaseUnusable  # late, as above

    try:
        books.rebuild(configured_for(config, database).database.url.reveal())
    except DatabaseUnusable as error:
        raise Complaint(str(error)) from error
    print("balances, holds and budgets are made anew")


@app.command()
def show(
    account: Annotated[str | None, typer.Option(help="Only postings of this account.")] = None,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, max=100_000, help="How many at most.")] = 50,
    as_json: JsonOption = False,
    config: ConfigOption = DEFAULT_CONFIG,
    database: DatabaseOption = None,
) -> None:
    """Show postings, the newest first."""
    from tidegate.admin.catalog_json import posting_json  # late, as above

    url = configured_for(config, database).database.url.reveal()

    async def work() -> list[dict[str, object]]:
        async with books.open_books(url) as ledger:
            return [posting_json(one) for one in await ledger.postings(account, limit=limit, before=None)]

    rows = finished(work())
    if as_json:
        print_json(rows)
        return
    print_table(
        [column.upper() for column in _COLUMNS], ([row[column] for column in _COLUMNS] for row in rows)
    )


@app.command()
def refund(
    request: Annotated[str, typer.Argument(help="The request's id, as `tidegate logs` shows it.")],
    amount: Annotated[
        str | None, typer.Option(help='US dollars, like "0.05"; all that is left of the charge unless told.')
    ] = None,
    reference: Annotated[
        str | None, typer.Option(help="The refund's own name: the same one is never paid twice.")
    ] = None,
    as_json: JsonOption = False,
    config: ConfigOption = DEFAULT_CONFIG,
    database: DatabaseOption = None,
) -> None:
    """Pay back what a request was charged, at most."""
    from tidegate.admin.amounts import read_refund  # late, as above
    from tidegate.admin.catalog_json import balance_json, refund_json

    url = configured_for(config, database).database.url.reveal()

    async def work() -> dict[str, object]:
        nano, used = read_refund({"amount": amount, "reference": reference})
        async with books.open_books(url) as ledger:
            done = await ledger.refund(request, nano, used)
            return {**refund_json(request, used, done), **balance_json(await ledger.balance(done.account))}

    row = finished(work())
    if as_json:
        print_json([row])
        return
    what = f"{row['amount']} USD to {row['account']}, reference {row['reference']}"
    print(f"paid back {what}" if row["refunded"] else f"paid back before: {what}; nothing changed")
    print(f"balance {row['balance']}, of which {row['held']} held")
