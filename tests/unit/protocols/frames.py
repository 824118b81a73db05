"""Events as an upstream sends them, cut into frames, and fresh watchers to read them."""

import json
from typing import Any

from tidegate.core.protocol import Protocol
from tidegate.core.sse import Frame, Framer
from tidegate.protocols.base import Asked, Clean, Said, Seed, Watcher
from tidegate.protocols.registry import dialect_of

SEED = Seed("s" * 24, 1_700_000_000)


def asked(protocol: Protocol, **members: Any) -> Asked:
    named = {"model": "public", **members}
    return Asked(protocol=protocol, body=b"{}", members={}, stream=True, **named)


def watcher(protocol: Protocol, clean: Clean = str, **members: Any) -> Watcher:
    return dialect_of(protocol).watcher(asked(protocol, **members), clean, SEED)


def frames(raw: bytes) -> list[Frame]:
    framer = Framer(1 << 24)
    found = framer.feed(raw)
    last = framer.end()
    return found if last is None else [*found, last]


def frame(raw: bytes) -> Frame:
    [found] = frames(raw)
    return found


def data(value: object) -> bytes:
    text = value if isinstance(value, str) else json.dumps(value, separators=(",", ":"), ensure_ascii=False)
    return f"data: {text}\n\n".encode()


def named(value: dict[str, Any]) -> bytes:
    return f"event: {value['type']}\n".encode() + data(value)


def passed(reader: Watcher, raw: bytes) -> tuple[list[Said], bytes]:
    """What each event of `raw` means, and the bytes that go out of those that do."""
    said, out = [], b""
    for each in frames(raw):
        said.append(reader.read(each))
        if said[-1] not in (Said.DROPPED, Said.BROKEN):
            out += reader.outgoing(each)
    return said, out
