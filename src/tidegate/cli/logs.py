"""`tidegate logs`: shows the journal of finished requests."""

import sys
import time
from collections.abc import Iterable
from typing import Annotated

import msgspec
import typer

from tidegate.admin.resources import iso_time, request_json
from tidegate.cli.complaint import Complaint
from tidegate.cli.configured import DEFAULT_CONFIG, ConfigOption, DatabaseOption, configured
from tidegate.cli.exit_codes import Exit
from tidegate.exchange.ports import RequestRecord
from tidegate.ledger.money import usd
from tidegate.observe.plain import plain_json
from tidegate.storage.pages import OUTCOMES, PROTOCOLS, Filters

POLL_SECONDS = 0.5

_FILTER = "Only this {}."


def logs(
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Go on and show each new row.")] = False,
    limit: Annotated[
        int, typer.Option("--limit", "-n", min=0, max=100_000, help="How many rows at first.")
    ] = 50,
    key: Annotated[str | None, typer.Option(help=_FILTER.format("key"))] = None,
    account: Annotated[str | None, typer.Option(help=_FILTER.format("account"))] = None,
    model: Annotated[str | None, typer.Option(help=_FILTER.format("model"))] = None,
    channel: Annotated[str | None, typer.Option(help=_FILTER.format("channel"))] = None,
    outcome: Annotated[str | None, typer.Option(help=f"Only this outcome: {', '.join(OUTCOMES)}.")] = None,
    protocol: Annotated[str | None, typer.Option(help=f"Only this protocol: {', '.join(PROTOCOLS)}.")] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="One JSON object a line, as the admin API gives it.")
    ] = False,
    config: ConfigOption = DEFAULT_CONFIG,
    database: DatabaseOption = None,
) -> None:
    """Show finished requests: the newest rows of the journal, oldest first."""
    filters = Filters(
        key=key,
        account=account,
        model=model,
        channel=channel,
        outcome=_one_of("outcome", outcome, OUTCOMES),
        protocol=_one_of("protocol", protocol, PROTOCOLS),
    )
    url = database if database is not None else configured(config).database.url.reveal()
    try:
        _show(url, filters, limit, follow=follow, as_json=as_json)
    except KeyboardInterrupt:
        raise typer.Exit(Exit.INTERRUPTED) from None


def _show(url: str, filters: Filters, limit: int, *, follow: bool, as_json: bool) -> None:
    from tidegate.storage.database import DatabaseUnusable  # late: `--help` need not load it
    from tidegate.storage.journal_file import JournalFile

    try:
        journal = JournalFile(url)
        reached, records = journal.newest(filters, limit)
        _print(records, as_json=as_json)
        while follow:
            time.sleep(POLL_SECONDS)
            reached, records = journal.since(reached, filters)
            _print(records, as_json=as_json)
    except DatabaseUnusable as error:
        raise Complaint(str(error)) from error


def _print(records: Iterable[RequestRecord], *, as_json: bool) -> None:
    for record in records:
        print(plain_json(msgspec.json.encode(request_json(record)).decode()) if as_json else line(record))
    sys.stdout.flush()


def line(record: RequestRecord) -> str:
    """One row for people. What callers and upstreams wrote cannot steer the terminal."""
    mark = "~" if record.usage_source == "estimated" else ""
    words = [
        iso_time(record.created_at),
        record.id,
        record.key or "-",
        record.model or "-",
        record.channel or "-",
        str(record.status),
        record.outcome,
        f"in={mark}{record.input_tokens}",
        f"cache={record.cache_read_tokens}/{record.cache_write_tokens}",
        f"out={mark}{record.output_tokens}",
        f"first={_duration(record.first_token_ms)}",
        f"total={_duration(record.duration_ms)}",
    ]
    if record.cost:
        words.append(f"cost={usd(record.cost)}")
    if record.error_message or record.error_code:
        words.append(f"error={record.error_code or record.error_type or '-'}: {record.error_message or '-'}")
    return "".join(letter if letter.isprintable() else "\ufffd" for letter in "  ".join(words))


def _duration(milliseconds: float | None) -> str:
    if milliseconds is None:
        return "-"
    return f"{milliseconds:.0f}ms" if milliseconds < 1000 else f"{milliseconds / 1000:.2f}s"


def _one_of(option: str, value: str | None, choices: tuple[str, ...]) -> str | None:
    if value is not None and value not in choices:
        raise Complaint(
            f"--{option}: there is no {option} {value!r}", mend=f"choose one of {', '.join(choices)}"
        )
    return value
