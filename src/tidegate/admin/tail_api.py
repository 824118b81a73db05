"""The live tail: finished requests as server-sent events, as they come."""

import asyncio
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from http import HTTPStatus
from time import monotonic

import msgspec
from aiohttp import web

from tidegate.admin.parameters import FILTERS, read_filters, read_known, wrong
from tidegate.admin.problems import Problem
from tidegate.admin.resources import request_json
from tidegate.admin.tail_filter import Allowance, Sieve
from tidegate.core.guard_headers import GUARDS
from tidegate.storage.following import Place
from tidegate.storage.live_tail import Away, Back, LiveTail, News, Seen

HEARTBEAT = 15.0
"""Seconds after which a comment is sent when nothing else was."""

MOST_TAILS = 100
"""In one process."""

PATIENCE = 60.0
"""Seconds for which a client may take nothing at all."""

BURST, A_SECOND = 200, 20
"""Rows that a client is sent in a moment, and each second for long.

Nobody reads more, and to write a row costs an eighth of what it costs to serve a request.
"""

_MOST_MISSING = 100
_CURSOR = re.compile(r"[0-9]{1,18}(?:\.[0-9]{1,18}){0,100}")
_AT_ONCE = 64
_TROUBLE = (
    b'event: trouble\ndata: {"detail":"the journal cannot be read now; the tail goes on when it can"}\n\n'
)


class TailApi:
    """The route of the tail."""

    def __init__(self, live: LiveTail | None) -> None:
        self._live = live

    async def show(self, request: web.Request) -> web.StreamResponse:
        if self._live is None:
            raise Problem(HTTPStatus.SERVICE_UNAVAILABLE, "this gateway has no live tail")
        tail = _Tail(Sieve(read_filters(read_known(request.query.items(), FILTERS))))
        since = read_cursor(request.headers.get("last-event-id"))
        if self._live.watchers >= MOST_TAILS:
            raise Problem(
                HTTPStatus.SERVICE_UNAVAILABLE, f"there are {MOST_TAILS} tails open; close one of them"
            )
        response = web.StreamResponse(
            headers={
                **GUARDS,
                "content-type": "text/event-stream",
                "cache-control": "no-store",
                "server": "tidegate",
                "x-accel-buffering": "no",
            }
        )
        watch = self._live.watch(since)
        try:
            await response.prepare(request)
            await _send(response, b"retry: 2000\n\n")
            place = await watch.begin()
            if place is not None:
                await _send(response, _event(b"ready", place, b"{}"))
            while True:
                missed, news = await watch.take(HEARTBEAT)
                for frames in tail.frames(missed, news, monotonic()):
                    await _send(response, frames)
        except (ConnectionResetError, TimeoutError):
            return response
        finally:
            watch.close()


class _Tail:
    """What one client gets to see."""

    def __init__(self, sieve: Sieve) -> None:
        self._sieve = sieve
        self._allowance = Allowance(BURST, A_SECOND)

    def frames(self, missed: int, news: Sequence[News], now: float) -> Iterator[bytes]:
        """Some events at once; a comment where nothing came. What comes too fast is counted and left out."""
        if not missed and not news:
            yield b": nothing new\n\n"
        rows = [one for one in news if isinstance(one, Seen) and self._sieve.passes(one.row)]
        left_out = len(rows) - self._allowance.take(len(rows), now)
        if missed + left_out:
            yield b'event: skipped\ndata: {"rows":%d}\n\n' % (missed + left_out)
        shown = set(map(id, rows[left_out:]))
        told = [one for one in news if not isinstance(one, Seen) or id(one) in shown]
        for start in range(0, len(told), _AT_ONCE):
            yield b"".join(map(_frame, told[start : start + _AT_ONCE]))


def _frame(one: News) -> bytes:
    match one:
        case Seen():
            return _event(b"request", one.place, _shown(one))
        case Away():
            return _TROUBLE
        case Back():
            return b"event: ready\ndata: {}\n\n"


async def _send(response: web.StreamResponse, text: bytes) -> None:
    async with asyncio.timeout(PATIENCE):
        await response.write(text)


def _shown(one: Seen) -> bytes:
    if one.shown is None:
        one.shown = msgspec.json.encode(request_json(one.record))
    return one.shown


def _event(name: bytes, place: Place, text: bytes) -> bytes:
    return b"event: %b\nid: %b\ndata: %b\n\n" % (name, write_cursor(place).encode(), text)


def write_cursor(place: Place) -> str:
    """A place as the client keeps it."""
    return ".".join(map(str, (place.number, *sorted(place.missing)[-_MOST_MISSING:])))


def read_cursor(text: str | None) -> Place | None:
    """The place of a cursor; None where there is none. What no cursor is raises a Problem."""
    if not text:
        return None
    with suppress(ValueError):
        if _CURSOR.fullmatch(text):
            number, *missing = map(int, text.split("."))
            return Place(number, dict.fromkeys(missing, 0.0))
    raise wrong("last-event-id", "is no `id` of an event of this tail")
