"""What a request used, and the row that tells it."""

import asyncio

from tests.unit.exchange.scene import Scene, turns

from tidegate.core.failure import Failure, Kind
from tidegate.core.protocol import Protocol
from tidegate.exchange.story import Story
from tidegate.protocols.registry import dialect_of

M = Protocol.MESSAGES


async def test_an_error_is_noted_as_the_caller_was_told() -> None:
    for protocol, type_, code in (
        (Protocol.CHAT, "overloaded_error", "overloaded"),
        (M, "overloaded_error", None),
    ):
        scene = Scene()
        story = Story(incoming=scene.incoming(protocol))
        failure = Failure(kind=Kind.OVERLOADED, message="busy", detail="for the operator")
        scene.exchange.settlement.refused(story, dialect_of(protocol), failure, 503, "failed")
        row = scene.row
        assert (row.error_type, row.error_code, row.error_message) == (type_, code, "busy")
        assert (row.status, row.outcome) == (503, "failed")
        assert scene.logged == [row]


async def test_what_runs_on_is_waited_for() -> None:
    scene = Scene()
    settlement = scene.exchange.settlement
    await settlement.settled()
    gate = asyncio.get_running_loop().create_future()

    async def first() -> None:
        await gate
        settlement._after(second())

    async def second() -> None:
        settlement.close(Story(incoming=scene.incoming()))

    settlement._after(first())
    waiting = asyncio.get_running_loop().create_task(settlement.settled())
    await turns()
    assert not waiting.done()
    gate.set_result(None)
    await asyncio.wait_for(waiting, 60)
    assert len(scene.rows) == 1
    assert settlement._tasks == set()
