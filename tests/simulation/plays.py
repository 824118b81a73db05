"""What one upstream call will do, drawn before it begins: steps with the silence before each."""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random
from typing import TypeAlias

from tests.simulation import transcripts
from tests.simulation.speech import Speech

from tidegate.core.failure import Failure, Kind
from tidegate.core.protocol import Protocol

LATE = "late"
"""Marks words that come after an end mark: nobody may see them."""
_NO_CONNECTION = Failure(kind=Kind.UPSTREAM, message="no connection to the upstream")
_NO_ANSWER_IN_TIME = Failure(kind=Kind.TIMEOUT, message="connecting took too long")
_CUT = Failure(kind=Kind.UPSTREAM, message="the upstream cut the answer")
_STREAM = {"content-type": "text/event-stream"}
_JSON = {"content-type": "application/json"}
_STATUSES = (302, 400, 400, 401, 402, 403, 404, 408, 409, 413, 422, 425, 429, 429, 500, 502, 503, 529)
_GARBAGE = (b"<html>busy</html>", b"data: {]\n\n", b"\xff\xfe\x00", b"   ", b"[]", b'data: "text"\n\n')
_FAST, _SLOW = (0.0, 0.0, 0.001, 0.02, 0.3), (0.3, 1.5, 4.0, 9.0)
FOREVER = 10_000.0


@dataclass(frozen=True)
class Head:
    """Status line and headers."""

    status: int
    headers: dict[str, str]


@dataclass(frozen=True)
class End:
    """The body ends in order."""


Action: TypeAlias = Head | bytes | End | Failure


@dataclass(frozen=True)
class Step:
    """An action after `delay` seconds."""

    delay: float
    action: Action


@dataclass
class Play:
    """The steps of one call; after the last that is neither End nor Failure nothing comes for ever."""

    kind: str
    speech: Speech
    steps: list[Step] = field(default_factory=list)

    @property
    def duration(self) -> float:
        """Seconds from its first step to its last."""
        return sum(step.delay for step in self.steps)

    def add(self, delay: float, action: Action) -> None:
        self.steps.append(Step(delay, action))


@dataclass(frozen=True)
class Weather:
    """How likely each kind of play is in a run."""

    kinds: dict[str, float]
    haste: float = 0.8
    """The share of short pauses."""


CALM = Weather({"good": 10, "late": 1, "cut": 0.5, "refused": 0.5, "other form": 0.5}, 0.95)
MIXED = Weather(
    {
        "good": 9,
        "late": 1,
        "cut": 2,
        "early end": 1.5,
        "stalled": 1.5,
        "no connection": 1.5,
        "refused": 3,
        "error event": 1.5,
        "garbage": 1,
        "other form": 1.5,
    }
)
STORM = Weather({**MIXED.kinds, "good": 2}, 0.6)


