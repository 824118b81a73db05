"""`tidegate import`: turns the configuration of another gateway into ours."""

import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.text import Text

from tidegate.cli.complaint import Complaint
from tidegate.cli.stream.drawing import printable

if TYPE_CHECKING:
    from tidegate.importing.litellm import Imported
    from tidegate.importing.notes import Note

app = typer.Typer(no_args_is_help=True, help="Turn the configuration of another gateway into ours.")

_MOST_BYTES = 4 << 20
_HEAD = "# Written by `tidegate import litellm`. Check it: tidegate check-config {name}\n\n"


@app.callback()
def _root() -> None:
    """Turn the configuration of another gateway into ours."""


@app.command()
def litellm(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The config.yaml of a LiteLLM proxy.")],
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write here; else to standard output.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite the file.")] = False,
) -> None:
    """Turn a LiteLLM proxy's config into ours, and list what it could not carry."""
    from tidegate.importing.litellm import import_litellm  # late: `--help` need not load it
    from tidegate.importing.yaml_text import BadYaml

    try:
        imported = import_litellm(_read(file))
    except BadYaml as error:
        raise Complaint(f"{file}: {error}", mend="give the config.yaml of a LiteLLM proxy") from error
    if output is None:
        print(imported.toml, end="")
    else:
        _write(output, _HEAD.format(name=output.name) + imported.toml, force=force)
    _tell(imported, file)


def _read(file: Path) -> str:
    with file.open("rb") as opened:
        content = opened.read(_MOST_BYTES + 1)
    if len(content) > _MOST_BYTES:
        raise Complaint(f"{file}: is larger than {_MOST_BYTES >> 20} MiB", mend="give the config.yaml")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise Complaint(f"{file}: is no text in UTF-8") from error


def _write(output: Path, text: str, *, force: bool) -> None:
    try:
        with output.open("w" if force else "x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError as error:
        raise Complaint(f"{output}: is there already", mend="name another file, or add --force") from error


def _tell(imported: "Imported", file: Path) -> None:
    console = Console(stderr=True, soft_wrap=True, highlight=False)
    counts = f"channels: {imported.channels}, models: {imported.models}"
    console.print(Text(printable(f"{file}: {counts}"), "bold"))
    _tell_notes(console, "could not be carried", imported.left, "yellow")
    _tell_notes(console, "means something else now", imported.changed, "cyan")
    if imported.variables:
        console.print(Text("variables to set before the start:", "bold"))
    for variable in imported.variables:
        missing = "" if os.environ.get(variable.name) else " (not set here)"
        console.print(Text(printable(f"  {variable.name}: {variable.holds}{missing}")))
    for problem in _mistakes(imported):
        console.print(Text(printable(f"check-config will say: {problem}"), "bold red"))


def _tell_notes(console: Console, title: str, notes: "tuple[Note, ...]", colour: str) -> None:
    if notes:
        console.print(Text(f"{title}:", f"bold {colour}"))
    for note in notes:
        console.print(Text(printable(f"  {note.path}: {note.words}")))


def _mistakes(imported: "Imported") -> list[str]:
    """What is wrong with the new configuration even when all its variables are set."""
    from tidegate.config import ConfigError, load  # late, as above

    environ = {variable.name: _stand_in(imported.toml, variable.name) for variable in imported.variables}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "tidegate.toml"
        path.write_text(imported.toml, encoding="utf-8")
        try:
            load(path, environ)
        except ConfigError as error:
            return [str(problem).replace(str(path), "the new file") for problem in error.problems]
    return []


def _stand_in(toml: str, name: str) -> str:
    """A value that fits where the variable is read."""
    if f'base_url = "env:{name}"' in toml:
        return "https://api.example.com/v1"
    return "redis://localhost:6379/0" if f'url = "env:{name}"' in toml else f"stand-in-{name}"
