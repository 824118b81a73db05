"""What a request used, and the row that tells it."""

import asyncio
import json
import threading
from typing import Any

import pytest
from msgspec import structs
from tests.unit.exchange.said import MESSAGES
from tests.unit.exchange.scene import Scene, turns

from tidegate.core.failure import Failure, Kind
from tidegate.core.protocol import Protocol
from tidegate.core.usage import Usage
from tidegate.exchange.settlement import IMAGE_TOKENS, INLINE_BODY, estimate_prompt
from tidegate.exchange.story import Story, Told
from tidegate.protocols.base import Asked
from tidegate.protocols.registry import dialect_of

M = Protocol.MESSAGES


def asked(content: Any = "one two three") -> Asked:
    body = {**MESSAGES, "messages": [{"role": "user", "content": content}]}
    read = dialect_of(M).read_request(json.dumps(body).encode())
    assert isinstance(read, Asked)
    return read


async def test_a_prompt_is_estimated_by_words_and_images_and_never_at_nothing() -> None:
    scene, dialect = Scene(), dialect_of(M)
    image = {"type": "image", "source": {"type": "url", "url": "https://x/y.png"}}
    assert await estimate_prompt(dialect, asked(), scene.tokenizer) == 3
    assert await estimate_prompt(dialect, asked([image, image]), scene.tokenizer) == 2 * IMAGE_TOKENS
    assert await estimate_prompt(dialect, asked(" "), scene.tokenizer) == 1


@pytest.mark.parametrize(("size", "inline"), [(100, True), (2 * INLINE_BODY, False)])
async def test_a_long_prompt_is_not_read_on_the_event_loop(size: int, inline: bool) -> None:
    read_on: list[int] = []

    def images(request: Asked) -> int:
        read_on.append(threading.get_ident())
        return 1

    dialect = structs.replace(dialect_of(M), image_count=images)
    tokens = await estimate_prompt(dialect, asked("word " * (size // 5)), Scene().tokenizer)
    assert tokens == size // 5 + IMAGE_TOKENS
    assert (read_on == [threading.get_ident()]) is inline


class Requested:
    dialect = dialect_of(M)
    asked = asked()


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        (None, Usage(input=3, output=2)),
        (Usage(input=9), Usage(input=9, output=2)),
        (Usage(output=9), Usage(input=3, output=9)),
        (Usage(input=0, cache_read=4), Usage(input=0, cache_read=4, output=2)),
    ],
)
async def test_only_what_was_not_told_is_estimated(told: Usage | None, expected: Usage) -> None:
    settlement = Scene().exchange.settlement
    request: Any = Requested()
    assert await settlement.estimate(request, told, "hello there") == Told(usage=expected, source="estimated")


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
    await asyncio.wait_for(waiting, 5)
    assert len(scene.rows) == 1
    assert settlement._tasks == set()
