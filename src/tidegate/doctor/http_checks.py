"""Checks how an answer came over HTTP: its end, its head, and the time it took."""

from collections.abc import Iterator
from itertools import pairwise

from tidegate.doctor.findings import Finding
from tidegate.doctor.recording import Close, Head, Recording

SLOW = 10.0
"""Seconds to the first byte of a stream that are too many."""
_SILENCE = 15.0
"""Seconds without a byte after which proxies begin to close connections."""

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


def check_time(recording: Recording) -> Iterator[Finding]:
    """Whether the answer let one wait too long."""
    first = recording.pieces[0].at if recording.pieces else None
    if first is not None and first > SLOW:
        yield Finding("slow-first-byte", f"the first byte came after {first:.1f} s")
    times = [0.0 if recording.head is None else recording.head.at, *(piece.at for piece in recording.pieces)]
    longest = max((later - earlier for earlier, later in pairwise(times)), default=0.0)
    if longest > _SILENCE:
        yield Finding("silence", f"not a byte for {longest:.0f} s: a proxy may take the connection for dead")
