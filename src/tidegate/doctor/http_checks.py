"""Checks how an answer came over HTTP: its end, its head, and the time it took."""

from collections.abc import Iterator, Sequence
from itertools import pairwise

from tidegate.doctor.findings import Finding
from tidegate.doctor.framing import Event
from tidegate.doctor.recording import Close, Head, Recording

SLOW = 10.0
"""Seconds to the first byte of a stream that are too many."""
_SILENCE = 15.0
"""Seconds without a byte after which proxies begin to close connections."""
_ENOUGH = 20
"""Events that it takes to tell whether they were flushed."""
_WAITED = 1.0
"""Seconds that a stream must take."""
_PAUSE = 0.1
"""Seconds between two lumps of events."""
_LUMP = 16
"""Events of a lump, on the average."""
_BURST = 0.03
"""The part of the whole time in which all events of a stream that is held back arrive."""


TOO_LARGE = Finding("too-large", "more came than the doctor reads (4 MiB, 20,000 events)")


def check_close(recording: Recording) -> Iterator[Finding]:
    """Whether the answer came to its end."""
    match recording.close:
        case Close.UNREACHED:
            yield Finding("unreachable", f"no connection: {recording.trouble}")
        case Close.BROKEN:
            what = "nothing came" if recording.head is None else "the answer broke off"
            yield Finding("connection", f"{what}: {recording.trouble}")
        case Close.TOO_LATE:
            yield Finding("stalled", f"the answer did not end within {recording.ended_at:.0f} s")
        case Close.TOO_LARGE:
            yield TOO_LARGE
        case Close.WHOLE:
            pass


def content_type(head: Head) -> str:
    """The media type without parameters, in lower case; empty where there is none."""
    return (head.header("content-type") or "").partition(";")[0].strip().lower()


def check_stream_head(head: Head, *, long: bool) -> Iterator[Finding]:
    """What the head of a stream should say; of `long` ones also what keeps them flowing."""
    told = content_type(head)
    if told != "text/event-stream":
        yield Finding("content-type", f"the content type is {told or 'not told'}, not text/event-stream")
    cache = (head.header("cache-control") or "").lower()
    if not any(word in cache for word in ("no-cache", "no-store", "no-transform")):
        yield Finding("cache-control", "no cache-control keeps proxies from storing or changing the stream")
    if long and (head.header("x-accel-buffering") or "").lower() != "no":
        yield Finding(
            "accel-buffering", "without x-accel-buffering: no, an nginx in front buffers the stream"
        )
    encoding = (head.header("content-encoding") or "identity").lower()
    if encoding != "identity":
        yield Finding("content-encoding", f"the stream is compressed ({encoding}), which nobody asked for")
    if head.header("content-length") is not None:
        yield Finding(
            "content-length", "a content-length: the answer was whole before its first byte was sent"
        )


def _check_flow(arrivals: Sequence[float]) -> Iterator[Finding]:
    """Whether events came one by one, in a few lumps, or all at once."""
    whole, span = arrivals[-1], arrivals[-1] - arrivals[0]
    if span <= whole * _BURST:
        message = f"all {len(arrivals)} events came within {span * 1000:.0f} ms after {arrivals[0]:.1f} s"
        yield Finding("unflushed", f"{message}: something on the way holds the stream back")
        return
    lumps = 1 + sum(later - earlier > _PAUSE for earlier, later in pairwise(arrivals))
    if 1 < lumps <= len(arrivals) / _LUMP:
        message = f"{len(arrivals)} events came in {lumps} lumps"
        yield Finding("lumps", f"{message}: something on the way collects them before it passes them on")


def check_time(recording: Recording, events: Sequence[Event], *, long: bool) -> Iterator[Finding]:
    """Whether events came as they were made; `long` streams have enough of them to tell."""
    arrivals = [event.at for event in events]
    first = recording.pieces[0].at if recording.pieces else None
    if first is not None and first > SLOW:
        yield Finding("slow-first-byte", f"the first byte came after {first:.1f} s")
    if long and len(arrivals) >= _ENOUGH and arrivals[-1] >= _WAITED:
        yield from _check_flow(arrivals)
    times = [0.0 if recording.head is None else recording.head.at, *(piece.at for piece in recording.pieces)]
    longest = max((later - earlier for earlier, later in pairwise(times)), default=0.0)
    if longest > _SILENCE:
        yield Finding("silence", f"not a byte for {longest:.0f} s: a proxy may take the connection for dead")
