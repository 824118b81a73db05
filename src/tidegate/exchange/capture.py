"""Which requests' content is kept, and the pipe that notes what the client is sent."""

import hashlib
from typing import Protocol

from msgspec import Struct

from tidegate.exchange.ports import Call, ClientPipe, Headers
from tidegate.exchange.story import Incoming

OVERHANG = 4_096
"""Bytes that are noted beyond what will be kept, so that what a cut goes through is still recognised."""

_SCALE = 2.0**64


class Part(Struct, frozen=True):
    """One direction: how it begins, and how many bytes it had in all."""

    start: bytes
    length: int


class Content(Struct, frozen=True, kw_only=True):
    """What a request and its answer said, as far as it was noted; `captured_at` in Unix seconds."""

    id: str
    captured_at: float
    request: Part
    answer: Part


class Contents(Protocol):
    """Keeps contents, in bounded memory and never in anyone's way."""

    @property
    def limit(self) -> int:
        """Bytes that are kept of each direction."""

    def has_room(self, size: int) -> bool:
        """Take that much memory, if there is so much; it is given back some time after `take`."""

    def take(self, content: Content, room: int) -> None:
        """Keep it, at some time; `room` is what was taken for it. Returns at once."""

    def refuse(self) -> None:
        """Count a content for which there was no room."""


def is_chosen(request_id: str, share: float) -> bool:
    """Whether a request is among the `share` (0 to 1) of all: for one id the same wherever it is asked."""
    if share >= 1:
        return True
    drawn = hashlib.blake2b(request_id.encode(), digest_size=8, person=b"capture").digest()
    return int.from_bytes(drawn) < share * _SCALE


class Recording:
    """Implements `ClientPipe` over another one, and notes what goes through."""

    __slots__ = ("_contents", "_incoming", "_length", "_limit", "_pipe", "_request", "_room", "_start")

    def __init__(
        self, contents: Contents, incoming: Incoming, body: bytes, pipe: ClientPipe, limit: int, room: int
    ) -> None:
        """`limit` is how many bytes of the answer are noted at most; `room` is what was taken so far."""
        self._contents = contents
        self._incoming = incoming
        self._pipe = pipe
        self._request = Part(body[:limit], len(body))
        self._limit = limit
        self._room = room
        self._start = bytearray()
        self._length = 0

    @property
    def paused(self) -> bool:
        """See `ClientPipe`."""
        return self._pipe.paused

    @property
    def given_up(self) -> bool:
        """See `ClientPipe`."""
        return self._pipe.given_up

    def warn(self, warnings: str | None) -> None:
        """See `ClientPipe`."""
        self._pipe.warn(warnings)

    def add_headers(self, headers: Headers) -> None:
        """See `ClientPipe`."""
        self._pipe.add_headers(headers)

    def attach(self, call: Call | None) -> None:
        """See `ClientPipe`."""
        self._pipe.attach(call)

    def write(self, data: bytes) -> None:
        """See `ClientPipe`."""
        self._note(data)
        self._pipe.write(data)

    def finish(self, data: bytes) -> None:
        """See `ClientPipe`."""
        self._note(data)
        self._pipe.finish(data)

    def answer(self, status: int, headers: Headers, body: bytes) -> None:
        """See `ClientPipe`."""
        self._note(body)
        self._pipe.answer(status, headers, body)

    def close(self, now: float) -> None:
        """The request is over, `now` in Unix seconds: what was noted is kept."""
        answer = Part(bytes(self._start), self._length)
        content = Content(id=self._incoming.id, captured_at=now, request=self._request, answer=answer)
        self._contents.take(content, self._room)

    def _note(self, data: bytes) -> None:
        self._length += len(data)
        if self._limit <= 0:
            return
        part = data[: self._limit]
        self._limit -= len(part)
        if self._contents.has_room(len(part)):
            self._room += len(part)
            self._start += part
        else:
            self._limit = 0  # what would come after a gap says nothing


def record(
    contents: Contents, incoming: Incoming, share: float, body: bytes, pipe: ClientPipe
) -> Recording | None:
    """A pipe that notes a request with this body and its answer; None if it is not chosen, or has no room."""
    if not is_chosen(incoming.id, share):
        return None
    limit = contents.limit + OVERHANG
    room = min(len(body), limit)
    if contents.has_room(room):
        return Recording(contents, incoming, body, pipe, limit, room)
    contents.refuse()
    return None
