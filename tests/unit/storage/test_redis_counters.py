"""What is said to Redis and when; with a real one, see tests/contract/counters."""

import asyncio
from collections.abc import Sequence
from typing import cast

import pytest

from tidegate.routing.quota import Admitted, Limited, Scope
from tidegate.storage.counters import LocalCounters
from tidegate.storage.redis_counters import RedisCounters
from tidegate.storage.redis_link import Done, RedisLink, packed
from tidegate.storage.redis_scripts import ADMIT, FINISH, Script
from tidegate.storage.scope_table import ScopeTable

SCOPES = [Scope(name="key:k", max_concurrency=2, tokens_per_minute=60)]
YES, NO = b"1 0 0 0", b"0 0 0 2"


class FakeLink:
    """A link whose answers the test gives."""

    def __init__(self) -> None:
        self.up = True
        self.connected = True
        self.asked: list[tuple[Script, Sequence[bytes], Sequence[bytes], Done | None]] = []

    def when_up(self, call: object) -> None:
        self.back = call

    def run(self, script: Script, keys: Sequence[bytes], more: Sequence[bytes], done: Done | None) -> None:
        self.asked.append((script, keys, more, done))

    def answer(self, told: bytes | None) -> None:
        done = self.asked[-1][3]
        assert done is not None
        done(told)


@pytest.fixture
def link() -> FakeLink:
    return FakeLink()


@pytest.fixture
def counters(link: FakeLink) -> RedisCounters:
    local = LocalCounters(ScopeTable(1, slots=64), None, 0, lambda: 1000.0)
    return RedisCounters(cast(RedisLink, link), local)


async def asking(counters: RedisCounters, request_id: str = "r1") -> "asyncio.Task[Admitted | Limited]":
    task = asyncio.create_task(counters.admit(request_id, SCOPES, 30))
    await asyncio.sleep(0)
    return task


def ends(link: FakeLink) -> list[Sequence[bytes]]:
    return [more for script, _, more, _ in link.asked if script is FINISH]


async def test_one_script_for_all_that_a_request_needs(link: FakeLink, counters: RedisCounters) -> None:
    task = await asking(counters)
    [(script, keys, more, _)] = link.asked
    assert script is ADMIT
    assert list(keys) == [b"tidegate:{limits}:rate:key:k", b"tidegate:{limits}:open:key:k"]
    assert list(more) == [b"r1", b"30", b"2", b"-1", b"30.0"]
    link.answer(YES)
    assert isinstance(await task, Admitted)


async def test_no_answer_means_that_this_machine_decides(link: FakeLink, counters: RedisCounters) -> None:
    task = await asking(counters)
    link.answer(None)
    assert isinstance(await task, Admitted)
    link.up = False
    assert isinstance(await counters.admit("r2", SCOPES, 30), Admitted)
    verdict = await counters.admit("r3", SCOPES, 30)
    assert isinstance(verdict, Limited)
    assert len(link.asked) == 1, "nobody is asked who is away"


async def test_ends_are_told_together_with_what_was_used(link: FakeLink, counters: RedisCounters) -> None:
    for request_id, told in (("r1", YES), ("r2", None)):
        task = await asking(counters, request_id)
        link.answer(told)
        await task
    counters.finish("r1", SCOPES, 30, 40)
    counters.finish("r2", SCOPES, 30, 40)
    counters.finish("r2", SCOPES, 30, 40)
    counters._tell()
    assert ends(link) == [[b"r1", b"10.0", b"r2", b"40.0"]], "Redis never took the estimate of the second"


async def test_ends_wait_while_redis_is_away(link: FakeLink, counters: RedisCounters) -> None:
    task = await asking(counters)
    link.answer(YES)
    await task
    link.connected = link.up = False
    counters.finish("r1", SCOPES, 30, 30)
    counters._tell()
    assert not ends(link)
    link.connected = True
    counters._catch_up()
    assert ends(link) == [[b"r1", b"0.0"]]


@pytest.mark.parametrize("told", [YES, NO, None])
async def test_a_client_that_leaves_before_the_answer(
    link: FakeLink, counters: RedisCounters, told: bytes | None
) -> None:
    task = await asking(counters)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    link.answer(told)
    counters._tell()
    assert ends(link) == ([[b"r1", b"-30.0"]] if told is YES else [])


@pytest.mark.parametrize("told", [YES, NO, None])
async def test_a_client_that_leaves_as_the_answer_comes(
    link: FakeLink, counters: RedisCounters, told: bytes | None
) -> None:
    task = await asking(counters)
    link.answer(told)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    assert task.cancelled()
    counters._tell()
    assert ends(link) == ([[b"r1", b"-30.0"]] if told is YES else [])


def test_a_command_as_redis_reads_it() -> None:
    assert packed([b"SET", b"a\r\n", b""]) == b"*3\r\n$3\r\nSET\r\n$3\r\na\r\n\r\n$0\r\n\r\n"
