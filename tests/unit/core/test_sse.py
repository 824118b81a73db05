"""Framing follows the standard, keeps raw bytes, and stays within its limits."""

import base64
import json
from pathlib import Path
from typing import Any

import pytest

from tidegate.core.sse import MAX_LINES, Form, Frame, Framer, Overflow, reframed

CASES = json.loads((Path(__file__).parents[2] / "fixtures/sse-cases.json").read_text())


def fed(limit: int, chunks: list[bytes]) -> None:
    framer = Framer(limit)
    for chunk in chunks:
        framer.feed(chunk)


def frames_of(wire: bytes, size: int, *, at_end: bool) -> list[Frame]:
    framer = Framer(1 << 20)
    frames = [f for i in range(0, len(wire), size) for f in framer.feed(wire[i : i + size])]
    last = framer.end() if at_end else None
    return frames if last is None else [*frames, last]


@pytest.mark.parametrize("size", [1, 2, 3, 7, 1000])
@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_the_standard_s_cases_at_any_chunking(case: dict[str, Any], size: int) -> None:
    wire = base64.b64decode(case["base64"]) if "base64" in case else case["text"].encode()
    expected = case.get("events_dispatch_at_eof", case["events"])
    seen = frames_of(wire, size, at_end=True)
    assert [((f.event or b"message").decode(), f.data.decode()) for f in seen] == [
        (name, data) for name, data, _ in expected
    ]


def test_a_closing_cr_ends_the_event_at_once_and_its_lf_is_swallowed() -> None:
    framer = Framer(1000)
    assert framer.feed(b"data: a\r") == []
    [first] = framer.feed(b"\n\r")
    assert first.raw == b"data: a\r\n\r"
    [second] = framer.feed(b"\ndata: b\r\n\r\n")
    assert second.raw == b"data: b\r\n\r\n"


def test_regular_events_keep_their_bytes() -> None:
    wire = b"event: x\nid: 7\ndata:  {}\n\ndata:a\n\nfoo: 1\ndata: b\r\n\r\n"
    frames = frames_of(wire, 5, at_end=False)
    assert b"".join(f.raw for f in frames) == wire
    assert {f.form for f in frames} == {Form.PLAIN}


@pytest.mark.parametrize(
    ("raw", "clean"),
    [
        (b": c\ndata: a\n\n", b"data: a\n\n"),
        (b"retry: 3\nid: 4\ndata: a\n\n", b"id: 4\ndata: a\n\n"),
        (b"data: a\xff\n\n", "data: a\ufffd\n\n".encode()),
        (b"data: a\r\n: x\r\ndata: b\r\n\r\n", b"data: a\ndata: b\n\n"),
    ],
)
def test_irregular_events_are_written_anew(raw: bytes, clean: bytes) -> None:
    [frame] = frames_of(raw, 1, at_end=False)
    assert frame.form is Form.IRREGULAR
    assert reframed(frame, None) == clean


def test_an_event_without_its_blank_line_is_given_one() -> None:
    [frame] = frames_of(b"event: e\ndata: {}\n", 3, at_end=True)
    assert frame.form is Form.IRREGULAR
    assert reframed(frame, frame.event) == b"event: e\ndata: {}\n\n"


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
@pytest.mark.parametrize("size", [100, 5000])
def test_an_endless_line_overflows_without_growing(end: bytes, size: int) -> None:
    with pytest.raises(Overflow):
        fed(1000, [b"data: x" + end + b"data: " + b"y" * size] * 100)


def test_an_event_at_the_limit_passes_and_one_byte_more_does_not() -> None:
    for wire in (b"data: " + b"x" * 92 + b"\n\n", b"data: " + b"x" * 90 + b"\r\n\r\n"):
        assert len(Framer(100).feed(wire)) == 1
        with pytest.raises(Overflow):
            Framer(99).feed(wire)


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
@pytest.mark.parametrize("closing", [True, False])
def test_an_event_of_too_many_lines_overflows(end: bytes, closing: bool) -> None:
    event = (b"data:" + end) * (MAX_LINES + 1) + (end if closing else b"")
    with pytest.raises(Overflow):
        Framer(1 << 20).feed(event)
    with pytest.raises(Overflow):
        fed(1 << 20, [event[start : start + 999] for start in range(0, len(event), 999)])


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
def test_an_event_of_as_many_lines_as_may_be_passes(end: bytes) -> None:
    event = (b"data:" + end) * MAX_LINES + end
    for size in (999, len(event)):
        [frame] = frames_of(event, size, at_end=False)
        assert frame.data == b"\n" * (MAX_LINES - 1)


def test_what_came_before_an_overflow_is_not_lost() -> None:
    for bad in (
        b"data: " + b"x" * 200 + b"\n\n",
        b"data: " + b"x" * 200,
        b"data:\n" * (MAX_LINES + 1) + b"\n",
    ):
        for end in (b"\n", b"\r\n"):
            framer = Framer(100 if len(bad) < 1000 else 1 << 20)
            with pytest.raises(Overflow) as overflow:
                framer.feed((b"data: a\n\n" + bad).replace(b"\n", end))
            assert [frame.data for frame in overflow.value.frames] == [b"a"]
