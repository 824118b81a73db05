import asyncio
import socket
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest
from tests.unit.upstream.peers import eventually

from tidegate.upstream import race
from tidegate.upstream.race import Address, Unreachable, alternate, connect_tcp

V4, V6 = int(socket.AF_INET), int(socket.AF_INET6)


@pytest.fixture
def hole() -> Iterator[int]:
    """A port that neither takes nor refuses a connection: its backlog is full."""
    with socket.create_server(("127.0.0.1", 0), backlog=0) as server:
        port: int = server.getsockname()[1]
        fillers = []
        for _ in range(4):
            filler = socket.socket()
            filler.setblocking(False)
            filler.connect_ex(("127.0.0.1", port))
            fillers.append(filler)
        yield port
        for filler in fillers:
            filler.close()


@pytest.fixture
def refusing() -> Iterator[int]:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        yield taken.getsockname()[1]


def resolve_to(monkeypatch: pytest.MonkeyPatch, *ports: int) -> None:
    """Let every name mean these ports of the loopback address."""

    async def resolve(_: str, __: int) -> list[Address]:
        return [(V4, ("127.0.0.1", port)) for port in ports]

    monkeypatch.setattr(race, "_resolve", resolve)


def test_families_take_turns() -> None:
    def at(family: int, number: int) -> Address:
        return (family, ("a", number))

    given = [at(V6, 1), at(V6, 2), at(V6, 3), at(V4, 1), at(V4, 2)]
    assert alternate(given) == [at(V6, 1), at(V4, 1), at(V6, 2), at(V4, 2), at(V6, 3)]
    assert alternate([]) == []
    assert alternate([at(V4, 1)]) == [at(V4, 1)]


async def test_the_socket_sends_at_once_and_notices_a_peer_that_vanished() -> None:
    with (
        socket.create_server(("127.0.0.1", 0)) as server,
        closing(await connect_tcp(*server.getsockname())) as made,
    ):
        assert made.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
        assert made.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE)
        assert made.getsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE) == 60


async def test_an_address_that_refuses_costs_no_time(monkeypatch: pytest.MonkeyPatch, refusing: int) -> None:
    monkeypatch.setattr(race, "STAGGER", 30.0)
    with socket.create_server(("127.0.0.1", 0)) as server:
        resolve_to(monkeypatch, refusing, refusing, server.getsockname()[1])
        async with asyncio.timeout(60):
            made = await connect_tcp("many.example", 1)
        assert made.getpeername() == server.getsockname()
        made.close()


async def test_an_address_that_is_silent_costs_one_step(monkeypatch: pytest.MonkeyPatch, hole: int) -> None:
    monkeypatch.setattr(race, "STAGGER", 0.01)
    with socket.create_server(("127.0.0.1", 0)) as server:
        resolve_to(monkeypatch, hole, hole, server.getsockname()[1])
        async with asyncio.timeout(60):
            made = await connect_tcp("many.example", 1)
        assert made.getpeername() == server.getsockname()
        made.close()


async def test_when_all_refuse_each_is_told(monkeypatch: pytest.MonkeyPatch, refusing: int) -> None:
    resolve_to(monkeypatch, refusing, refusing)
    with pytest.raises(Unreachable, match=rf"port {refusing}: Connection refused; .*port {refusing}: "):
        await connect_tcp("many.example", 1)


async def test_a_name_without_addresses_is_unreachable(monkeypatch: pytest.MonkeyPatch) -> None:
    resolve_to(monkeypatch)
    with pytest.raises(Unreachable, match="no addresses"):
        await connect_tcp("none.example", 1)


@pytest.mark.parametrize("count", [1, 2])
async def test_a_race_that_is_cancelled_closes_all(
    monkeypatch: pytest.MonkeyPatch, hole: int, count: int
) -> None:
    made: list[socket.socket] = []
    real = socket.socket

    def counting(*args: Any) -> socket.socket:
        made.append(real(*args))
        return made[-1]

    monkeypatch.setattr(race, "STAGGER", 0.001)
    monkeypatch.setattr(socket, "socket", counting)
    resolve_to(monkeypatch, *[hole] * count)
    task = asyncio.ensure_future(connect_tcp("many.example", 1))
    await eventually(lambda: len(made) == count)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await eventually(lambda: all(sock.fileno() == -1 for sock in made))


async def test_of_two_winners_one_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[socket.socket] = []
    both = asyncio.Event()

    async def connect(address: Address) -> socket.socket:
        made.append(socket.socket())
        if len(made) == 2:
            both.set()
        await both.wait()
        return made[-1] if address[1][1] == 2 else made[0]

    monkeypatch.setattr(race, "STAGGER", 0.001)
    monkeypatch.setattr(race, "_connect", connect)
    resolve_to(monkeypatch, 1, 2)
    winner = await connect_tcp("many.example", 1)
    loser = next(sock for sock in made if sock is not winner)
    await eventually(lambda: loser.fileno() == -1)
    assert winner.fileno() != -1
    winner.close()
