"""Sends a request through a pair and reads the answer in every form that it can have."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from tests.harness import settings, sse
from tests.harness.dialects import Side
from tests.harness.gateway import Headers
from tests.harness.heard import Heard, gathered, heard
from tests.harness.notation import Json
from tests.harness.pairs import Pair
from tests.harness.script import Answer, body, stream
from tests.harness.stage import Played, Stage
from tests.property.stream_grammars import check

from tidegate.core.protocol import Protocol


def whole_of(channel: Side, steps: Iterable[bytes]) -> Answer:
    """The whole answer that says what the events say."""
    answer = gathered(channel, sse.read(b"".join(steps)))
    return body(json.dumps(answer).encode())


MODES = ("stream", "gathered", "whole")
"""A stream as a stream; a stream for a caller who wants none; a whole answer for a caller who wants none."""


@dataclass
class Crossed:
    """What a caller got, and what the upstream had been asked."""

    played: Played
    asked: Json

    @property
    def warnings(self) -> list[str]:
        """The entries of the warnings header."""
        header = self.played.reply.header("x-tidegate-warnings")
        return header.split(", ") if header else []

    @cached_property
    def heard(self) -> Heard:
        """The answer; a stream that was converted keeps to the grammar of the caller's protocol."""
        side = self.played.side
        if (self.played.reply.header("content-type") or "").startswith("text/event-stream"):
            stream = self.played.stream
            if self.played.channel is not side:
                check(Protocol(side.name), stream.bytes())
            return heard(side, gathered(side, stream))
        assert self.played.reply.status == 200, self.played.reply.body[:2000]
        return heard(side, self.played.reply.json())


async def cross(
    stage: Stage,
    pair: Pair,
    steps: Sequence[bytes] | None = None,
    *,
    mode: str = "stream",
    kind: str | None = None,
    body: Json | None = None,
    members: Json | None = None,
    key: str = settings.KEY,
    extra: Headers = (),
) -> Crossed:
    """One request whose upstream says `steps`, or hello. `body` is the caller's, without model and stream."""
    model = stage.model(pair.channel, kind or "a")
    told = pair.channel.script(model).all if steps is None else list(steps)
    answer = whole_of(pair.channel, told) if mode == "whole" else stream(told)
    stage.script(pair.channel, model, [answer])
    request = pair.client.request(model, stream=mode == "stream", **(members or {}))
    if body is not None:
        kept = ("model", "stream", "stream_options")
        request = {name: request[name] for name in kept if name in request} | body
    reply = await stage.gateway.call(pair.client, request, key=key, extra=extra)
    played = Played(stage, pair.client, model, reply, pair.channel)
    seen = played.at_a
    return Crossed(played, seen[0].json() if seen else {})
