from typing import Any

from tidegate.doctor.findings import Finding
from tidegate.doctor.report import Report, StreamReport, report_json


def stream(*findings: Finding) -> StreamReport:
    return StreamReport(
        name="plain stream",
        status=200,
        first_byte_ms=1.23456,
        first_event_ms=None,
        total_ms=2.0,
        events=0,
        findings=findings,
    )


def report(*streams: StreamReport) -> Report:
    return Report(
        target="a", protocol="chat", model="m", started_at=1_700_000_000.5, duration_ms=3.0, streams=streams
    )


def test_only_an_error_makes_an_answer_bad() -> None:
    assert report(stream(Finding("silence", "a"), Finding("line-ends", "b"))).ok
    assert not report(stream(), stream(Finding("end-mark", "c"))).ok


def test_the_json_tells_everything() -> None:
    bad = Finding("end-mark", "the stream ends without [DONE]", "data: x")
    told: dict[str, Any] = report_json(report(stream(bad)))
    [shown] = told.pop("streams")
    assert told == {
        "target": "a",
        "protocol": "chat",
        "model": "m",
        "ok": False,
        "started_at": "2023-11-14T22:13:20.500Z",
        "duration_ms": 3.0,
        "skipped": [],
    }
    assert shown == {
        "name": "plain stream",
        "ok": False,
        "status": 200,
        "first_byte_ms": 1.235,
        "first_event_ms": None,
        "total_ms": 2.0,
        "events": 0,
        "findings": [
            {
                "rule": "end-mark",
                "severity": "error",
                "message": "the stream ends without [DONE]",
                "source": "the protocol's streaming reference",
                "event": "data: x",
            }
        ],
    }
