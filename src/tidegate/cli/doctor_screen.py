"""Shows people what the doctor finds, while it is at work."""

from rich.console import Console
from rich.text import Text

from tidegate.cli.stream.drawing import printable
from tidegate.doctor.findings import Finding
from tidegate.doctor.report import Report, StreamReport
from tidegate.doctor.rules import Severity, rule
from tidegate.routing.catalog import Channel

_COLOURS = {Severity.ERROR: "bold red", Severity.WARNING: "yellow", Severity.NOTE: "cyan"}
_SHOWN = 160


class DoctorScreen:
    """Writes a line for each answer, and one for each finding on it."""

    def __init__(self, console: Console) -> None:
        self._console = console

    def open(self, channel: Channel, model: str) -> None:
        """Before the first request."""
        self._print(Text(printable(f"{channel.base_url} · {channel.protocol.value} · {model}"), "bold"))

    def show(self, stream: StreamReport) -> None:
        """An answer, as soon as it is judged."""
        mark = Text("good ", "green") if stream.ok else Text("bad  ", "bold red")
        self._print(Text.assemble(mark, f"{stream.name:<16}", (_figures(stream), "dim")))
        for finding in stream.findings:
            self._show(finding)

    def close(self, report: Report) -> None:
        """After the last."""
        found = [finding.severity for stream in report.streams for finding in stream.findings]
        counts = ", ".join(
            f"{number} {severity.value}{'' if number == 1 else 's'}"
            for severity in Severity
            if (number := found.count(severity))
        )
        if report.skipped:
            self._print(Text(f"not tried: {', '.join(report.skipped)}, which would come to the same", "dim"))
        self._print(Text.assemble(_verdict(report), f": {counts or 'nothing was found'}"))

    def _show(self, finding: Finding) -> None:
        known = rule(finding.rule)
        head = (f"     {known.severity.value:<8}", _COLOURS[known.severity])
        words = f"{printable(finding.message)}"
        self._print(Text.assemble(head, (f"{known.id}: ", "bold"), words, (f"  [{known.source}]", "dim")))
        if finding.event:
            line = printable(finding.event.replace("\n", " ⏎ "))
            shown = line if len(line) <= _SHOWN else f"{line[:_SHOWN]}…"
            self._print(Text(f"              {shown}", "dim"))

    def _print(self, text: Text) -> None:
        self._console.print(text)


def _verdict(report: Report) -> Text:
    if report.ok:
        return Text("it keeps to its protocol", "green")
    found = {finding.rule for stream in report.streams for finding in stream.findings}
    unexamined = report.skipped or found & {"unreachable", "credential"}
    return Text("it could not be examined" if unexamined else "it departs", "bold red")


def _figures(stream: StreamReport) -> str:
    status = "no answer" if stream.status is None else f"status {stream.status}"
    first = "" if stream.first_event_ms is None else f", first event {stream.first_event_ms:.0f} ms"
    events = f", {stream.events} events" if stream.events else ""
    return f"{status}{first}{events}, {stream.total_ms:.0f} ms in all"
