import pytest
from tests.unit.doctor.recordings import heard

from tidegate.core.protocol import Protocol
from tidegate.doctor.probes import plain_stream
from tidegate.doctor.recording import Close, Recording
from tidegate.doctor.verdicts import examined

CHAT = b'data: {"choices":[]}\n\n'
DONE = b"data: [DONE]\n\n"


def rules(recording: Recording, protocol: Protocol = Protocol.CHAT) -> list[str]:
    report = examined(protocol, plain_stream(protocol, "m"), recording)
    return [finding.rule for finding in report.findings]


def test_a_whole_stream_is_good() -> None:
    assert rules(heard(CHAT + DONE)) == []


@pytest.mark.parametrize(
    ("recording", "rule"),
    [
        (heard(CHAT), "end-mark"),
        (heard(CHAT + b"data: {\n\n" + DONE), "not-json"),
        (heard(b"{}", status=401), "status"),
        (heard(CHAT + DONE, headers=()), "content-type"),
        (heard(CHAT + DONE, close=Close.BROKEN), "connection"),
        (heard(CHAT + DONE, close=Close.TOO_LATE), "stalled"),
        (Recording(head=None, close=Close.BROKEN, trouble="refused"), "connection"),
    ],
)
def test_what_is_wrong_is_named(recording: Recording, rule: str) -> None:
    assert rules(recording) == [rule]
