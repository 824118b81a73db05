"""Whatever happens to Redis, requests are answered at once, and it is used again when it is back."""

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from tests.contract.counters.nodes import WITHIN, Node, admitted, limited, nodes, scope, told
from tests.harness.gateway import free_port
from tests.harness.redis_server import RedisServer

from tidegate.routing.quota import Admitted
from tidegate.storage import redis_counters, redis_link
from tidegate.storage.redis_scripts import RENEW

PLACES = [scope(max_concurrency=3)]
TOKENS = [scope("key:t", tokens_per_minute=6000)]


async def until(condition: Callable[[], bool], within: float = WITHIN) -> None:
    deadline = time.monotonic() + within
    while not condition():
        assert time.monotonic() < deadline, "it did not come to be"
        await asyncio.sleep(0.02)


@asynccontextmanager
async def two(server: RedisServer) -> AsyncIterator[tuple[Node, Node]]:
    async with nodes(server) as made:
        yield made[0], made[1]


async def test_a_gateway_starts_without_it_and_finds_it_later(redis: RedisServer) -> None:
    redis.kill()
    node = Node(redis.url)
    began = time.monotonic()
    await node.open()
    assert time.monotonic() - began < 10
    try:
        assert not node.link.up
        assert "connecting" in (node.link.state.why or "")
        for number in range(3):
            admitted(await node.limits.admit(f"r{number}", PLACES, 0))
        limited(await node.limits.admit("more", PLACES, 0))
        redis.start()
        await until(lambda: node.link.up)
        assert node.link.state.why is None
        await told(node.limits)
        async with nodes(redis, 1) as [other]:
            limited(await other.limits.admit("more", PLACES, 0))
            node.limits.finish("r0", PLACES, 0, 0)
            await told(node.limits)
            admitted(await other.limits.admit("r3", PLACES, 0))
    finally:
        await node.close()


async def test_it_is_killed_and_comes_back_empty(
    redis: RedisServer, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "tidegate")
    async with two(redis) as (one, other):
        admitted(await one.limits.admit("r1", PLACES, 0))
        admitted(await other.limits.admit("r2", PLACES, 0))
        admitted(await one.limits.admit("t1", TOKENS, 5000))
        caplog.clear()
        redis.kill()
        await until(lambda: not (one.link.up or other.link.up))
        began = time.monotonic()
        for number in range(2):
            admitted(await one.limits.admit(f"l{number}", PLACES, 0))
        limited(await one.limits.admit("more", PLACES, 0))
        limited(await one.limits.admit("t2", TOKENS, 5000))
        assert time.monotonic() - began < 5, "once it is away nobody waits"
        assert [record.levelname for record in caplog.records] == ["WARNING", "WARNING"], "once for each node"
        other.limits.finish("r2", PLACES, 0, 0)
        redis.start()
        await until(lambda: one.link.up and other.link.up)
        await told(one.limits, other.limits)
        assert sorted(words(redis.command("ZRANGE", "tidegate:{limits}:open:key:k", "0", "-1"))) == [
            "l0",
            "l1",
            "r1",
        ], "what is open has its place again, and what ended has not"
        for request_id in ("r1", "l0", "l1"):
            one.limits.finish(request_id, PLACES, 0, 0)
        await told(one.limits)
        assert words(redis.command("ZRANGE", "tidegate:{limits}:open:key:k", "0", "-1")) == []


def words(answer: bytes) -> list[str]:
    """The texts of an array."""
    return [line.decode() for line in answer.split(b"\r\n") if line and line[:1] not in (b"*", b"$")]


