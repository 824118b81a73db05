import pytest

from tidegate.doctor.http_checks import check_close, check_stream_head, check_time, content_type
from tidegate.doctor.recording import Close, Head, Piece, Recording

GOOD = {
    "content-type": "text/event-stream; charset=utf-8",
    "cache-control": "no-cache",
    "x-accel-buffering": "no",
}


def head_rules(**headers: str | None) -> list[str]:
    told = GOOD | {name.replace("_", "-"): value for name, value in headers.items()}
    head = Head(0.1, 200, tuple((name, value) for name, value in told.items() if value is not None))
    return [finding.rule for finding in check_stream_head(head, long=True)]


def test_a_good_head_has_no_finding() -> None:
    assert head_rules() == []


@pytest.mark.parametrize(
    ("headers", "rule"),
    [
        ({"content_type": None}, "content-type"),
        ({"content_type": "application/json"}, "content-type"),
        ({"cache_control": None}, "cache-control"),
        ({"cache_control": "max-age=60"}, "cache-control"),
        ({"x_accel_buffering": "yes"}, "accel-buffering"),
        ({"content_encoding": "gzip"}, "content-encoding"),
        ({"content_length": "500"}, "content-length"),
    ],
)
def test_what_a_head_lacks_is_named(headers: dict[str, str | None], rule: str) -> None:
    assert head_rules(**headers) == [rule]


def test_the_media_type_is_read_without_its_parameters() -> None:
    assert content_type(Head(0.0, 200, (("content-type", "Text/HTML; charset=x"),))) == "text/html"
    assert content_type(Head(0.0, 200, ())) == ""


@pytest.mark.parametrize(
    ("close", "rules"),
    [
        (Close.WHOLE, []),
        (Close.UNREACHED, ["unreachable"]),
        (Close.BROKEN, ["connection"]),
        (Close.TOO_LATE, ["stalled"]),
        (Close.TOO_LARGE, ["too-large"]),
    ],
)
def test_how_an_answer_ended_is_told(close: Close, rules: list[str]) -> None:
    recording = Recording(head=None, close=close, trouble="reset", ended_at=1.0)
    assert [finding.rule for finding in check_close(recording)] == rules


def time_rules(times: list[float]) -> list[str]:
    pieces = tuple(Piece(at, b"data: 1\n\n") for at in times)
    recording = Recording(head=Head(0.0, 200, ()), pieces=pieces, ended_at=times[-1])
    return [finding.rule for finding in check_time(recording)]


def test_waiting_is_told() -> None:
    assert time_rules([0.5 + number * 0.02 for number in range(100)]) == []
    assert time_rules([12.0, 13.0]) == ["slow-first-byte"]
    assert time_rules([1.0, 17.0]) == ["silence"]
