"""`tidegate channels`: lists channels, pauses, drains and resumes them, and tries one out."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer
from msgspec import structs

from tidegate.cli.complaint import Complaint
from tidegate.cli.configured import DEFAULT_CONFIG, ConfigOption, DatabaseOption, JsonOption
from tidegate.cli.desk import at_desk, at_desk_with_credentials
from tidegate.cli.exit_codes import Exit
from tidegate.cli.lists import print_json, print_table
from tidegate.cli.stream.asking import question
from tidegate.cli.stream.command import converse
from tidegate.cli.stream.screen import PipedConsole, Screen
from tidegate.core.protocol import Protocol
from tidegate.routing.catalog import Channel, Duty
from tidegate.routing.names import is_pattern

if TYPE_CHECKING:
    from tidegate.managed.desk import Desk

app = typer.Typer(no_args_is_help=True, help="Channels: list, pause, drain, resume, test.")

NameArgument: TypeAlias = Annotated[str, typer.Argument(help="The channel's name.")]

PROMPT = "Say hello in one word."
_MOST_TOKENS = 64
_ANY_ADDRESS = "http://channel.invalid"


@app.command("list")
def list_channels(
    as_json: JsonOption = False, config: ConfigOption = DEFAULT_CONFIG, database: DatabaseOption = None
) -> None:
    """List channels: what they speak, where they are, what they serve."""
    from tidegate.admin.catalog_json import entry_json  # late: `--help` need not load it
    from tidegate.admin.channels_api import duty_json
    from tidegate.storage.catalog import Kind

    async def work(desk: "Desk") -> list[dict[str, object]]:
        return [
            entry_json(entry, desk.doubts(entry)) | duty_json(entry.name, desk)
            for entry in await desk.entries(Kind.CHANNELS)
        ]

    rows = at_desk_with_credentials(config, database, work)
    if as_json:
        print_json(rows)
        return
    columns = ("name", "managed_by", "protocol", "state", "base_url", "models", "priority", "problem")
    heads = ("NAME", "IN", "PROTOCOL", "STATE", "BASE URL", "MODELS", "PRIORITY", "PROBLEM")
    print_table(heads, ([_words(row.get(column)) for column in columns] for row in rows))


@app.command()
def pause(name: NameArgument, config: ConfigOption = DEFAULT_CONFIG, database: DatabaseOption = None) -> None:
    """Send no new request to the channel. Those that are open go on."""
    _set_duty(name, Duty.PAUSED, config, database)


@app.command()
def drain(name: NameArgument, config: ConfigOption = DEFAULT_CONFIG, database: DatabaseOption = None) -> None:
    """Send the channel only what can go nowhere else, since what it builds on is kept there."""
    _set_duty(name, Duty.DRAINING, config, database)


@app.command()
def resume(
    name: NameArgument, config: ConfigOption = DEFAULT_CONFIG, database: DatabaseOption = None
) -> None:
    """Use the channel again."""
    _set_duty(name, Duty.ACTIVE, config, database)


def _set_duty(name: str, duty: Duty, config: Path, database: str | None) -> None:
    async def work(desk: "Desk") -> None:
        await desk.set_duty(name, duty)

    at_desk_with_credentials(config, database, work)
    print(f"{name!r} is {duty.value}, in force on every worker and node within two seconds", file=sys.stderr)


@app.command("test")
def try_channel(
    name: NameArgument,
    model: Annotated[
        str | None, typer.Option(help="A public model name of the channel; its first one unless told.")
    ] = None,
    config: ConfigOption = DEFAULT_CONFIG,
    database: DatabaseOption = None,
) -> None:
    """Send a small request to the channel itself, and say whether its stream ended with its end mark."""
    from tidegate.protocols.registry import dialect_of  # late, as above
    from tidegate.storage.catalog import Kind, NotThere

    async def work(desk: "Desk") -> Channel:
        entry = await desk.entry(Kind.CHANNELS, name)
        if entry is None:
            raise NotThere(name)
        if not isinstance(entry.value, Channel):
            raise Complaint(f"{name}: {entry.problem}")
        return entry.value

    channel = at_desk_with_credentials(config, database, work)
    upstream_model = _upstream_model(channel, model)
    print(f"{channel.name}: {channel.protocol.value}, {upstream_model}")
    asked = question(channel.protocol, _ANY_ADDRESS, upstream_model, PROMPT, _extra(channel.protocol))
    asked = structs.replace(asked, base_url=channel.base_url, path=dialect_of(channel.protocol).path)
    screen = Screen(channel.protocol, PipedConsole(soft_wrap=True), raw=False, show_reasoning=True)
    try:
        code = converse(asked, channel, screen)
    except Complaint:
        _note(name, upstream_model, Exit.FAILED, config, database)
        raise
    _note(name, upstream_model, code, config, database)
    raise typer.Exit(code)


def _note(name: str, model: str, code: Exit, config: Path, database: str | None) -> None:
    """Put the test into the audit log: the upstream was called, whatever came of it."""
    from tidegate.admin.channels_api import tested  # late, as above

    ok = None if code is Exit.INTERRUPTED else code is Exit.OK
    at_desk(config, database, lambda desk: desk.note(tested(name, model, ok=ok)))


def _upstream_model(channel: Channel, model: str | None) -> str:
    """What the upstream calls the model."""
    if model is None:
        exact = [upstream for public, upstream in channel.models.items() if not is_pattern(public)]
        if not exact:
            raise Complaint("the channel serves patterns only", mend="name a model with --model")
        return exact[0]
    from tidegate.routing.catalog import Catalog  # late, as above

    found = Catalog([channel]).candidates(model, channel.protocol)
    if not found:
        raise Complaint(f"the channel does not serve {model!r}", mend="look at `tidegate channels list`")
    return found[0].upstream_model


def _extra(protocol: Protocol) -> dict[str, object]:
    """A low limit where the protocol demands one; elsewhere its name depends on the model."""
    return {"max_tokens": _MOST_TOKENS} if protocol is Protocol.MESSAGES else {}


def _words(value: object) -> object:
    return list(value) if isinstance(value, dict) else value
