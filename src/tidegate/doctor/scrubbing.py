"""Takes secrets out of what was found."""

from collections.abc import Iterable

from msgspec import structs

from tidegate.core.secret import Secret
from tidegate.doctor.findings import Finding
from tidegate.doctor.report import StreamReport

_STAND_IN = "(secret)"
_TELLING = 4
"""Characters of a secret that may stand at the end of a text that was cut."""


def scrubbed(report: StreamReport, secrets: Iterable[Secret]) -> StreamReport:
    """The report without the secrets, which an endpoint may have repeated."""
    hidden = sorted({secret.reveal() for secret in secrets if secret}, key=len, reverse=True)
    return structs.replace(report, findings=tuple(_scrubbed(finding, hidden) for finding in report.findings))


def _scrubbed(finding: Finding, hidden: list[str]) -> Finding:
    event = None if finding.event is None else _without(finding.event, hidden)
    return structs.replace(finding, message=_without(finding.message, hidden), event=event)


def _without(text: str, hidden: list[str]) -> str:
    for secret in hidden:
        text = text.replace(secret, _STAND_IN)
        kept = text.removesuffix("…")
        cut = next((size for size in range(len(secret), _TELLING, -1) if kept.endswith(secret[:size])), 0)
        if cut:
            text = f"{kept[:-cut]}{_STAND_IN}…"
    return text
