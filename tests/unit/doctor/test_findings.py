from tests.unit.doctor.recordings import heard

from tidegate.doctor.findings import Finding, at, bounded
from tidegate.doctor.framing import framed
from tidegate.doctor.rules import Severity


def test_an_event_is_counted_from_one_and_shown() -> None:
    [event] = framed(heard(b"data: 1\n\n")).events
    assert at(event, "not-json", "no") == Finding("not-json", "event 1: no", "data: 1")


def test_a_finding_has_the_severity_of_its_rule() -> None:
    assert Finding("end-mark", "no").severity is Severity.ERROR
    assert Finding("silence", "no").severity is Severity.NOTE


def test_of_many_alike_the_first_few_are_told() -> None:
    many = [Finding("not-json", str(number)) for number in range(10)]
    other = Finding("end-mark", "no")
    assert [finding.message for finding in bounded([other, *many])] == [
        "no",
        "0",
        "1",
        "2 (and 7 more like it)",
    ]
    assert [finding.message for finding in bounded(many[:3])] == ["0", "1", "2"]
