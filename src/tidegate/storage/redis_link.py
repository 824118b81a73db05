"""One connection to Redis that carries commands as they come and is tried again for as long as it is away."""

import asyncio
import contextlib
import logging
import random
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from msgspec import Struct
from redis.asyncio.connection import Connection, ConnectionPool, parse_url
from redis.exceptions import MovedError, NoScriptError, RedisError, ResponseError

from tidegate.core.secret import Secret
from tidegate.storage.redis_scripts import Script

log = logging.getLogger(__name__)

PATIENCE = 0.25
"""Seconds that anything waits for an answer; Redis counts as away after it."""
_CONNECT_PATIENCE = 2.0
_SHORTEST_PAUSE = 0.25
_LONGEST_PAUSE = 5.0
_LATE, _MOST_LATE = 0.02, 4
"""Seconds from which this process itself is late; then it waits longer, up to so many times PATIENCE."""
_STEADY = 10.0
"""Seconds after which a connection counts as having lasted."""
_ONE_NAME = "WRONGTYPE"
"""How an error begins that is about one name, which another program uses, and not about Redis as a whole."""
_OURS = {
    "protocol": 2,
    "decode_responses": False,
    "socket_timeout": None,
    "socket_connect_timeout": _CONNECT_PATIENCE,
    "health_check_interval": 0,
    "retry_on_timeout": False,
}
_PROBE = ("SET", "tidegate:{limits}:probe", "1", "PX", "1000")

Answer: TypeAlias = Any
Done: TypeAlias = Callable[[Answer], None]
"""Called with what Redis said, or with None where it said nothing of use."""


class LinkState(Struct, frozen=True):
    """Whether Redis is in use; `why` says what is wrong where it is not."""

    up: bool
    why: str | None


class _Asked(Struct, eq=False):
    command: Sequence[bytes]
    script: Script | None
    at: float
    done: Done | None


