from tidegate.doctor.report import Finding, Report, StreamReport, report_json


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


def test_an_error_in_one_stream_is_one_of_the_whole() -> None:
    bad = Finding(rule="end-mark", message="the stream ends without [DONE]")
    assert report(stream()).ok
    assert not report(stream(), stream(bad)).ok


def test_the_json_tells_everything() -> None:
    bad = Finding(rule="end-mark", message="the stream ends without [DONE]", event="data: x")
    assert report_json(report(stream(bad))) == {
        "target": "a",
        "protocol": "chat",
        "model": "m",
        "ok": False,
        "started_at": "2023-11-14T22:13:20.500Z",
        "duration_ms": 3.0,
        "streams": [
            {
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
                        "source": "the protocol's reference: streaming",
                        "event": "data: x",
                    }
                ],
            }
        ],
    }
