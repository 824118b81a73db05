"""Mistakes become words and an exit code, never a traceback."""

import errno
import os

import pytest
import typer
from typer.testing import CliRunner

from tidegate.cli.complaint import Border, Complaint, no_listening
from tidegate.cli.exit_codes import Exit


def outcome(error: BaseException) -> tuple[int, str]:
    app = typer.Typer(cls=Border)

    @app.callback()
    def root() -> None: ...

    @app.command()
    def fail() -> None:
        raise error

    result = CliRunner().invoke(app, ["fail"])
    return result.exit_code, result.stderr


def test_a_complaint_tells_what_and_how_to_mend_it() -> None:
    code, text = outcome(Complaint("no [bold]such[/bold] thing", mend="make one", code=Exit.NO_CONNECTION))
    assert code == Exit.NO_CONNECTION
    assert text == "error: no [bold]such[/bold] thing\nmend:  make one\n"


def test_a_file_that_cannot_be_used_is_named() -> None:
    code, text = outcome(PermissionError(errno.EACCES, "Permission denied", "gateway.toml"))
    assert (code, text) == (Exit.USAGE, "error: gateway.toml: Permission denied\n")


def test_ctrl_c_is_no_error() -> None:
    assert outcome(KeyboardInterrupt())[0] == Exit.INTERRUPTED


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (errno.EADDRINUSE, "the port is in use"),
        (errno.EACCES, "no permission"),
        (errno.EADDRNOTAVAIL, "not an address of this machine"),
        (errno.EAFNOSUPPORT, os.strerror(errno.EAFNOSUPPORT)),
    ],
)
def test_why_a_port_cannot_be_listened_on(number: int, words: str) -> None:
    complaint = no_listening(OSError(number, os.strerror(number)), "h:80")
    assert complaint.message == f"cannot listen on h:80: {words}"
    assert complaint.mend
    assert complaint.code is Exit.NO_CONNECTION