class Playwright:
    """Draws plays."""

    def __init__(self, chance: Random, weather: Weather) -> None:
        self._chance = chance
        self._weather = weather
        self._writers: dict[str, Callable[[Play, Protocol, bool], None]] = {
            "good": self._good,
            "late": self._late,
            "cut": self._cut,
            "early end": self._early_end,
            "stalled": self._stalled,
            "no connection": self._no_connection,
            "refused": self._refused,
            "error event": self._error_event,
            "garbage": self._garbage,
            "other form": self._other_form,
        }

    def write(self, protocol: Protocol, speech: Speech, *, streams: bool) -> Play:
        """A play for a call on a channel of `protocol` that asks for a stream or not."""
        weather = self._weather
        kind = self._chance.choices(list(weather.kinds), list(weather.kinds.values()))[0]
        play = Play(kind, speech)
        self._writers[kind](play, protocol, streams)
        return play

    def write_count(self, speech: Speech) -> Play:
        """A play for a call that asks for the tokens of a prompt."""
        kind = self._chance.choice(("counted", "counted", "no route", "no connection", "stalled"))
        play = Play(kind, speech)
        match kind:
            case "counted":
                self._head(play, 200, _JSON)
                self._say(play, b'{"input_tokens":%d}' % self._chance.randint(1, 99))
                play.add(0, End())
            case "no route":
                self._head(play, 404, _JSON)
                play.add(self._pause(), End())
            case "no connection":
                play.add(self._pause(), _NO_CONNECTION)
            case _:
                play.add(FOREVER, _CUT)
        return play

    # Kinds

    def _good(self, play: Play, protocol: Protocol, streams: bool) -> None:
        self._answer(play, self._body(protocol, play.speech, streams), streams)

    def _late(self, play: Play, protocol: Protocol, streams: bool) -> None:
        """More comes after the end mark, or the body just does not end."""
        body = self._body(protocol, play.speech, streams)
        self._head(play, 200, _STREAM if streams else _JSON)
        if streams and self._chance.random() < 0.7:
            body += transcripts.error_event(protocol, LATE, body.count(b"event:"))
        self._say(play, body)
        play.add(self._pause(), End())

    def _cut(self, play: Play, protocol: Protocol, streams: bool) -> None:
        body = self._body(protocol, play.speech, streams)
        self._head(play, 200, _STREAM if streams else _JSON)
        self._say(play, body[: self._chance.randrange(len(body) + 1)])
        play.add(self._pause(), _CUT)

    def _early_end(self, play: Play, protocol: Protocol, streams: bool) -> None:
        body = self._body(protocol, play.speech, streams)
        self._answer(play, body[: self._chance.randrange(len(body))], streams)

    def _stalled(self, play: Play, protocol: Protocol, streams: bool) -> None:
        if self._chance.random() < 0.8:
            body = self._body(protocol, play.speech, streams)
            self._head(play, 200, _STREAM if streams else _JSON)
            self._say(play, body[: self._chance.randrange(len(body))])
        play.add(FOREVER, _CUT)

    def _no_connection(self, play: Play, protocol: Protocol, streams: bool) -> None:
        play.add(self._pause(), self._chance.choice((_NO_CONNECTION, _NO_ANSWER_IN_TIME)))

    def _refused(self, play: Play, protocol: Protocol, streams: bool) -> None:
        status = self._chance.choice(_STATUSES)
        headers = dict(_JSON)
        if self._chance.random() < 0.4:
            headers["retry-after"] = self._chance.choice(("0", "1", "7", "900", "-3", "soon"))
        self._head(play, status, headers)
        words = self._chance.choice(("busy", "stream_options is not supported", "model_not_found", "no"))
        error = {"message": words, "type": "error", "code": self._chance.choice((None, words))}
        body = json.dumps({"type": "error", "error": error}).encode()
        self._say(play, self._chance.choice((body, body, b"", b"<html>no</html>", body[:20])))
        play.add(self._pause(), self._chance.choice((End(), End(), _CUT)))

    def _error_event(self, play: Play, protocol: Protocol, streams: bool) -> None:
        if not streams:
            body = b'{"error":{"message":"broken","type":"server_error"}}'
            self._answer(play, body, streams)
            return
        events = transcripts.stream(protocol, play.speech)
        events = events[: self._chance.randrange(len(events))]
        error = transcripts.error_event(protocol, "the model broke", len(events))
        self._answer(play, b"".join([*events, error]), streams)

    def _garbage(self, play: Play, protocol: Protocol, streams: bool) -> None:
        events = transcripts.stream(protocol, play.speech) if streams else []
        events = events[: self._chance.randrange(len(events))] if events else []
        self._answer(play, b"".join([*events, self._chance.choice(_GARBAGE)]), streams)

    def _other_form(self, play: Play, protocol: Protocol, streams: bool) -> None:
        """A JSON answer to who asks for a stream, and a stream to who does not."""
        self._answer(play, self._body(protocol, play.speech, not streams), not streams)

    # Parts

    def _body(self, protocol: Protocol, speech: Speech, streams: bool) -> bytes:
        if not streams:
            return transcripts.whole(protocol, speech)
        events = transcripts.stream(protocol, speech)
        if self._chance.random() < 0.15:
            events.insert(self._chance.randrange(len(events)), b": still here\n\n")
        body = b"".join(events)
        return body.replace(b"\n", b"\r\n") if self._chance.random() < 0.1 else body

    def _answer(self, play: Play, body: bytes, streams: bool) -> None:
        self._head(play, 200, _STREAM if streams else _JSON)
        self._say(play, body)
        play.add(self._pause(), End())

    def _head(self, play: Play, status: int, headers: dict[str, str]) -> None:
        play.add(self._pause(), Head(status, headers))

    def _say(self, play: Play, body: bytes) -> None:
        """The body in a few reads, cut at any byte."""
        reads = self._chance.choice((1, 1, 2, 4, 9, 25))
        cuts = sorted(self._chance.randrange(len(body) + 1) for _ in range(reads - 1))
        for start, end in zip([0, *cuts], [*cuts, len(body)], strict=True):
            if start < end:
                play.add(self._pause(), body[start:end])

    def _pause(self) -> float:
        pauses = _FAST if self._chance.random() < self._weather.haste else _SLOW
        return self._chance.choice(pauses)
