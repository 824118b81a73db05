import pytest
from tests.unit.doctor.recordings import heard

from tidegate.core.protocol import Protocol
from tidegate.doctor.framing import framed
from tidegate.doctor.framing_checks import check_framing


def rules(body: bytes, protocol: Protocol = Protocol.CHAT) -> list[str]:
    return [finding.rule for finding in check_framing(framed(heard(body)), protocol)]


@pytest.mark.parametrize(
    "body", [b"data: {}\n\n", b": alive\n\ndata: {}\n\n", b": alive\ndata: {}\n\n", b"data: [DONE]\n\n"]
)
def test_good_bytes_have_no_finding(body: bytes) -> None:
    assert rules(body) == []


@pytest.mark.parametrize(
    ("body", "rule"),
    [
        (b"\xef\xbb\xbfdata: {}\n\n", "byte-order-mark"),
        (b"data: \xc3\n\n", "utf-8"),
        (b"data: {}\r\n\r\n", "line-ends"),
        (b"data: {}\r\r", "line-ends"),
        (b"data:{}\n\n", "space-after-colon"),
        (b'data: {}\n{"a": 1}\n\n', "unknown-line"),
        (b"data: {}\n", "last-blank-line"),
        (b"data: {}", "last-blank-line"),
        (b"event: ping\n\n", "event-without-data"),
        (b"data:\n\n", "event-without-data"),
        (b"data: {\n: alive\ndata: }\n\n", "comment-inside"),
        (b"retry: 3000\n\n", "retry-line"),
        (b"id: 1\ndata: {}\n\n", "id-line"),
        (b"data: {\ndata: }\n\n", "data-lines"),
    ],
)
def test_what_is_odd_is_named(body: bytes, rule: str) -> None:
    assert rule in rules(body)


def test_names_stand_where_the_protocol_has_them() -> None:
    named, bare = b"event: message_stop\ndata: {}\n\n", b"data: {}\n\n"
    assert rules(named) == ["event-name-unexpected"]
    assert rules(b"event: error\ndata: {}\n\n") == []
    for protocol in (Protocol.MESSAGES, Protocol.RESPONSES):
        assert rules(named, protocol) == []
        assert rules(bare, protocol) == ["event-name-missing"]
