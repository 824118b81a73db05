"""One scene of a test: scripts for channels A and B, the caller's request, and what everyone saw."""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from tests.harness import settings, sse
from tests.harness.client import BOUND, Ended, Reply
from tests.harness.dialects import Side
from tests.harness.gateway import Gateway, Headers
from tests.harness.notation import Json
from tests.harness.script import Answer
from tests.harness.upstream import ScriptedUpstream, Seen

_numbers = itertools.count(1)


@dataclass
class Played:
    """A request that was answered to its end."""

    stage: "Stage"
    side: Side
    model: str
    reply: Reply
    channel: Side | None = None
    """What the channels speak, where it is not the caller's protocol."""

    @cached_property
    def stream(self) -> sse.Stream:
        """The answer as events; it must be a stream that ended in order."""
        assert self.reply.status == 200, self.reply.body[:2000]
        assert (self.reply.header("content-type") or "").startswith("text/event-stream")
        assert self.reply.ended is Ended.WHOLE
        return sse.read(self.reply.body)

    @property
    def text(self) -> str:
        return self.side.text(self.stream)

    @property
    def at_a(self) -> list[Seen]:
        return self._at("A")

    @property
    def at_b(self) -> list[Seen]:
        return self._at("B")

    def _at(self, letter: str) -> list[Seen]:
        return self.stage.upstream.requests(f"{(self.channel or self.side).tag}-{letter}", self.model)

    async def row(self) -> Any:
        return await self.stage.gateway.row(self.model)


@dataclass
class Stage:
    """A gateway with the standard channels, and the scripted upstream behind them."""

    gateway: Gateway
    upstream: ScriptedUpstream

    def model(self, side: Side, kind: str = "a") -> str:
        """A model name that nothing else uses, `kind` being one of those in `settings.standard`."""
        return f"{side.tag}-{kind}-{next(_numbers)}"

    def script(
        self,
        side: Side,
        model: str,
        a: Sequence[Answer],
        b: Sequence[Answer] = (),
        c: Sequence[Answer] = (),
    ) -> None:
        for letter, answers in (("A", a), ("B", b), ("C", c)):
            self.upstream.script(f"{side.tag}-{letter}", model, *answers)

    async def play(
        self,
        side: Side,
        *a: Answer,
        channel: Side | None = None,
        b: Sequence[Answer] | None = None,
        kind: str | None = None,
        model: str | None = None,
        stream: bool = True,
        key: str = settings.KEY,
        extra: Headers = (),
        within: float = BOUND,
        members: Json | None = None,
    ) -> Played:
        """Script the channels, send one request, read the answer to its end.

        With `b`, even empty, the model has two channels. They speak the caller's protocol unless `channel`
        tells another.
        """
        spoken = channel or side
        model = model or self.model(spoken, kind or ("a" if b is None else "ab"))
        self.script(spoken, model, a, b or ())
        body = side.request(model, stream=stream, **(members or {}))
        reply = await self.gateway.call(side, body, key=key, extra=extra, within=within)
        return Played(self, side, model, reply, channel)
