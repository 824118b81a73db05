"""An answer's own id and model are read from streams and whole answers of every protocol."""

import json

import pytest
from tests.harness.dialects import SIDES, Side

from tidegate.core.protocol import Protocol
from tidegate.core.sse import Framer
from tidegate.protocols.base import NO_IMPRINT, Asked, Imprint, Seed, Whole
from tidegate.protocols.registry import dialect_of

SEED = Seed("s", 1)


def asked(protocol: Protocol) -> Asked:
    return Asked(protocol=protocol, body=b"{}", members={}, model="public", stream=True)


@pytest.mark.parametrize("side", SIDES, ids=lambda side: side.name)
def test_of_a_stream(side: Side) -> None:
    protocol = Protocol(side.name)
    watcher = dialect_of(protocol).watcher(asked(protocol), lambda text: text, SEED)
    assert watcher.imprint == NO_IMPRINT
    for frame in Framer(1 << 20).feed(side.script(model="made-by").bytes()):
        watcher.read(frame)
    assert watcher.imprint.model == "made-by"
    assert watcher.imprint.id


@pytest.mark.parametrize("side", SIDES, ids=lambda side: side.name)
def test_of_a_whole_answer(side: Side) -> None:
    protocol = Protocol(side.name)
    answer = side.whole(model="made-by")
    whole = dialect_of(protocol).read_whole(asked(protocol), json.dumps(answer).encode())
    assert isinstance(whole, Whole)
    assert whole.imprint == Imprint(answer["id"], "made-by")
    strange = {**answer, "id": 7, "model": None}
    whole = dialect_of(protocol).read_whole(asked(protocol), json.dumps(strange).encode())
    assert isinstance(whole, Whole)
    assert whole.imprint == NO_IMPRINT
