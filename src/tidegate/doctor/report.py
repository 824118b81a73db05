"""What was found, and its JSON form."""

from datetime import UTC, datetime

from msgspec import Struct

from tidegate.doctor.findings import Finding
from tidegate.doctor.rules import Severity, rule


class StreamReport(Struct, frozen=True, kw_only=True):
    """What was found on one request. Times are milliseconds after it was sent, None: it never came."""

    name: str
    status: int | None
    first_byte_ms: float | None
    first_event_ms: float | None
    total_ms: float
    events: int
    findings: tuple[Finding, ...]

    @property
    def ok(self) -> bool:
        """Whether nothing departs from the protocol; what is only unwise does not count."""
        return all(finding.severity is not Severity.ERROR for finding in self.findings)


class Report(Struct, frozen=True, kw_only=True):
    """What was found on an endpoint; `started_at` is in Unix seconds."""

    target: str
    protocol: str
    model: str
    started_at: float
    duration_ms: float
    streams: tuple[StreamReport, ...]
    skipped: tuple[str, ...] = ()
    """Requests that were not sent any more, since an answer said what theirs would be."""

    @property
    def ok(self) -> bool:
        """Whether every stream is."""
        return all(stream.ok for stream in self.streams)


def report_json(report: Report) -> dict[str, object]:
    """The report as the admin API and `--json` give it."""
    started = datetime.fromtimestamp(report.started_at, UTC).isoformat(timespec="milliseconds")
    return {
        "target": report.target,
        "protocol": report.protocol,
        "model": report.model,
        "ok": report.ok,
        "started_at": started.replace("+00:00", "Z"),
        "duration_ms": round(report.duration_ms, 3),
        "streams": [_stream_json(stream) for stream in report.streams],
        "skipped": list(report.skipped),
    }


def _stream_json(stream: StreamReport) -> dict[str, object]:
    return {
        "name": stream.name,
        "ok": stream.ok,
        "status": stream.status,
        "first_byte_ms": _rounded(stream.first_byte_ms),
        "first_event_ms": _rounded(stream.first_event_ms),
        "total_ms": round(stream.total_ms, 3),
        "events": stream.events,
        "findings": [
            {
                "rule": finding.rule,
                "severity": finding.severity.value,
                "message": finding.message,
                "source": rule(finding.rule).source,
                "event": finding.event,
            }
            for finding in stream.findings
        ],
    }


def _rounded(milliseconds: float | None) -> float | None:
    return None if milliseconds is None else round(milliseconds, 3)
