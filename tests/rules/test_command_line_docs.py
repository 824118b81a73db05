"""Every command and option of the command line stands in docs/cli.md."""

import re
from pathlib import Path
from typing import Any

from typer.main import get_command

from tidegate.cli.app import app
from tidegate.cli.exit_codes import Exit

TEXT = (Path(__file__).parents[2] / "docs" / "cli.md").read_text()
SECTIONS = {
    found.group(1): found.group(2)
    for found in re.finditer(r"^## `tidegate ([a-z-]+)`\n(.*?)(?=^## |\Z)", TEXT, re.MULTILINE | re.DOTALL)
}
ROOT_COMMAND: Any = get_command(app)
COMMANDS: dict[str, Any] = ROOT_COMMAND.commands


def parameters(command: Any) -> list[Any]:
    """Those of the command, and of the commands in it where it is a group."""
    return [*command.params, *(one for inner in subcommands(command).values() for one in inner.params)]


def subcommands(command: Any) -> dict[str, Any]:
    found: dict[str, Any] = getattr(command, "commands", {})
    return found


def test_every_command_has_a_section_and_every_section_a_command() -> None:
    assert set(SECTIONS) == set(COMMANDS)


def test_every_option_and_argument_is_described_in_its_section() -> None:
    missing = [
        (command, word)
        for command, parsed in COMMANDS.items()
        for parameter in parameters(parsed)
        for word in (*parameter.opts, *parameter.secondary_opts)
        if word != "--help"
        and not re.search(rf"`[^`]*{re.escape(word)}\b[^`]*`", SECTIONS[command], re.IGNORECASE)
    ]
    assert not missing


def test_no_section_describes_an_option_that_is_gone() -> None:
    known = {
        command: {
            word for parameter in parameters(parsed) for word in (*parameter.opts, *parameter.secondary_opts)
        }
        for command, parsed in COMMANDS.items()
    }
    rows = {
        command: re.findall(r"^\| `(--[a-z-]+)", text, re.MULTILINE) for command, text in SECTIONS.items()
    }
    assert not [
        (command, word) for command, words in rows.items() for word in words if word not in known[command]
    ]


def test_every_command_of_a_group_is_described_in_its_section() -> None:
    missing = [
        (command, inner)
        for command, parsed in COMMANDS.items()
        for inner, its in subcommands(parsed).items()
        if f"`tidegate {command} {inner}" not in SECTIONS[command] or not its.help
    ]
    assert not missing


def test_every_command_and_option_has_a_help_text() -> None:
    assert not [command for command, parsed in COMMANDS.items() if not parsed.help]
    assert not [
        (command, parameter.name)
        for command, parsed in COMMANDS.items()
        for parameter in parameters(parsed)
        if not parameter.help
    ]


def test_every_exit_code_is_listed() -> None:
    assert not [code for code in Exit if not re.search(rf"^\| {code.value} \|", TEXT, re.MULTILINE)]
