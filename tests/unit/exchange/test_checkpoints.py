"""What a killed process leaves of its open streams."""

import asyncio
from collections.abc import Iterable
from decimal import Decimal

import pytest
from tests.unit.exchange.said import DONE, HELLO, ROLE, STOP, STREAM, USAGE, chunk
from tests.unit.exchange.scene import KEY, Scene, channel, turns

from tidegate.core.price import Price
from tidegate.routing.catalog import Account, Model

PRICE = Price(input=Decimal(1), output=Decimal(2))


def scene() -> Scene:
    return Scene(
        channel("a", price=PRICE),
        models=[Model(name="m", first_event_timeout=120, idle_timeout=360, price=PRICE)],
        accounts=[Account(name="acme", prepaid=True)],
        key=KEY,
    )


async def speaking(*events: bytes) -> Scene:
    played = scene()
    await played.start(STREAM)
    played.call.head()
    played.call.body(*events)
    return played


async def test_what_an_open_stream_has_used_is_noted_as_the_row_it_would_leave() -> None:
    played = await speaking(ROLE, HELLO)
    await played.exchange.checkpoints.look()
    [row] = played.books.noted
    assert (row.id, row.outcome, row.status, row.channel) == ("req_1", "interrupted", 200, "a")
    assert (row.output_tokens, row.usage_source, row.error_code) == (2, "estimated", "stream_interrupted")
    assert row.cost == row.input_tokens * 1_000 + 2 * 2_000
    assert row.input_tokens > 0
    [attempt] = row.attempts
    assert (attempt.channel, attempt.outcome, attempt.upstream_cost) == ("a", "abandoned", row.cost)
    await played.leave()
    assert played.row.cost == row.cost


async def test_only_the_new_part_of_the_output_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    played = await speaking(HELLO)
    await played.exchange.checkpoints.look()
    counted: list[str] = []
    count = played.tokenizer.count

    async def remembering(texts: Iterable[str]) -> int:
        texts = list(texts)
        counted.extend(texts)
        return await count(texts)

    monkeypatch.setattr(played.tokenizer, "count", remembering)
    await played.exchange.checkpoints.look()
    assert len(played.books.noted) == 1, "nothing new, nothing noted"
    played.call.body(chunk({"content": "and more words"}))
    await played.exchange.checkpoints.look()
    assert counted == ["and more words"]
    assert played.books.noted[-1].output_tokens == 5
    await played.leave()


async def test_a_stream_that_is_accepted_and_has_not_spoken_owes_its_prompt() -> None:
    played = await speaking(ROLE)
    await played.exchange.checkpoints.look()
    await played.exchange.checkpoints.look()
    [row] = played.books.noted
    assert (row.status, row.output_tokens, row.usage_source) == (500, 0, "estimated")
    assert row.input_tokens > 0
    assert row.cost == row.input_tokens * 1_000
    await played.leave()
    assert played.row.cost == row.cost


async def test_a_stream_that_is_not_accepted_leaves_what_its_hold_left() -> None:
    played = scene()
    await played.start(STREAM)
    await played.exchange.checkpoints.look()
    assert played.books.noted == []
    await played.leave()


async def test_what_was_noted_of_an_attempt_that_failed_is_taken_back() -> None:
    played = Scene(
        channel("a", price=PRICE),
        channel("b", price=PRICE),
        models=[Model(name="m", first_event_timeout=120, idle_timeout=360, price=PRICE)],
        accounts=[Account(name="acme", prepaid=True)],
        key=KEY,
    )
    await played.start(STREAM)
    played.call.head()
    played.call.body(ROLE)
    await played.exchange.checkpoints.look()
    played.call.end()
    await turns()
    await played.exchange.checkpoints.look()
    await played.exchange.checkpoints.look()
    assert [row.cost > 0 for row in played.books.noted] == [True, False]
    await played.leave()
    assert played.row.cost == 0


async def test_counts_that_the_upstream_told_are_taken() -> None:
    played = await speaking(HELLO, chunk({}, "stop"), USAGE)
    await played.exchange.checkpoints.look()
    [row] = played.books.noted
    assert (row.input_tokens, row.output_tokens, row.usage_source) == (7, 2, "upstream")
    played.call.body(DONE)
    await played.over()
    assert played.row.cost == row.cost


async def test_a_stream_that_ends_while_it_is_looked_at_is_not_noted_after_its_row() -> None:
    played = await speaking(HELLO)
    played.tokenizer.gate = asyncio.get_running_loop().create_future()
    looking = asyncio.create_task(played.exchange.checkpoints.look())
    await asyncio.sleep(0)
    played.call.body(STOP, USAGE, DONE)
    await played.over()
    played.tokenizer.gate.set_result(None)
    await looking
    assert played.books.noted == []


async def test_it_looks_again_and_again(monkeypatch: pytest.MonkeyPatch) -> None:
    played = await speaking(HELLO)
    slept: list[float] = []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)
        if len(slept) == 3:
            raise asyncio.CancelledError

    monkeypatch.setattr("tidegate.exchange.checkpoints.asyncio.sleep", sleep)
    with pytest.raises(asyncio.CancelledError):
        await played.exchange.checkpoints.run()
    assert slept == [0.7, 0.7, 0.7]
    assert len(played.books.noted) == 1
    monkeypatch.undo()
    await played.leave()
