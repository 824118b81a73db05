import pytest
from tests.unit.doctor.recordings import heard

from tidegate.doctor.expectation import Expectation
from tidegate.doctor.framing import framed
from tidegate.doctor.messages_checks import MessagesReader
from tidegate.doctor.told import read_events


def rules(body: bytes) -> list[str]:
    found = read_events(framed(heard(body)).events, MessagesReader(Expectation()))
    return [finding.rule for finding in found]


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        (b"data: {\n\n", "not-json"),
        (b"data: NaN\n\n", "not-json"),
        (b"data: " + b"[" * 100_000 + b"\n\n", "not-json"),
        (b"data: 5\n\n", "not-an-object"),
        (b'event: ping\ndata: {"type": "error", "error": {}}\n\n', "event-name-mismatch"),
        (b"data: [DONE]\n\n", "foreign-end-mark"),
    ],
)
def test_what_cannot_be_read_is_told(text: bytes, rule: str) -> None:
    assert rules(text)[0] == rule


def test_the_name_message_is_none_of_the_protocol() -> None:
    named = b'event: message\ndata: {"type": "error", "error": {"type": "a", "message": "b"}}\n\n'
    assert rules(named) == ["event-name-mismatch", "error-event"]


def test_events_without_data_say_nothing() -> None:
    assert "not-json" not in rules(b"event: ping\n\ndata:\n\n")
