"""`tidegate doctor`: examines how an endpoint keeps to its protocol."""

import asyncio
import json
import os
import re
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from tidegate.cli.complaint import Complaint
from tidegate.cli.doctor_screen import DoctorScreen
from tidegate.cli.exit_codes import Exit
from tidegate.cli.stream.asking import BadUrl, question
from tidegate.core.protocol import Protocol
from tidegate.core.secret import Secret
from tidegate.doctor.probes import Examination, probes
from tidegate.doctor.report import Report, report_json
from tidegate.doctor.rules import Severity
from tidegate.routing.catalog import Channel, Headers

_PATIENCE = 120.0
_LONGEST = 3600.0
_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9a-z-]+")
_OWN = frozenset({"content-length", "transfer-encoding", "content-encoding", "host", "connection"})


def doctor(
    url: Annotated[str, typer.Argument(metavar="URL", help="The endpoint's base URL, with or without /v1.")],
    protocol: Annotated[Protocol, typer.Option("--protocol", "-p", help="The protocol it should speak.")],
    model: Annotated[str, typer.Option("--model", "-m", help="The model to ask for.")],
    key: Annotated[
        str,
        typer.Option(envvar="TIDEGATE_KEY", help="The credential; env:NAME reads it from the environment."),
    ] = "",
    header: Annotated[
        list[str] | None, typer.Option(help="A further header, `name: value`; may be given several times.")
    ] = None,
    only: Annotated[
        list[Examination] | None, typer.Option(help="Only this request; may be given several times.")
    ] = None,
    timeout: Annotated[
        float, typer.Option(min=0.1, max=_LONGEST, help="Seconds for each request.")
    ] = _PATIENCE,
    ca_file: Annotated[
        Path | None, typer.Option(exists=True, dir_okay=False, help="Extra trusted roots (PEM).")
    ] = None,
    strict: Annotated[bool, typer.Option("--strict", help="Warnings count as departures.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="JSON, as the admin API gives it.")] = False,
) -> None:
    """Run streams against an endpoint and say how its answers depart from its protocol."""
    if not model.strip():
        raise Complaint("--model is empty", mend="name the model to ask for")
    channel = Channel(
        name=url,
        protocol=protocol,
        base_url=_base_url(protocol, url),
        api_key=_credential(key),
        models={},
        headers=_headers(header or []),
        ca_file=None if ca_file is None else str(ca_file),
    )
    chosen = tuple(only) if only else tuple(Examination)
    report = _examined(channel, model, chosen, timeout, quiet=as_json)
    if as_json:
        print(json.dumps(report_json(report), indent=2, ensure_ascii=False))
    raise typer.Exit(_exit_code(report, strict=strict))


def _examined(
    channel: Channel, model: str, chosen: tuple[Examination, ...], timeout: float, *, quiet: bool
) -> Report:
    from tidegate.upstream.examination import examine  # late: `--help` need not load it

    asked = probes(channel.protocol, model, chosen)
    screen = None if quiet else DoctorScreen(Console(soft_wrap=True, highlight=False))
    if screen is not None:
        screen.open(channel, model)
    told = None if screen is None else screen.show
    try:
        report = asyncio.run(examine(channel, model, asked, os.environ, patience=timeout, told=told))
    except KeyboardInterrupt:
        raise typer.Exit(Exit.INTERRUPTED) from None
    if screen is not None:
        screen.close(report)
    return report


def _exit_code(report: Report, *, strict: bool) -> Exit:
    findings = [finding for stream in report.streams for finding in stream.findings]
    if any(finding.rule == "unreachable" for finding in findings):
        return Exit.NO_CONNECTION
    bad = {Severity.ERROR, Severity.WARNING} if strict else {Severity.ERROR}
    return Exit.FAILED if any(finding.severity in bad for finding in findings) else Exit.OK


def _base_url(protocol: Protocol, url: str) -> str:
    try:
        return question(protocol, url, "", "").base_url
    except BadUrl as error:
        raise Complaint(str(error), mend="give the endpoint's base URL") from error


def _credential(text: str) -> Secret:
    if text.startswith("env:"):
        name = text.removeprefix("env:")
        if not os.environ.get(name):
            raise Complaint(f"the variable {name} is not set", mend="set it, or correct --key or --header")
        text = os.environ[name]
    if any(ord(char) < 0x20 or ord(char) == 0x7F for char in text):
        raise Complaint("a value holds a control character", mend="correct --key or --header")
    return Secret(text)


def _headers(lines: list[str]) -> Headers:
    read = Headers()
    for line in lines:
        name, colon, value = line.partition(":")
        if not colon or not name.strip():
            raise Complaint("--header takes `name: value`", mend="write it so")
        read[_header_name(name.strip().lower())] = _credential(value.strip()).reveal()
    return read


def _header_name(name: str) -> str:
    if _TOKEN.fullmatch(name) is None:
        raise Complaint(f"{name!r} is no name of a header", mend="correct --header")
    if name in _OWN:
        raise Complaint(f"{name} is set by the doctor itself", mend="leave it out")
    return name
