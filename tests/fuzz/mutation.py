"""Spoils event streams and JSON texts: in their bytes, their events and the values inside them."""

import json
import random
from collections.abc import Iterable
from typing import Any

_ODD: tuple[Any, ...] = (
    None,
    True,
    False,
    0,
    -1,
    1,
    2**31,
    2**63,
    2**70,
    1.5,
    1e300,
    "",
    " ",
    "\n\n",
    "\ud800",
    "\u0000",
    "é\u2028\U0001f30a",
    "data: [DONE]\n\n",
    "x" * 200,
    [],
    {},
    [[]],
    {"type": "text"},
    {"type": "unknown"},
    "[DONE]",
    '{"a":1}',
    '{"a":',
    "stop",
    "length",
    "tool_calls",
    "content_filter",
    "end_turn",
    "completed",
    "incomplete",
    "failed",
)
_NOISE = (
    b": comment\n\n",
    b"retry: 5\n\n",
    b"event: ping\ndata: {}\n\n",
    b"data: [DONE]\n\n",
    b"data:\n\n",
    b"data: \n\n",
    b"data: null\n\n",
    b"data: 5\n\n",
    b"data: [1]\n\n",
    b'data: {"error":{"message":"boom","type":"server_error"}}\n\n',
    b'event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"busy"}}\n\n',
    b'event: message_stop\ndata: {"type":"message_stop"}\n\n',
    b'event: response.completed\ndata: {"type":"response.completed","response":{"id":"r","output":[]}}\n\n',
    b"\n",
    b"\r\n\r\n",
    b"\xef\xbb\xbf",
    b"\xff\xfe\n\n",
    b"event: x\nid: 3\ndata: {\ndata: }\n\n",
)
_DEEP = 3000


