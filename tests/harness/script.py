"""What a scripted upstream answers: exact bytes in exact writes, pauses, and ways to end."""

import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import TypeAlias


class End(Enum):
    """How an answer ends."""

    EOF = "eof"
    """The body ends in order; the connection stays open for the next request."""
    CUT = "cut"
    """TCP reset."""
    TRUNCATE = "truncate"
    """The connection closes in order, but the body's own framing says that more was to come."""
    CLOSE = "close"
    """The body ends in order, then the connection closes."""
    HOLD = "hold"
    """Nothing more comes, and the connection stays open until the peer closes it."""


EOF, CUT, TRUNCATE, CLOSE, HOLD = End.EOF, End.CUT, End.TRUNCATE, End.CLOSE, End.HOLD


@dataclass(frozen=True)
class Pause:
    """Silence, in seconds."""

    seconds: float


class Gate:
    """Silence until the test opens it."""

    def __init__(self) -> None:
        self._event = threading.Event()

    def open(self) -> None:
        self._event.set()

    @property
    def is_open(self) -> bool:
        return self._event.is_set()


Step: TypeAlias = bytes | Pause | Gate | End


class Framing(Enum):
    """How the length of a body is told."""

    CHUNKED = "chunked"
    LENGTH = "length"
    """`content-length`, computed from the steps."""
    UNTIL_CLOSE = "close"
    RAW = "raw"
    """The steps are the whole answer, status line and headers included."""


EVENT_STREAM = (("content-type", "text/event-stream"),)
JSON = (("content-type", "application/json"),)


@dataclass(frozen=True)
class Answer:
    """One answer of an upstream. Each bytes step is one write to the socket, and one chunk if chunked.

    `gap` is the pause in seconds between two writes that makes the peer read them apart. `before` comes ahead
    of the status line.
    """

    steps: Sequence[Step] = ()
    status: int = 200
    headers: Sequence[tuple[str, str]] = EVENT_STREAM
    framing: Framing = Framing.CHUNKED
    gap: float = 0.0
    before: Sequence[Step] = field(default=())


def stream(*steps: Step | Iterable[Step], headers: Sequence[tuple[str, str]] = EVENT_STREAM) -> Answer:
    """A 200 event stream; lists among the steps are flattened."""
    flat: list[Step] = []
    for step in steps:
        if isinstance(step, bytes | Pause | Gate | End):
            flat.append(step)
        else:
            flat.extend(step)
    return Answer(flat, headers=headers)


def body(
    content: bytes, status: int = 200, headers: Sequence[tuple[str, str]] = JSON, *, end: End = EOF
) -> Answer:
    """A whole body with its length."""
    return Answer((content, end), status, headers, Framing.LENGTH)


def raw(*steps: Step) -> Answer:
    """An answer written by hand from the status line on."""
    return Answer(steps, framing=Framing.RAW)


def silence() -> Answer:
    """The request is taken and nothing ever comes."""
    return Answer((HOLD,), framing=Framing.RAW)


def pieces(data: bytes, size: int) -> list[bytes]:
    """`data` in writes of `size` bytes."""
    return [data[start : start + size] for start in range(0, len(data), size)]
