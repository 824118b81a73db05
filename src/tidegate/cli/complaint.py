"""Tells a user what went wrong and what mends it, without a traceback."""

import errno
import os
import sys
from typing import Any

import typer
from rich.console import Console
from rich.text import Text
from typer.core import TyperGroup

from tidegate.cli.exit_codes import Exit


class Complaint(Exception):
    """A mistake or a circumstance that the user can mend; `mend` says how."""

    def __init__(self, message: str, *, mend: str | None = None, code: Exit = Exit.USAGE) -> None:
        super().__init__(message)
        self.message = message
        self.mend = mend
        self.code = code


def no_listening(error: OSError, where: str) -> Complaint:
    """Why a server cannot listen on `where`, in the user's words."""
    match error.errno:
        case errno.EADDRINUSE:
            what, mend = "the port is in use", "choose another with --port (0 takes any free one)"
        case errno.EACCES | errno.EPERM:
            what, mend = "no permission", "choose a port above 1023 with --port"
        case errno.EADDRNOTAVAIL:
            what, mend = "not an address of this machine", "choose another with --host, e.g. 127.0.0.1"
        case _:  # the system has many more reasons, each with words of its own
            what, mend = error.strerror or str(error), "choose another address with --host and --port"
    return Complaint(f"cannot listen on {where}: {what}", mend=mend, code=Exit.NO_CONNECTION)


def tell(complaint: Complaint) -> None:
    """Print a complaint on standard error."""
    console = Console(stderr=True, soft_wrap=True, highlight=False)
    console.print(Text.assemble(("error: ", "bold red"), complaint.message))
    if complaint.mend:
        advise(complaint.mend)


def advise(mend: str) -> None:
    """Print what mends it on standard error."""
    console = Console(stderr=True, soft_wrap=True, highlight=False)
    console.print(Text.assemble(("mend:  ", "bold"), mend))


class Border(TyperGroup):
    """The one place where errors of a command become words and an exit code."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except Complaint as complaint:
            tell(complaint)
            raise typer.Exit(complaint.code) from complaint
        except BrokenPipeError as gone:
            silence_stdout()
            raise typer.Exit(Exit.BROKEN_PIPE) from gone
        except OSError as error:
            tell(_file_complaint(error))
            raise typer.Exit(Exit.USAGE) from error


def silence_stdout() -> None:
    """The reader of standard output went away: what is still buffered must not fail at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _file_complaint(error: OSError) -> Complaint:
    reason = error.strerror or str(error) or type(error).__name__
    return Complaint(f"{error.filename}: {reason}" if error.filename else reason)
