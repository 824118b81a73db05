"""Shares what is found out about channels between the processes of a machine and between nodes."""

import asyncio
import logging
import secrets
from collections.abc import Callable
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct

from tidegate.routing.breaker import Change, Health, Rested, Woke
from tidegate.storage.cooldown_board import CooldownBoard
from tidegate.storage.redis_scripts import COOLDOWNS, NEWS, PUBLISH

if TYPE_CHECKING:
    from tidegate.storage.redis_link import Answer, RedisLink  # loads a library that few need

log = logging.getLogger(__name__)

EVERY = 0.25
"""Seconds between two looks."""
LONGEST_REST = 3600.0
"""Seconds; a longer rest holds for so long with those who only hear of it."""
_LONGEST_WHY = 200


class _Notice(Struct, frozen=True, array_like=True):
    """One change on its way, told `at` a time by a clock that only processes of one machine share.

    It had been known for `age` seconds then, and the rest would go on for `left` seconds; None: it is a wake.
    """

    sender: str
    at: float
    age: float
    channel: str
    upstream_model: str
    left: float | None
    why: str


_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(_Notice).decode


class CooldownSharing:
    """Looks four times a second for what is new here and elsewhere. A failure of it never hurts routing."""

    def __init__(
        self,
        health: Health,
        clock: Callable[[], float],
        *,
        board: CooldownBoard | None = None,
        link: "RedisLink | None" = None,
    ) -> None:
        """`clock` is that of `health`, and the same for all processes of the machine."""
        self._health = health
        self._serves: Callable[[str, str], bool] = lambda _channel, _model: True
        self._clock = clock
        self._board = board
        self._link = link
        self._name = secrets.token_hex(8)
        self._read = 0
        self._last = b"0"
        self._asking = False
        self._task: asyncio.Task[None] | None = None

    def open(self, serves: Callable[[str, str], bool]) -> None:
        """Begin, if there is anybody to share with.

        `serves` says which channel with which upstream model is known here.
        """
        self._serves = serves
        if self._board is not None or self._link is not None:
            self._task = asyncio.create_task(self._run())

    async def close(self) -> None:
        """Tell what is left to be told, and stop."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
            self.tell()

    async def _run(self) -> None:
        while True:
            try:
                self.look()
            except Exception:
                log.exception("cooldowns could not be shared")
            await asyncio.sleep(EVERY)

    def look(self) -> None:
        """Tell what is new here and take over what is new elsewhere; Redis' news come a moment later."""
        self.tell()
        if self._board is not None:
            notices, self._read = self._board.since(self._read)
            for notice in notices:
                self._take(notice, None)
        if self._link is not None and self._link.up and not self._asking:
            self._asking = True
            self._link.run(NEWS, (COOLDOWNS,), (self._last,), self._heard)

    def tell(self) -> None:
        """Tell what is new here."""
        now = self._clock()
        for change in self._health.changes():
            notice = _encode(self._notice(change, now))
            if self._board is not None:
                self._board.post(notice)
            if self._link is not None and self._link.up:
                lasts = b"%d" % int(LONGEST_REST * 1000)
                self._link.run(PUBLISH, (COOLDOWNS,), (self._name.encode(), notice, lasts), None)

    def _notice(self, change: Change, now: float) -> _Notice:
        match change:
            case Rested(channel, model, at, until, why):
                return _Notice(self._name, now, now - at, channel, model, until - now, why[:_LONGEST_WHY])
            case Woke(channel, model, at):
                return _Notice(self._name, now, now - at, channel, model, None, "")

    def _heard(self, answer: "Answer") -> None:
        self._asking = False
        if answer is None:
            return
        redis_now, entries = answer
        for entry, fields in entries:
            self._last = entry
            passed = (redis_now - int(entry.partition(b"-")[0])) / 1000
            self._take(
                dict(zip(fields[::2], fields[1::2], strict=False)).get(b"change", b""), max(0.0, passed)
            )

    def _take(self, encoded: bytes, passed: float | None) -> None:
        """Take over a notice that is `passed` seconds old; None: it carries this machine's clock."""
        try:
            notice = _decode(encoded)
        except msgspec.MsgspecError:
            log.warning("a notice about a channel could not be read")
            return
        if notice.sender == self._name or not self._serves(notice.channel, notice.upstream_model):
            return
        now, pair = self._clock(), (notice.channel, notice.upstream_model)
        told = now - (max(0.0, now - notice.at) if passed is None else passed)
        at = told - max(0.0, notice.age)
        if notice.left is None:
            self._health.wake_remotely(Woke(*pair, at))
        else:
            until = told + min(notice.left, LONGEST_REST)
            self._health.rest_remotely(Rested(*pair, at, until, notice.why), now)
