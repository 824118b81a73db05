"""What the official SDKs accept breaks no rule."""

from pathlib import Path

import pytest
from tests.unit.doctor.recordings import heard

from tidegate.core.protocol import Protocol
from tidegate.doctor.expectation import Expectation
from tidegate.doctor.probes import Probe, Streamed
from tidegate.doctor.rules import Severity
from tidegate.doctor.verdicts import examined

FIXTURES = Path(__file__).parents[2] / "fixtures"
ENDED = ("09-", "10-", "23-", "25-")
"""Cases whose stream ends with an error."""
WRITTEN = sorted(
    path for folder in ("pairs", "transcripts") for path in (FIXTURES / folder).glob("*/*_to_*.sse")
)
GOOD = sorted((FIXTURES / "answers").glob("*/*.sse"))


def broken(path: Path, protocol: Protocol) -> set[str]:
    body = path.read_bytes()
    usage = protocol is not Protocol.CHAT or b'"usage":{' in body
    probe = Probe(name="x", path="/", body=b"", wanted=Streamed(Expectation(usage=usage)))
    findings = examined(protocol, probe, heard(body)).findings
    return {finding.rule for finding in findings if finding.severity is not Severity.NOTE}


def test_there_is_something_to_examine() -> None:
    assert len(WRITTEN) > 80
    assert len(GOOD) > 20


@pytest.mark.parametrize("path", WRITTEN, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_what_the_gateway_writes_breaks_no_rule(path: Path) -> None:
    protocol = Protocol(path.stem.rpartition("_to_")[2])
    assert broken(path, protocol) == ({"error-event"} if path.parent.name.startswith(ENDED) else set())


@pytest.mark.parametrize("path", GOOD, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_what_providers_write_breaks_no_rule(path: Path) -> None:
    assert broken(path, Protocol(path.stem)) == set()
