"""`tidegate audit`: shows who changed what."""

from typing import Annotated

import typer
from msgspec.json import encode

from tidegate.cli.configured import DEFAULT_CONFIG, ConfigOption, DatabaseOption, JsonOption, configured_for
from tidegate.cli.desk import finished
from tidegate.cli.lists import print_json, print_table

_HEADS = ("AT", "OPERATOR", "VIA", "ADDRESS", "ACTION", "KIND", "NAME", "CHANGES")
_COLUMNS = ("at", "operator", "via", "address", "action", "kind", "name")


def audit(
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, max=100_000, help="How many at most.")] = 50,
    kind: Annotated[str | None, typer.Option(help="Only this kind, like channels or keys.")] = None,
    name: Annotated[str | None, typer.Option(help="Only what has this name.")] = None,
    operator: Annotated[str | None, typer.Option(help="Only what this operator did.")] = None,
    as_json: JsonOption = False,
    config: ConfigOption = DEFAULT_CONFIG,
    database: DatabaseOption = None,
) -> None:
    """Show the audit log, the newest first: who changed what, and what it was before."""
    from tidegate.admin.audit_api import audit_json  # late: `--help` need not load it
    from tidegate.storage.audit import Wanted, read
    from tidegate.storage.catalog_access import CatalogFile

    url = configured_for(config, database).database.url.reveal()
    wanted = Wanted(kind=kind, name=name, operator=operator)

    async def work() -> list[dict[str, object]]:
        file = CatalogFile(url, make=False)
        try:
            rows = file.read(lambda connection: read(connection, wanted, limit=limit))
        finally:
            file.close()
        return [audit_json(row) for row in rows]

    shown = finished(work())
    if as_json:
        print_json(shown)
        return
    print_table(_HEADS, ([*(row[column] for column in _COLUMNS), _changes(row["changes"])] for row in shown))


def _changes(changes: object) -> str:
    pairs = changes.items() if isinstance(changes, dict) else ()
    return ", ".join(
        f"{field}={_words(after)}" if before is None else f"{field}: {_words(before)} -> {_words(after)}"
        for field, (before, after) in pairs
    )


def _words(value: object) -> str:
    """As the configuration has it."""
    return value if isinstance(value, str) else encode(value).decode()