class Mutator:
    """Everything it does follows from its random numbers and from what it has been shown."""

    def __init__(self, chance: random.Random) -> None:
        self._chance = chance
        self._names: list[str] = []
        self._values: list[Any] = list(_ODD)

    def learn(self, texts: Iterable[bytes]) -> None:
        """Keep the names and values that occur in streams or JSON texts, to put them elsewhere."""
        names: set[str] = set()
        values: dict[str, Any] = {}
        for text in texts:
            for value in _payloads(text):
                for path in _places(value):
                    inner = _at(value, path)
                    names |= {path[-1]} if path and isinstance(path[-1], str) else set()
                    written = json.dumps(inner)
                    if len(written) < 2000:
                        values.setdefault(written, inner)
        self._names = sorted(names)
        self._values = [*_ODD, *values.values()]

    def stream(self, body: bytes, others: list[bytes]) -> bytes:
        """A stream spoilt in one to four ways; events of `others` may be mixed in."""
        for _ in range(self._chance.choice((1, 1, 1, 2, 2, 3, 4))):
            match self._chance.randrange(10):
                case 0:
                    body = self.spoil(body)
                case 1 | 2 | 3:
                    body = self._events(body, self._chance.choice(others))
                case _:
                    body = self._inside(body)
        return self._ends(body)

    def text(self, body: bytes) -> bytes:
        """A JSON text spoilt in one to four ways."""
        if self._chance.random() < 0.05:
            return self.spoil(body)
        try:
            value = json.loads(body)
        except (ValueError, RecursionError):
            return self.spoil(body)
        for _ in range(self._chance.choice((1, 1, 2, 3, 4))):
            value = self._value(value)
        return self._dumped(value)

    def spoil(self, body: bytes) -> bytes:
        """Bytes changed, taken out or doubled at one place."""
        at = self._chance.randrange(len(body) + 1)
        to = min(len(body), at + self._chance.choice((1, 1, 2, 7, 40, 300)))
        match self._chance.randrange(5):
            case 0:
                return body[:at] + bytes([self._chance.randrange(256)]) + body[to:]
            case 1:
                return body[:at] + body[to:]
            case 2:
                return body[:to] + body[at:]
            case 3:
                return body[:at]
            case _:
                return body[:at] + self._chance.choice(_NOISE) + body[at:]

    def cuts(self, body: bytes) -> tuple[int, ...]:
        """Where the stream is divided on its way."""
        if self._chance.random() < 0.7:
            return ()
        return tuple(self._chance.randrange(len(body) + 1) for _ in range(self._chance.randrange(1, 6)))

    def _ends(self, body: bytes) -> bytes:
        """Now and then with other line ends or a byte order mark."""
        match self._chance.randrange(40):
            case 0:
                return body.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n")
            case 1:
                return body.replace(b"\r\n", b"\n").replace(b"\n", b"\r")
            case 2:
                return b"\xef\xbb\xbf" + body
            case _:
                return body

    def _events(self, body: bytes, other: bytes) -> bytes:
        """Events dropped, doubled, moved, or brought in from another stream."""
        events = _split(body)
        if not events:
            return self._chance.choice(_NOISE) + body
        at, to = self._chance.randrange(len(events)), self._chance.randrange(len(events))
        match self._chance.randrange(7):
            case 0:
                del events[at]
            case 1:
                events.insert(to, events[at])
            case 2:
                events[at], events[to] = events[to], events[at]
            case 3:
                del events[min(at, to) : max(at, to)]
            case 4:
                events = events[: at + 1]
            case 5:
                events.insert(at, self._chance.choice(_NOISE))
            case _:
                theirs = _split(other)
                begin = self._chance.randrange(len(theirs)) if theirs else 0
                events[at:at] = theirs[begin : begin + self._chance.choice((1, 1, 2, 5))]
        return b"".join(events)

    def _inside(self, body: bytes) -> bytes:
        """A value changed inside one event."""
        events = _split(body)
        if not events:
            return self.spoil(body)
        at = self._chance.randrange(len(events))
        name, _, data = events[at].partition(b"data:")
        try:
            value = json.loads(data)
        except (ValueError, RecursionError):
            return self.spoil(body)
        events[at] = name + b"data: " + self._dumped(self._value(value)) + b"\n\n"
        return b"".join(events)

    def _value(self, value: Any) -> Any:
        places = _places(value)
        if not places:
            return self._chance.choice(self._values)
        *way, last = self._chance.choice(places)
        inner = _at(value, tuple(way))
        match self._chance.randrange(8):
            case 0:
                del inner[last]
            case 1 if isinstance(inner, dict) and self._names:
                inner[self._chance.choice(self._names)] = inner.pop(last)
            case 2 if isinstance(inner, dict) and self._names:
                inner[self._chance.choice(self._names)] = self._chance.choice(self._values)
            case 2 if isinstance(inner, list):
                inner.insert(last, self._chance.choice(self._values))
            case 3:
                inner[last] = self._grown(inner[last])
            case 4 if isinstance(inner, list):
                inner.append(json.loads(json.dumps(inner[last])))
            case _:
                inner[last] = self._chance.choice(self._values)
        return json.loads(json.dumps(value))  # nothing is shared with what was learnt

    def _grown(self, value: Any) -> Any:
        if isinstance(value, str):
            cut = self._chance.randrange(len(value) + 1)
            return self._chance.choice((value[:cut], value[cut:], value * 2, value + "\ud83d"))
        if isinstance(value, int):
            return value + self._chance.choice((-1, 1, 7))
        if self._chance.random() < 0.02:
            return json.loads("[" * 200 + "]" * 200)
        return [value]

    def _dumped(self, value: Any) -> bytes:
        if self._chance.random() < 0.002:
            return b'{"a":' * _DEEP + b"1" + b"}" * _DEEP
        try:
            return json.dumps(value, ensure_ascii=self._chance.random() < 0.3).encode()
        except UnicodeEncodeError:  # half of a pair can only be written as an escape
            return json.dumps(value).encode()


def _split(body: bytes) -> list[bytes]:
    return [event + b"\n\n" for event in body.replace(b"\r\n", b"\n").split(b"\n\n") if event]


def _payloads(text: bytes) -> Iterable[Any]:
    for piece in [text, *(event.partition(b"data:")[2] for event in _split(text))]:
        try:
            yield json.loads(piece)
        except (ValueError, RecursionError):
            continue


def _places(value: Any) -> list[tuple[Any, ...]]:
    """Every place inside a value, by the keys that lead there."""
    found: list[tuple[Any, ...]] = []
    waiting: list[tuple[tuple[Any, ...], Any]] = [((), value)]
    while waiting:
        path, inner = waiting.pop()
        keys = inner if isinstance(inner, dict) else range(len(inner)) if isinstance(inner, list) else ()
        for key in keys:
            found.append((*path, key))
            waiting.append(((*path, key), inner[key]))
    return found


def _at(value: Any, path: tuple[Any, ...]) -> Any:
    for key in path:
        value = value[key]
    return value