async def test_it_hangs(redis: RedisServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(redis_link, "PATIENCE", 2.0)
    async with two(redis) as (one, _):
        admitted(await one.limits.admit("r1", PLACES, 0))
        redis.freeze()
        try:
            began = time.monotonic()
            verdicts = await asyncio.gather(*(one.limits.admit(f"l{n}", PLACES, 0) for n in range(5)))
            waited = time.monotonic() - began
            assert 1.9 < waited < 2 * 2.0, "all together, not one after the other"
            assert sum(isinstance(verdict, Admitted) for verdict in verdicts) == 2
            assert "did not answer" in (one.link.state.why or "")
            began = time.monotonic()
            limited(await one.limits.admit("more", PLACES, 0))
            assert time.monotonic() - began < 1.5
        finally:
            redis.thaw()
        await until(lambda: one.link.up)
        limited(await one.limits.admit("more", PLACES, 0))


async def test_a_process_that_is_late_itself_takes_that_for_no_silence(
    redis: RedisServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with two(redis) as (one, other):
        monkeypatch.setattr(redis_link, "PATIENCE", 0.25)
        admitted(await other.limits.admit("r1", PLACES, 0))
        for number in range(2, 4):
            asking = asyncio.create_task(one.limits.admit(f"r{number}", PLACES, 0))
            while not one.link._asked or one.link._outgoing:
                await asyncio.sleep(0)
            time.sleep(0.5)  # noqa: ASYNC251 -- the process stands still; Redis has answered
            admitted(await asking)
            assert one.link.up
        limited(await other.limits.admit("r4", PLACES, 0))


async def test_it_forgets_its_scripts(redis: RedisServer) -> None:
    async with two(redis) as (one, other):
        admitted(await one.limits.admit("r1", PLACES, 0))
        redis.command("SCRIPT", "FLUSH")
        verdicts = await asyncio.gather(*(one.limits.admit(f"r{n}", PLACES, 0) for n in range(2, 6)))
        assert sum(isinstance(verdict, Admitted) for verdict in verdicts) == 2
        limited(await other.limits.admit("more", PLACES, 0))
        assert one.link.up
        redis.command("SCRIPT", "FLUSH")
        one.limits.finish("r1", PLACES, 0, 0)
        await told(one.limits)
        admitted(await other.limits.admit("more", PLACES, 0))


@pytest.mark.parametrize(
    ("spoil", "mend", "why"),
    [
        (("CONFIG", "SET", "maxmemory", "1"), ("CONFIG", "SET", "maxmemory", "0"), "memory"),
        (
            ("REPLICAOF", "127.0.0.1", "1"),
            ("REPLICAOF", "NO", "ONE"),
            "read only|MASTERDOWN|Link with MASTER",
        ),
    ],
    ids=["full", "a replica"],
)
async def test_it_takes_nothing(
    redis: RedisServer, spoil: tuple[str, ...], mend: tuple[str, ...], why: str
) -> None:
    async with two(redis) as (one, _):
        admitted(await one.limits.admit("r1", PLACES, 0))
        redis.command(*spoil)
        admitted(await one.limits.admit("r2", PLACES, 0))
        assert not one.link.up
        assert any(part in (one.link.state.why or "") for part in why.split("|")), one.link.state
        admitted(await one.limits.admit("r3", PLACES, 0))
        limited(await one.limits.admit("r4", PLACES, 0))
        await asyncio.sleep(0.6)
        assert not one.link.up, "it answers, but cannot be used"
        redis.command(*mend)
        await until(lambda: one.link.up)


async def test_a_name_that_another_program_uses(redis: RedisServer, caplog: pytest.LogCaptureFixture) -> None:
    async with two(redis) as (one, other):
        redis.command("SET", "tidegate:{limits}:rate:key:t", "not ours")
        admitted(await one.limits.admit("t1", TOKENS, 5000))
        limited(await one.limits.admit("t2", TOKENS, 5000))
        admitted(await one.limits.admit("t3", TOKENS, 500))
        assert caplog.text.count("WRONGTYPE") == 1
        assert one.link.up, "for all others it is of use"
        for number in range(3):
            admitted(await one.limits.admit(f"r{number}", PLACES, 0))
        limited(await other.limits.admit("more", PLACES, 0))


async def test_a_node_that_dies_frees_its_places_and_one_that_lives_keeps_them(
    redis: RedisServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(redis_counters, "_LEASE", b"2")
    monkeypatch.setattr(redis_counters, "RENEW_EVERY", 0.1)
    async with two(redis) as (one, other):
        dying = Node(redis.url)
        await dying.open()
        admitted(await dying.limits.admit("d1", PLACES, 0))
        admitted(await one.limits.admit("r1", PLACES, 0))
        admitted(await one.limits.admit("r2", PLACES, 0))
        await asyncio.sleep(2.5)
        limited(await other.limits.admit("more", PLACES, 0))
        await dying.close()  # without a word about what is open
        await asyncio.sleep(2.2)
        admitted(await other.limits.admit("d2", PLACES, 0))
        limited(await other.limits.admit("more", PLACES, 0))


async def test_a_client_that_leaves_while_redis_thinks_gives_its_place_back(redis: RedisServer) -> None:
    async with two(redis) as (one, other):
        redis.freeze()
        asking = asyncio.create_task(one.limits.admit("gone", [*PLACES, *TOKENS], 6000))
        await asyncio.sleep(0.05)
        asking.cancel()
        await asyncio.gather(asking, return_exceptions=True)
        redis.thaw()
        await told(one.limits)
        assert one.link.up
        for number in range(3):
            admitted(await other.limits.admit(f"r{number}", PLACES, 0))
        admitted(await other.limits.admit("t", TOKENS, 5900))


async def test_what_is_kept_has_an_end_and_names_no_secret(redis: RedisServer) -> None:
    async with two(redis) as (one, _):
        scopes = [scope("key:k", max_concurrency=3, requests_per_minute=60, tokens_per_minute=60)]
        admitted(await one.limits.admit("r1", scopes, 30))
        names = words(redis.command("KEYS", "*"))
        assert (
            sorted(names) == ["tidegate:{limits}:open:key:k", "tidegate:{limits}:rate:key:k"]
            or len(names) == 3
        )
        for name in names:
            answer = redis.command("PTTL", name)
            assert answer.startswith(b":")
            assert 0 < int(answer[1:]) < 62_000, name


async def test_a_wrong_password_is_told_without_any_password(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    server = RedisServer(tmp_path, "--requirepass", "right-pass-1")
    try:
        wrong = Node(server.url.replace("redis://", "redis://:wrong-pass-2@"))
        await wrong.open()
        assert not wrong.link.up
        assert "password" in (wrong.link.state.why or "")
        admitted(await wrong.limits.admit("r1", PLACES, 0))
        right = Node(server.url.replace("redis://", "redis://:right-pass-1@"))
        await right.open()
        await right.in_use()
        told = f"{caplog.text} {wrong.link!r} {wrong.limits!r} {wrong.link.state!r} {right.link!r}"
        assert "-pass-" not in told
        await wrong.close()
        await right.close()
    finally:
        server.stop()


async def test_an_address_where_nobody_answers_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(redis_link, "_CONNECT_PATIENCE", 0.2)
    silent = await asyncio.start_server(lambda _reader, _writer: asyncio.sleep(30), "127.0.0.1", 0)
    node = Node(f"redis://127.0.0.1:{silent.sockets[0].getsockname()[1]}/0")
    await node.open()
    assert not node.link.up
    await node.close()
    silent.close()
    refused = Node(f"redis://127.0.0.1:{free_port()}/0")
    await refused.open()
    assert not refused.link.up
    await refused.close()


async def test_a_fault_in_reading_an_answer_leaves_it_away_for_a_moment_only(
    redis: RedisServer, caplog: pytest.LogCaptureFixture
) -> None:
    def faulty(answer: object) -> None:
        if answer is not None:
            raise ValueError("not what was expected")

    async with two(redis) as (one, _):
        one.link.run(RENEW, [], [b"30"], faulty)
        await until(lambda: not one.link.up)
        assert "could not be used" in caplog.text
        await until(lambda: one.link.up)


async def test_a_server_that_talks_nonsense_is_given_up() -> None:
    async def babble(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        await reader.read()
        writer.close()

    server = await asyncio.start_server(babble, "127.0.0.1", 0)
    node = Node(f"redis://127.0.0.1:{server.sockets[0].getsockname()[1]}/0")
    await node.open()
    assert not node.link.up
    admitted(await node.limits.admit("r1", PLACES, 0))
    await node.close()
    server.close()
