"""Checks whether the output of a stream came as it was made, or was held back on the way."""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import TypeAlias

from tidegate.doctor.findings import Finding
from tidegate.doctor.recording import Piece

Heard: TypeAlias = tuple[float, int]
"""When some output had come, in seconds after the request, and how many characters it was."""

_ENOUGH = 100
"""Characters that it takes to tell."""
_FASTEST = 20_000.0
"""Characters a second that no model makes: about five thousand tokens."""
_AT_ONCE = 0.02
"""Seconds within which what was sent at once is read, however little it is."""
_WAITED = 1.0
"""Seconds to the first output that a burst must be the end of."""
_LONGER = 0.5
"""Seconds by which the first output of a long answer comes later than all of a short one, where both wait
to be whole; less may come about by chance."""
_TIMES = 3.0
"""And how many times later it is."""
_PAUSE = 0.1
"""Seconds between two lumps of output."""
_PAUSES = 0.5
"""Seconds of pauses that it takes to tell of lumps."""
_LUMP = 16
"""Events of a lump, on the average."""
_BUSY = 0.1
"""The part of the time that lumps may take themselves."""
_TORN = 0.05
"""Seconds that the rest of an event lets one wait for, where it was cut by the size of a block."""
_OFTEN = 3


def check_flow(
    heard: Sequence[Heard], pieces: Sequence[Piece], short_took: float | None = None
) -> Iterator[Finding]:
    """What the times of a long answer show; `short_took` is how long all of a short one took.

    Only output counts: what a gateway can say before the model speaks may come early on a stream that is
    held back. And only a burst that no model can make: one that waits long and then speaks fast holds back
    nothing.
    """
    size = sum(characters for _, characters in heard)
    if size < _ENOUGH:
        return
    first, span = heard[0][0], heard[-1][0] - heard[0][0]
    if span <= max(size / _FASTEST, _AT_ONCE):
        if first >= _WAITED or _grew(first, short_took):
            message = f"all {size} characters of output came within {span * 1000:.0f} ms after {first:.1f} s"
            yield Finding("unflushed", f"{message}: something on the way holds the stream back")
        return
    yield from _check_lumps([at for at, _ in heard], pieces)


def _grew(first: float, short_took: float | None) -> bool:
    """Whether the wait for the first output grew with the answer, as it does where all of it is collected."""
    return short_took is not None and first - short_took >= _LONGER and first >= short_took * _TIMES


def _check_lumps(arrivals: list[float], pieces: Sequence[Piece]) -> Iterator[Finding]:
    pauses = [later - earlier for earlier, later in pairwise(arrivals) if later - earlier > _PAUSE]
    lumps, span = 1 + len(pauses), arrivals[-1] - arrivals[0]
    in_lumps = pauses and sum(pauses) >= max(_PAUSES, span * (1 - _BUSY))
    if in_lumps and lumps <= len(arrivals) / _LUMP:
        message = f"{len(arrivals)} pieces of output came in {lumps} lumps"
        yield Finding("lumps", f"{message}: something on the way collects them before it passes them on")
        return
    torn = sum(
        later.at - earlier.at > _TORN and not earlier.data.endswith((b"\n", b"\r"))
        for earlier, later in pairwise(pieces)
    )
    if torn >= _OFTEN:
        message = f"{torn} times the rest of an event came late"
        yield Finding("lumps", f"{message}: something on the way passes the stream on in blocks of a size")
