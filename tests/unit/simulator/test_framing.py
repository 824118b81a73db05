import pytest

from tidegate.simulator.framing import Framing
from tidegate.simulator.parameters import Parameters, parse

DATA = b'{"type":"x","a":"b"}'


def framing(model: str) -> Framing:
    wish = parse(f"sim;{model}")
    assert isinstance(wish, Parameters)
    return Framing(wish)


@pytest.mark.parametrize(
    ("wish", "expected"),
    [
        ("", b'event: x\ndata: {"type":"x","a":"b"}\n\n'),
        ("crlf", b'event: x\r\ndata: {"type":"x","a":"b"}\r\n\r\n'),
        ("cr", b'event: x\rdata: {"type":"x","a":"b"}\r\r'),
        ("no_space", b'event:x\ndata:{"type":"x","a":"b"}\n\n'),
        ("ids", b'id: 0\nevent: x\ndata: {"type":"x","a":"b"}\n\n'),
        ("no_event_names", b'data: {"type":"x","a":"b"}\n\n'),
        ("multiline", b'event: x\ndata: {"type":"x",\ndata: "a":"b"}\n\n'),
        ("comments", b': between events\n\n: inside the event\nevent: x\ndata: {"type":"x","a":"b"}\n\n'),
    ],
)
def test_each_liberty_with_an_event(wish: str, expected: bytes) -> None:
    assert framing(wish).event("x", DATA) == expected


def test_ids_count() -> None:
    written = framing("ids")
    assert [written.event(None, b"1")[:5] for _ in range(3)] == [b"id: 0", b"id: 1", b"id: 2"]


def test_an_event_without_a_name_gets_one_only_on_request() -> None:
    assert framing("").event(None, b"1") == b"data: 1\n\n"
    assert framing("event_names").event(None, b"1") == b"event: message\ndata: 1\n\n"


def test_what_stands_before_the_first_event() -> None:
    assert framing("").opening() == b""
    assert framing("bom;retry;no_data").opening() == b"\xef\xbb\xbfretry: 3000\n\nevent: keepalive\n\n"


def test_a_byte_that_is_no_utf8() -> None:
    assert framing("bad_utf8").event(None, "\ue000a".encode()) == b"data: \xffa\n\n"
    with pytest.raises(UnicodeDecodeError):
        framing("bad_utf8").event(None, "\ue000a".encode()).decode()


def test_an_event_may_lack_its_blank_line() -> None:
    assert framing("").event(None, b"1", closed=False) == b"data: 1\n"
