"""Plays all upstreams: each call acts out its play on the virtual clock, as a connection would push it."""

import asyncio
import re
from collections import Counter
from collections.abc import Callable

from tests.simulation.plays import End, Head, Play
from tests.simulation.trace import Trace

from tidegate.core.failure import Failure
from tidegate.exchange.ports import Sink, UpstreamRequest
from tidegate.routing.catalog import Channel

_ASKER = re.compile(rb"ask-(q\d+)z")

Write = Callable[[Channel, UpstreamRequest, str], Play]
"""Makes the play of a call; the text is the tag of request and attempt."""


class PlayedCall:
    """One call; pushes nothing after its end, nor while it is paused."""

    def __init__(self, asker: str, tag: str, channel: Channel, play: Play, sink: Sink, trace: Trace) -> None:
        self.asker = asker
        self.tag = tag
        self.channel = channel
        self.play = play
        self.sink: Sink | None = sink
        self.opened_at = trace.clock()
        self.ended_at: float | None = None
        self.ended_by = ""
        self.accepted = False
        self.pushed = 0
        """Bytes of the body that the exchange has got."""
        self._trace = trace
        self._loop = asyncio.get_running_loop()
        self._at = 0
        self._paused = False
        self._held = False
        self._timer: asyncio.Handle | None = None
        self._arm()

    def cancel(self) -> None:
        """See `Call`."""
        self._over("cancel")

    def finish(self) -> None:
        """See `Call`."""
        self._over("finish")

    def pause(self) -> None:
        """See `Call`."""
        self._paused = True

    def resume(self) -> None:
        """See `Call`."""
        self._paused = False
        if self._held:
            self._held = False
            self._timer = self._loop.call_soon(self._act)

    def _arm(self) -> None:
        if self._at < len(self.play.steps):
            delay = self.play.steps[self._at].delay
            self._timer = (
                self._loop.call_later(delay, self._act) if delay else self._loop.call_soon(self._act)
            )

    def _act(self) -> None:
        sink = self.sink
        if sink is None:
            return
        if self._paused:
            self._held = True
            return
        action = self.play.steps[self._at].action
        self._at += 1
        self._trace.note("%s up: %r", self.tag, action)
        match action:
            case Head(status, headers):
                self.accepted = status == 200
                sink.on_head(status, headers)
            case bytes():
                self.pushed += len(action)
                sink.on_body(action)
            case End():
                self._over("end")
                sink.on_end()
            case Failure():
                self._over("failure")
                sink.on_failure(action)
        if self.sink is not None:
            self._arm()

    def _over(self, how: str) -> None:
        if self.sink is None:
            return
        self.sink, self.ended_by, self.ended_at = None, how, self._trace.clock()
        if self._timer is not None:
            self._timer.cancel()
        if how in ("cancel", "finish"):
            self._trace.note("%s up: the exchange says %s", self.tag, how)


class PlayedUpstream:
    """Implements `Upstream`. `calls` are all that one process has opened."""

    def __init__(self, write: Write, trace: Trace, seen: Counter[str]) -> None:
        """`seen` counts the calls of each request, over all processes."""
        self.calls: list[PlayedCall] = []
        self.closed = False
        """The drain is over: nobody would end a call that begins now."""
        self._write = write
        self._trace = trace
        self._seen = seen

    def open(self, channel: Channel, request: UpstreamRequest, sink: Sink) -> PlayedCall:
        """See `Upstream`."""
        found = _ASKER.search(request.body)
        assert found, f"a call without its request's words: {request.body[:200]!r}"
        asker = found.group(1).decode()
        self._seen[asker] += 1
        tag = f"{asker}a{self._seen[asker]}"
        play = self._write(channel, request, tag)
        if self.closed:
            self._trace.breach(f"{tag} begins after the end of the drain")
        self._trace.note("%s up: called on %s (%s), %s", tag, channel.name, channel.protocol.value, play.kind)
        call = PlayedCall(asker, tag, channel, play, sink, self._trace)
        self.calls.append(call)
        return call