class RedisLink:
    """Everything that is asked in one turn of the event loop leaves in one write.

    What is asked while Redis is away is answered None at once, and so is everything that waits when it fails.
    """

    def __init__(self, url: Secret) -> None:
        self.up = False
        self._pool = connections(url)
        self._moved: tuple[str, int] | None = None
        self._why: str | None = "it has not been reached yet"
        self._on_up: list[Callable[[], None]] = []
        self._asked: deque[_Asked] = deque()
        self._outgoing: list[bytes] = []
        self._sending: asyncio.Task[None] | None = None
        self._watch: asyncio.TimerHandle | None = None
        self._connection: Connection | None = None
        self._broken: asyncio.Future[str] | None = None
        self._complained = False
        self._first_try = asyncio.Event()
        self._keeper: asyncio.Task[None] | None = None

    @property
    def connected(self) -> bool:
        """Whether what is asked now goes out."""
        return self._connection is not None

    @property
    def state(self) -> LinkState:
        """Whether Redis is in use."""
        return LinkState(self.up, self._why)

    def when_up(self, call: Callable[[], None]) -> None:
        """Call this each time that Redis can be used again, before anything else is asked."""
        self._on_up.append(call)

    async def open(self, patience: float = 1.0) -> None:
        """Begin, and wait a moment for the first try; it goes on in the background."""
        self._keeper = asyncio.create_task(self._keep())
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._first_try.wait(), patience)

    async def close(self) -> None:
        """Let what was asked be answered, then hang up."""
        loop = asyncio.get_running_loop()
        ends_at = loop.time() + PATIENCE
        while self._asked and loop.time() < ends_at:  # noqa: ASYNC110 -- once, at the very end
            await asyncio.sleep(0.005)
        if self._keeper is not None:
            self._keeper.cancel()
            await asyncio.gather(self._keeper, return_exceptions=True)
        self._let_go("the gateway is closing")

    def run(self, script: Script, keys: Sequence[bytes], more: Sequence[bytes], done: Done | None) -> None:
        """Run a script; `done` is called once, perhaps before this returns."""
        command = (b"EVALSHA", script.digest, b"%d" % len(keys), *keys, *more)
        self._ask(_Asked(command, script, asyncio.get_running_loop().time(), done))

    def _ask(self, asked: _Asked) -> None:
        if self._connection is None:
            _finish(asked, None)
            return
        self._outgoing.append(packed(asked.command))
        self._asked.append(asked)
        if self._sending is None:
            self._sending = asyncio.create_task(self._send())
        if self._watch is None:
            self._look_in(PATIENCE)

    async def _send(self) -> None:
        try:
            while self._outgoing and self._connection is not None:
                if not self._connection.is_connected:  # it would connect again by itself
                    self._break("the connection was closed")
                    return
                outgoing, self._outgoing = self._outgoing, []
                await self._connection.send_packed_command(b"".join(outgoing), check_health=False)
        except (RedisError, OSError) as error:
            self._break(_words(error))
        finally:
            self._sending = None

    def _look_in(self, seconds: float) -> None:
        loop = asyncio.get_running_loop()
        self._watch = loop.call_later(seconds, self._look_for_silence, loop.time() + seconds)

    def _look_for_silence(self, due: float) -> None:
        self._watch = None
        if not self._asked:
            return
        now, asked_at = asyncio.get_running_loop().time(), self._asked[0].at
        left = asked_at + PATIENCE - now
        if now - due > _LATE and now - asked_at < PATIENCE * _MOST_LATE:
            left = max(left, _LATE)  # the answer may be here, and was not read because nothing was
        if left <= 0.001:
            self._break(f"it did not answer within {PATIENCE * 1000:.0f} ms")
        else:
            self._look_in(left)

    def _break(self, why: str) -> None:
        """Give up on the connection now; the keeper makes another."""
        if self._broken is not None and not self._broken.done():
            self._broken.set_result(why)
            self._fall(why)

    async def _keep(self) -> None:
        loop = asyncio.get_running_loop()
        pause = _SHORTEST_PAUSE
        while True:
            began, moved = loop.time(), None
            try:
                why = await self._converse()
            except MovedError as error:
                why = _words(error)
                moved = None if self._moved else (error.host, error.port)
            except (RedisError, OSError, TimeoutError) as error:
                why = _words(error)
            except Exception as error:  # no fault of ours may leave it away for ever
                log.exception("what Redis answered could not be used")
                why = _words(error)
            self._moved = moved
            if moved is not None:
                continue  # a cluster has named the node that keeps our names
            self._fall(why)
            self._first_try.set()
            if loop.time() - began > _STEADY:
                pause = _SHORTEST_PAUSE
            await asyncio.sleep(pause * random.uniform(0.8, 1.2))
            pause = min(pause * 2, _LONGEST_PAUSE)

    async def _converse(self) -> str:
        """One connection from its beginning to its end; gives why it ended."""
        connection: Connection = self._pool.make_connection()  # type: ignore[no-untyped-call]
        if self._moved is not None:
            connection.host, connection.port = self._moved
        reader: asyncio.Task[str] | None = None
        try:
            connecting = connection.connect()  # type: ignore[no-untyped-call]
            await asyncio.wait_for(connecting, _CONNECT_PATIENCE)
            await asyncio.wait_for(_prove(connection), PATIENCE * 2)
            self._broken = asyncio.get_running_loop().create_future()
            self._rise(connection)
            reader = asyncio.create_task(self._read(connection))
            await asyncio.wait({reader, self._broken}, return_when=asyncio.FIRST_COMPLETED)
            return self._broken.result() if self._broken.done() else reader.result()
        finally:
            self._connection = None
            if reader is not None:
                reader.cancel()
                await asyncio.gather(reader, return_exceptions=True)
            await connection.disconnect(nowait=True)

    async def _read(self, connection: Connection) -> str:
        while True:
            try:
                answer = await connection.read_response()
            except ResponseError as error:
                answer = error
            except (RedisError, OSError) as error:
                return _words(error)
            if not self._asked:
                return "it answered what nobody asked"
            asked = self._asked.popleft()
            if not isinstance(answer, ResponseError):
                _finish(asked, answer)
            elif isinstance(answer, NoScriptError) and asked.script is not None:
                self._ask_with_text(asked, asked.script)
            elif str(answer).startswith(_ONE_NAME):
                self._complain(_words(answer))
                _finish(asked, None)
            else:  # full, read-only, loading: of no use until that is over
                self._break(_words(answer))
                _finish(asked, None)
                return _words(answer)

    def _complain(self, why: str) -> None:
        """Once for each connection: it would come with each request."""
        if not self._complained:
            self._complained = True
            log.warning("Redis cannot count for some, they are counted on this machine alone: %s", why)

    def _ask_with_text(self, asked: _Asked, script: Script) -> None:
        """Redis has forgotten the script: sending its text runs it, and makes it known again."""
        command = (b"EVAL", script.text, *asked.command[2:])
        self._ask(_Asked(command, None, asked.at, asked.done))

    def _rise(self, connection: Connection) -> None:
        self._connection, self._complained = connection, False
        log.info("Redis is in use: limits and cooldowns are shared")
        self._why = None
        for call in self._on_up:
            call()
        self.up = True
        self._first_try.set()

    def _fall(self, why: str) -> None:
        if self.up or self._why is None or not self._first_try.is_set():
            log.warning("Redis is away, limits are counted on this machine alone: %s", why)
        self._let_go(why)

    def _let_go(self, why: str) -> None:
        self.up, self._why, self._connection = False, why, None
        self._outgoing.clear()
        waiting, self._asked = self._asked, deque()
        for asked in waiting:
            _finish(asked, None)


def packed(command: Sequence[bytes]) -> bytes:
    """A command as Redis reads it. The library packs any kind of value, which takes ten times as long."""
    parts = b"".join([b"$%d\r\n%b\r\n" % (len(part), part) for part in command])
    return b"*%d\r\n%b" % (len(command), parts)


def connections(url: Secret) -> ConnectionPool:
    """What opens connections to a URL; how they are read and timed is ours, the rest its options may say.

    Raises ValueError, without the URL, if it cannot be understood.
    """
    try:
        options: dict[str, Any] = {**parse_url(url.reveal()), **_OURS}
        pool = ConnectionPool(**options)
        pool.make_connection()  # type: ignore[no-untyped-call]  # an option that it does not know is told here
    except (ValueError, TypeError, RedisError):  # whose words may hold the password
        raise ValueError("the address of Redis cannot be understood") from None
    return pool


async def _prove(connection: Connection) -> None:
    """A write, because one that is full or a replica answers everything else."""
    await connection.send_command(*_PROBE)
    await connection.read_response()


def _finish(asked: _Asked, answer: Answer) -> None:
    if asked.done is not None:
        asked.done(answer)


def _words(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
