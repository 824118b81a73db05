"""Writes what a conversion lost for the answer's header `x-tidegate-warnings` and for the log row."""

import re
from collections.abc import Iterable

from tidegate.core.conversation import Loss
from tidegate.core.failure import Failure
from tidegate.protocols.losses import strict_failure

MAX_ENTRIES = 32
"""Most losses that the header names (CONTRACT.md, "Headers")."""

MAX_BYTES = 2048
"""Longest value of the header."""

_BETWEEN = ", "
_MORE_ROOM = len(_BETWEEN + "more:") + 10
"""What the last entry may need, for any number that fits a request."""

_OTHER = re.compile(rb"[^A-Za-z0-9_.\[\]-]")


def header(losses: Iterable[Loss]) -> str | None:
    """The value of `x-tidegate-warnings`, without the silent ones; None where there is nothing to tell."""
    told = _strings(loss for loss in losses if not loss.silent)
    if not told:
        return None
    whole = _BETWEEN.join(told) if len(told) <= MAX_ENTRIES else ""
    return whole if whole and len(whole) <= MAX_BYTES else _shortened(told)


def row(losses: Iterable[Loss]) -> tuple[str, ...]:
    """The same strings for the log row: all of them, the silent ones too."""
    return tuple(_strings(losses))


def strict(losses: Iterable[Loss]) -> Failure | None:
    """Why a caller with `conversion = "strict"` is refused: the first loss that is not silent."""
    return strict_failure(losses)


def _shortened(told: list[str]) -> str:
    room = MAX_BYTES - _MORE_ROOM
    kept: list[str] = []
    for entry in told[:MAX_ENTRIES]:
        room -= len(entry) + len(_BETWEEN)
        if room < 0:
            break
        kept.append(entry)
    return _BETWEEN.join([*kept, f"more:{len(told) - len(kept)}"])


def _strings(losses: Iterable[Loss]) -> list[str]:
    return list(dict.fromkeys(f"{loss.code.value}:{_percent_encoded(loss.path)}" for loss in losses))


def _percent_encoded(path: str) -> str:
    encoded = path.encode("utf-8", "surrogatepass")
    return _OTHER.sub(lambda found: b"%%%02X" % found.group()[0], encoded).decode("ascii")
