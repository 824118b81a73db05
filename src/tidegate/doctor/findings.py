"""A departure from a rule."""

from collections.abc import Iterable, Iterator

from msgspec import Struct, structs

from tidegate.doctor.framing import Event
from tidegate.doctor.rules import Severity, rule

_OF_ONE_RULE = 3


class Finding(Struct, frozen=True):
    """A departure in words; `event` is the text that shows it."""

    rule: str
    message: str
    event: str | None = None

    @property
    def severity(self) -> Severity:
        """How bad it is."""
        return rule(self.rule).severity


def at(event: Event, identifier: str, message: str) -> Finding:
    """What an event of a stream shows."""
    return Finding(identifier, f"event {event.number + 1}: {message}", event.shown)


def bounded(findings: Iterable[Finding]) -> Iterator[Finding]:
    """The first few of each rule; the last of those tells how many more there are."""
    kept: list[Finding] = []
    counts: dict[str, int] = {}
    for finding in findings:
        counts[finding.rule] = counts.get(finding.rule, 0) + 1
        if counts[finding.rule] <= _OF_ONE_RULE:
            kept.append(finding)
    told: dict[str, int] = {}
    for finding in kept:
        told[finding.rule] = told.get(finding.rule, 0) + 1
        more = counts[finding.rule] - _OF_ONE_RULE
        if more > 0 and told[finding.rule] == _OF_ONE_RULE:
            yield structs.replace(finding, message=f"{finding.message} (and {more} more like it)")
        else:
            yield finding
