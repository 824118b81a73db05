"""Clients that ask for answers of the simulated provider, and note what they saw and when."""

import asyncio
import random
import time
from collections.abc import Sequence
from dataclasses import dataclass

from tests.harness import sse
from tests.harness.client import Connection, Ended, Reply
from tests.harness.dialects import SIDES, Side
from tests.harness.gateway import Gateway

FRESH = 40
"""Input tokens that the simulator tells for every request."""
PRICE = {"input": "1.00", "output": "2.00"}
"""Of every model: 1,000 and 2,000 nano-USD a token."""


def cost(output: int, fresh: int = FRESH) -> int:
    """What a request costs, in nano-USD."""
    return fresh * 1_000 + output * 2_000


@dataclass(frozen=True)
class Caller:
    """A key and the account behind it."""

    account: str
    key: str
    prepaid: bool


@dataclass(frozen=True)
class Ask:
    """One request. `words` is what the simulator says, at `rate` words a second."""

    caller: Caller
    side: Side
    channel: str
    """chat, resp or msgs: what the channel speaks."""
    stream: bool
    words: int
    rate: int
    cut_after: int | None = None
    """The upstream breaks off after so many words."""
    leaves_after: float | None = None
    """The client is gone after so many seconds."""
    thinks: float = 0.0
    """Seconds before the first word."""

    @property
    def model(self) -> str:
        cut = "" if self.cut_after is None else f";cut_after={self.cut_after};cut=reset"
        pace = f"words={self.words};rate={self.rate};ttft={self.thinks:.2f}"
        return f"sim{self.channel};{pace};input={FRESH}{cut}"

    def body(self) -> dict[str, object]:
        limit = self.words + 50
        name = {"chat": "max_completion_tokens", "responses": "max_output_tokens"}.get(self.side.name)
        return self.side.request(self.model, stream=self.stream, **{name or "max_tokens": limit})


@dataclass
class Seen:
    """What a client saw of one request. Times are monotonic seconds."""

    ask: Ask
    sent_at: float
    reply: Reply | None = None
    left_at: float | None = None
    ended_at: float = 0.0
    trouble: str = ""
    """Why there was no answer at all."""

    @property
    def status(self) -> int | None:
        return None if self.reply is None else self.reply.status

    @property
    def id(self) -> str:
        assert self.reply is not None
        found = self.reply.header("x-request-id")
        assert found, "an answer without x-request-id"
        return found

    @property
    def head_took(self) -> float:
        assert self.reply is not None
        return self.reply.head_at

    @property
    def whole(self) -> bool:
        """Whether the client has all of a good answer."""
        if self.reply is None or self.reply.status != 200 or self.reply.ended is not Ended.WHOLE:
            return False
        return not self.ask.stream or any(map(self.ask.side.is_end, self.events()))

    def events(self, until: float | None = None) -> list[sse.Event]:
        """The events that had arrived at a moment, or all."""
        if self.reply is None:
            return []
        started = self.reply.connection.sent_at
        parts = (part for at, part in self.reply.arrivals if until is None or started + at <= until)
        body = b"".join(parts)
        return sse.read(body[: body.rfind(b"\n\n") + 2 if b"\n\n" in body else 0]).events

    def text(self, until: float | None = None) -> str:
        """The words that had arrived at a moment, or all."""
        if not self.ask.stream:
            told = self.whole and (until is None or self.sent_at + self.head_took <= until)
            return self.ask.side.whole_text(self.reply.json()) if told and self.reply else ""
        return self.ask.side.text(sse.Stream(self.events(until), []))

    def check(self) -> None:
        """Nothing comes after an error or an end mark; a stream that ended in order has one of them."""
        if self.reply is None or self.reply.status != 200 or not self.ask.stream:
            return
        side, events = self.ask.side, self.events()
        last = [number for number, one in enumerate(events, 1) if side.is_end(one) or side.error_of(one)]
        assert last in ([], [len(events)]), f"{last} of {len(events)}: {events[-3:]}"
        if self.reply.ended is Ended.WHOLE:
            assert last, f"{self.id} ended in order without an end mark: {self.reply.body[-300:]!r}"


async def send(gateway: Gateway, ask: Ask, within: float = 60.0) -> Seen:
    """One request to its end, whatever that is."""
    seen = Seen(ask, time.monotonic())
    try:
        connection = await Connection.open(gateway.port)
    except OSError as error:
        seen.trouble = f"{type(error).__name__}"
        return seen
    try:
        await connection.send(gateway.request(ask.side, ask.body(), key=ask.caller.key))
        leaving = None if ask.leaves_after is None else seen.sent_at + ask.leaves_after
        await _read(connection, seen, leaving, within)
    except (OSError, asyncio.IncompleteReadError) as error:
        seen.trouble = type(error).__name__
    finally:
        if seen.left_at is not None:
            connection.vanish()
        connection.close()
        seen.ended_at = time.monotonic()
    return seen


async def _read(connection: Connection, seen: Seen, leaving: float | None, within: float) -> None:
    patience = within if leaving is None else leaving - time.monotonic()
    try:
        seen.reply = await connection.reply(patience)
        await seen.reply.finish(within if leaving is None else max(0.0, leaving - time.monotonic()))
    except TimeoutError:
        assert leaving is not None, f"no answer within {within} s: {seen}"
        seen.left_at = time.monotonic()


class Crowd:
    """Some clients, each with one request after another, until told to stop."""

    def __init__(self, gateway: Gateway, callers: Sequence[Caller], rng: random.Random, *, size: int) -> None:
        self.gateway = gateway
        """May be replaced by another on the same port."""
        self.seen: list[Seen] = []
        self._callers = callers
        self._rng = rng
        self._stopping = asyncio.Event()
        self._clients = [asyncio.create_task(self._client()) for _ in range(size)]

    async def stop(self) -> list[Seen]:
        """No new requests; return when all have ended."""
        self._stopping.set()
        await asyncio.gather(*self._clients)
        return self.seen

    async def _client(self) -> None:
        while not self._stopping.is_set():
            seen = await send(self.gateway, self._any())
            self.seen.append(seen)
            if seen.status != 200:
                await asyncio.sleep(0.1)

    def _any(self) -> Ask:
        rng = self._rng
        stream = rng.random() < 0.75
        words = rng.randint(3, 60)
        return Ask(
            caller=rng.choice(self._callers),
            side=rng.choice(SIDES),
            channel=rng.choice(("chat", "resp", "msgs")),
            stream=stream,
            words=words,
            rate=rng.choice((20, 40, 80)),
            cut_after=rng.randint(1, words) if stream and rng.random() < 0.1 else None,
            leaves_after=rng.uniform(0.05, 1.5) if rng.random() < 0.15 else None,
            thinks=rng.uniform(0.0, 3.0) if rng.random() < 0.15 else 0.0,
        )
