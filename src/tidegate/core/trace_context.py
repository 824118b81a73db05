"""Reads and writes trace context as www.w3.org/TR/trace-context has it, and derives the ids of spans."""

import hashlib
import re
from collections.abc import Mapping

from msgspec import Struct

TRACE_HEADERS = ("traceparent", "tracestate")

_PARENT = re.compile(r"([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?", re.ASCII)
_FIRST_VERSION = "00"
_NO_VERSION = "ff"
_SAMPLED = 0x01
_RANDOM = 0x02
"""Level 2: the trace id's last 7 bytes are random."""

_MOST_STATE = 2_048
_MOST_MEMBERS = 32
_MEMBER = re.compile(
    r"(?:[a-z][a-z0-9_*/-]{0,255}|[a-z0-9][a-z0-9_*/-]{0,240}@[a-z][a-z0-9_*/-]{0,13})"
    r"=[\x20-\x2b\x2d-\x3c\x3e-\x7e]{0,255}[\x21-\x2b\x2d-\x3c\x3e-\x7e]",
    re.ASCII,
)


class Trace(Struct, frozen=True, kw_only=True):
    """Where a request stands in a trace. Ids are lower-case hex, 32 digits of a trace and 16 of a span."""

    request_id: str
    trace_id: str
    parent_id: str | None = None
    """The caller's span; None where the trace begins here."""
    flags: int = 0
    state: str = ""
    """The caller's `tracestate`."""

    @property
    def sampled(self) -> bool:
        """Whether its spans are recorded."""
        return bool(self.flags & _SAMPLED)

    @property
    def span_id(self) -> str:
        """The span of the request itself."""
        return _digest(f"{self.request_id} request", 8)

    def attempt_id(self, number: int) -> str:
        """The span of one attempt; the first is 0."""
        return _digest(f"{self.request_id} attempt {number}", 8)

    def headers(self, number: int) -> tuple[tuple[str, str], ...]:
        """What tells an upstream that one attempt is its parent."""
        parent = f"{_FIRST_VERSION}-{self.trace_id}-{self.attempt_id(number)}-{self.flags:02x}"
        return (("traceparent", parent), ("tracestate", self.state))[: 2 if self.state else 1]


def begin(request_id: str, headers: Mapping[str, str], share: float) -> Trace:
    """The trace of a request with these headers (names in lower case, lines of one name joined by a comma).

    Where the caller tells none, or none that is valid, a trace begins; `share` (0 to 1) of those are
    recorded. Of the others the caller has decided. Ids follow from the request's, so nothing has to be kept.
    """
    told = headers.get("traceparent")
    if told is not None:
        trace = _continued(request_id, told, headers.get("tracestate", ""))
        if trace is not None:
            return trace
    trace_id = _digest(f"{request_id} trace", 16)
    return Trace(request_id=request_id, trace_id=trace_id, flags=_SAMPLED if _chosen(trace_id, share) else 0)


def _continued(request_id: str, parent: str, state: str) -> Trace | None:
    found = _PARENT.fullmatch(parent.strip(" \t"))
    if found is None:
        return None
    version, trace_id, parent_id, flags, more = found.groups()
    if version == _NO_VERSION or (version == _FIRST_VERSION and more is not None):
        return None
    if not trace_id.strip("0") or not parent_id.strip("0"):
        return None
    return Trace(
        request_id=request_id,
        trace_id=trace_id,
        parent_id=parent_id,
        flags=int(flags, 16) & (_SAMPLED | _RANDOM),
        state=_valid_state(state),
    )


def _valid_state(text: str) -> str:
    """The list without empty members; nothing where one is malformed or there are too many."""
    if len(text) > _MOST_STATE:
        return ""
    members = [member for part in text.split(",") if (member := part.strip(" \t"))]
    if len(members) > _MOST_MEMBERS or not all(map(_MEMBER.fullmatch, members)):
        return ""
    return ",".join(members)


def _chosen(trace_id: str, share: float) -> bool:
    """By the trace id alone, so that it is decided alike wherever a trace begins with this id."""
    return int(trace_id[-14:], 16) >= round((1 - share) * (1 << 56))


def _digest(text: str, size: int) -> str:
    """Never all zeros, which no id may be: the hash of these texts would have to be found first."""
    return hashlib.blake2b(text.encode(), digest_size=size).hexdigest()
