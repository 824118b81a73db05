import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.doctor.recordings import heard

from tidegate.doctor.framing import framed, shortened

LINES = st.lists(
    st.sampled_from(["data: a", "data:b", ": c", "", "event: x", "id: 1", "odd", "data: 北京", "\n"]),
    max_size=12,
)


def test_a_block_with_a_field_is_an_event() -> None:
    stream = framed(heard(b": hello\n\nevent: a\ndata: 1\ndata: 2\n\n\ndata:3"))
    assert [(event.name, event.data, event.closed) for event in stream.events] == [
        ("a", "1\n2", True),
        (None, "3", False),
    ]
    assert stream.line_ends == {b"\n"}
    assert not stream.has_mark


def test_the_three_line_ends_are_told_apart() -> None:
    assert framed(heard(b"data: 1\r\ndata: 2\rdata: 3\n\n")).line_ends == {b"\r\n", b"\r", b"\n"}


def test_a_mark_is_no_part_of_the_first_event() -> None:
    stream = framed(heard(b"\xef\xbb\xbfdata: 1\n\n"))
    assert stream.has_mark
    assert stream.events[0].data == "1"


def test_bytes_that_are_no_text_are_shown() -> None:
    assert framed(heard(b"data: \xff\n\n")).bad_bytes == b"data: \xff\n\n"
    assert framed(heard("data: é\n\n".encode())).bad_bytes is None


def test_an_event_comes_with_the_piece_that_closes_it() -> None:
    stream = framed(heard(b"data: 1\n\ndata: 2\n\n", size=8))
    assert [round(event.at, 2) for event in stream.events] == [0.11, 0.12]


def test_what_is_shown_is_bounded() -> None:
    assert len(shortened("北".encode() * 5_000)) == 500
    assert shortened(b"\xff") == "\ufffd"


@pytest.mark.parametrize("size", [1, 2, 3, 7])
@given(lines=LINES, end=st.sampled_from(["\n", "\r\n", "\r"]))
def test_the_events_are_the_same_for_every_chunking(lines: list[str], end: str, size: int) -> None:
    body = end.join([*lines, ""]).encode()
    whole, cut = framed(heard(body)), framed(heard(body, size=size))
    assert [(event.lines, event.closed) for event in cut.events] == [
        (event.lines, event.closed) for event in whole.events
    ]
    assert cut.line_ends == whole.line_ends
