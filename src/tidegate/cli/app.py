"""The commands of `tidegate`, put together."""

import sys
from io import TextIOWrapper
from typing import Annotated

import typer

from tidegate import __version__
from tidegate.cli import accounts, channels, importing, keys, ledger
from tidegate.cli.audit import audit
from tidegate.cli.check_config import check_config
from tidegate.cli.complaint import Border
from tidegate.cli.demo import demo
from tidegate.cli.doctor import doctor
from tidegate.cli.logs import logs
from tidegate.cli.serve import serve
from tidegate.cli.sim import sim
from tidegate.cli.stream.command import stream

HELP = (
    "A gateway for large-language-model APIs.\n\n"
    "Applications call it with one key over Chat Completions, Responses or Messages; it serves each call "
    "from one of several upstream channels and streams the answer back event by event."
)

EPILOG = (
    "Start with [bold]tidegate demo[/bold]: it needs no file, no network and no credential.\n\n"
    "Exit codes: 0 done, 1 the stream failed or the books do not add up, "
    "2 wrong option, file or configuration, "
    "3 cannot connect or listen, 4 refused by the server, 5 a stream without its end mark, 130 interrupted."
)

app = typer.Typer(
    cls=Border,
    name="tidegate",
    help=HELP,
    epilog=EPILOG,
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"tidegate {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool,
        typer.Option(
            "--version", help="Print the version and leave.", callback=_print_version, is_eager=True
        ),
    ] = False,
) -> None:
    pass


app.command(
    epilog="""Examples:

[bold]tidegate serve --config gateway.toml[/bold]

[bold]TIDEGATE_CONFIG=gateway.toml tidegate serve --port 9000 --workers 2[/bold]

SIGTERM drains and ends; SIGHUP reads the configuration again without touching open streams."""
)(serve)
app.command(
    epilog="""Examples:

[bold]tidegate demo[/bold], then paste one of the commands it prints

[bold]tidegate demo --port 0[/bold] takes any free port"""
)(demo)
app.command(
    epilog="""Example:

[bold]tidegate sim --port 9100[/bold]

[bold]tidegate stream --base-url http://127.0.0.1:9100 --protocol chat --model "sim;ttft=1s" "Hello"[/bold]"""
)(sim)
app.command("check-config", epilog="Example: [bold]tidegate check-config tidegate.toml && echo good[/bold]")(
    check_config
)
app.command(epilog="Example: [bold]tidegate logs --follow[/bold]")(logs)
app.command(epilog="Example: [bold]tidegate audit --kind keys[/bold]")(audit)
for name, group in (
    ("keys", keys.app),
    ("accounts", accounts.app),
    ("channels", channels.app),
    ("ledger", ledger.app),
    ("import", importing.app),
):
    app.add_typer(group, name=name)
app.command(
    epilog="""Examples:

[bold]tidegate stream --protocol chat --model sim "Say hello"[/bold]

[bold]tidegate stream --protocol messages --model sonnet --raw "Hello"[/bold] shows each event with its time

[bold]tidegate stream --protocol responses --model gpt --base-url https://api.example.com/v1 "Hi"[/bold]

The last two lines tell whether the end mark came, and usage, time to the first token and time in all."""
)(stream)

app.command(
    epilog="""Examples:

[bold]tidegate doctor https://api.example.com/v1 --protocol chat --model gpt-5 --key env:OPENAI_API_KEY[/bold]

[bold]tidegate doctor http://127.0.0.1:8080 -p messages -m sonnet --only plain --only tool --json[/bold]

Exit codes: 0 it keeps to its protocol, 1 it departs, 2 wrong options, 3 cannot connect."""
)(doctor)


def main() -> None:
    """Run the command that the arguments name, then leave with its exit code."""
    for output in (sys.stdout, sys.stderr):
        if isinstance(output, TextIOWrapper):
            output.reconfigure(errors="replace")  # a terminal that lacks a character is no reason to fail
    app(prog_name="tidegate")
