"""`tidegate keys`: makes, lists and revokes callers' keys."""

import sys
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from tidegate.cli.configured import DEFAULT_CONFIG, ConfigOption, DatabaseOption, JsonOption
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

app = typer.Typer(no_args_is_help=True, help="Callers' keys: make, list, revoke.")

NameArgument: TypeAlias = Annotated[str, typer.Argument(help="The key's name.")]
ModelsOption: TypeAlias = Annotated[
    str | None, typer.Option(help="What it may use: names and patterns, commas between; all unless told.")
]
CaptureOption: TypeAlias = Annotated[
    str | None, typer.Option(help="The share of its requests whose content is kept, from 0 to 1.")
]


@app.command()
def create(
    name: NameArgument,
    account: Annotated[str | None, typer.Option(help="Whose it is; `default` unless told.")] = None,
    models: ModelsOption = None,
    rpm: RpmOption = None,
    tpm: TpmOption = None,
    concurrency: ConcurrencyOption = None,
    day: DayOption = None,
    month: MonthOption = None,
    capture: CaptureOption = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print the secret and nothing else.")] = False,
    as_json: JsonOption = False,
    config: ConfigOption = DEFAULT_CONFIG,
    database: DatabaseOption = None,
) -> None:
    """Make a key and print its secret, which is shown this once."""
    settings: dict[str, object] = {
        "name": name,
        "account": account,
        "models": None if models is None else [model.strip() for model in models.split(",")],
        **limits(rpm, tpm, concurrency, day, month),
        "capture": capture,
    }

    async def work(desk: "Desk") -> tuple[dict[str, object], str]:
        entry, secret = await desk.create(Kind.KEYS, settings)
        return entry_json(entry, desk.doubts(entry)), "" if secret is None else secret.reveal()

    from tidegate.admin.catalog_json import entry_json  # late: `--help` need not load it
    from tidegate.storage.catalog import Kind

    shown, secret = at_desk(config, database, work, creates=True)
    if as_json:
        print_json([shown | {"secret": secret}])
        return
    print(secret)
    if not quiet:
        print(f"made the key {name!r}; this is its secret, shown only now", file=sys.stderr)
    for warning in shown["warnings"] if isinstance(shown["warnings"], list) else ():
        print(f"warning: {warning}", file=sys.stderr)


@app.command("list")
def list_keys(
    as_json: JsonOption = False, config: ConfigOption = DEFAULT_CONFIG, database: DatabaseOption = None
) -> None:
    """List keys: who has them, what they may use, and where they are declared."""
    from tidegate.admin.catalog_json import entry_json  # late, as above
    from tidegate.storage.catalog import Kind

    async def work(desk: "Desk") -> list[dict[str, object]]:
        return [entry_json(entry, desk.doubts(entry)) for entry in await desk.entries(Kind.KEYS)]

    rows = at_desk(config, database, work)
    if as_json:
        print_json(rows)
        return
    columns = ("name", "managed_by", "account", "models", "requests_per_minute", "hint", "problem")
    heads = ("NAME", "IN", "ACCOUNT", "MODELS", "RPM", "SECRET", "PROBLEM")
    print_table(heads, ([row.get(column) for column in columns] for row in rows))


@app.command()
def revoke(
    name: NameArgument, config: ConfigOption = DEFAULT_CONFIG, database: DatabaseOption = None
) -> None:
    """Delete a key: from then on it is refused. Streams that are open go on."""
    from tidegate.storage.catalog import Kind  # late, as above

    async def work(desk: "Desk") -> None:
        await desk.remove(Kind.KEYS, name, None, revoke_keys=False)

    at_desk(config, database, work)
    print(f"revoked {name!r}", file=sys.stderr)
