"""What one process finds out about a channel holds for its siblings."""

import asyncio
import logging

import pytest

from tidegate.routing.breaker import Cooling, Health, Ready, Rules
from tidegate.storage.cooldown_board import CooldownBoard
from tidegate.storage.cooldowns import LONGEST_REST, CooldownSharing
from tidegate.storage.process_lock import ProcessLock


class Worker:
    """One process's health, with its share of the board."""

    def __init__(self, board: CooldownBoard, now: list[float], cooldown: float = 30) -> None:
        self.health = Health(Rules(failures_before_cooldown=1, cooldown=cooldown))
        self.sharing = CooldownSharing(self.health, lambda: now[0], board=board)
        self.now = now

    def fail(self, model: str = "m") -> None:
        turn = self.health.begin("a", model, self.now[0])
        assert turn is not None
        self.health.failed(turn, self.now[0], "timeout")

    def standing(self, model: str = "m") -> object:
        return self.health.standing("a", model, self.now[0])


@pytest.fixture
def board() -> CooldownBoard:
    return CooldownBoard(ProcessLock())


def test_a_rest_and_its_end_reach_the_siblings(board: CooldownBoard) -> None:
    now = [100.0]
    one, other = Worker(board, now), Worker(board, now)
    one.fail()
    one.sharing.look()
    now[0] = 101
    other.sharing.look()
    assert other.standing() == Cooling(130, "of 1 failure in a row, last: timeout")
    now[0] = 131
    probe = other.health.begin("a", "m", 131)
    assert probe is not None
    other.health.succeeded(probe)
    other.sharing.look()
    one.sharing.look()
    assert one.standing() == Ready()


def test_of_two_probes_the_later_one_decides_for_both(board: CooldownBoard) -> None:
    now = [100.0]
    one, other = Worker(board, now), Worker(board, now)
    one.fail()
    one.sharing.look()
    other.sharing.look()
    now[0] = 131
    good = one.health.begin("a", "m", 131)
    now[0] = 131.1
    bad = other.health.begin("a", "m", 131.1)
    assert good is not None
    assert bad is not None
    one.health.succeeded(good)
    other.health.failed(bad, 131.1, "timeout")
    for worker in (one, other, one, other):
        worker.sharing.look()
    assert isinstance(one.standing(), Cooling)
    assert isinstance(other.standing(), Cooling)


def test_one_that_begins_later_hears_of_it_too(board: CooldownBoard) -> None:
    now = [100.0]
    one = Worker(board, now)
    one.fail()
    one.fail("n")
    one.sharing.look()
    now[0] = 120
    late = Worker(board, now)
    late.sharing.look()
    assert isinstance(late.standing(), Cooling)
    assert isinstance(late.standing("n"), Cooling)
    now[0] = 131
    later = Worker(board, now)
    later.sharing.look()
    assert later.standing() == Ready(), "a rest that is over is none"


def test_a_rest_heard_of_lasts_an_hour_at_most(board: CooldownBoard) -> None:
    now = [100.0]
    one, other = Worker(board, now, cooldown=86_400), Worker(board, now)
    one.fail()
    one.sharing.look()
    other.sharing.look()
    standing = other.standing()
    assert isinstance(standing, Cooling)
    assert standing.until == 100 + LONGEST_REST


async def test_what_a_node_does_not_know_is_left_out(board: CooldownBoard) -> None:
    now = [100.0]
    one, other = Worker(board, now), Worker(board, now)
    other.sharing.open(lambda channel, model: model == "known")
    one.fail("unknown")
    one.fail("known")
    one.sharing.look()
    other.sharing.look()
    await other.sharing.close()
    assert other.standing("unknown") == Ready()
    assert isinstance(other.standing("known"), Cooling)


async def test_it_looks_by_itself_and_tells_the_rest_at_the_end(board: CooldownBoard) -> None:
    now = [100.0]
    one, other = Worker(board, now), Worker(board, now)
    one.fail()
    one.sharing.open(lambda channel, model: True)
    await asyncio.sleep(0)
    other.sharing.look()
    assert isinstance(other.standing(), Cooling)
    one.fail("n")
    await one.sharing.close()
    other.sharing.look()
    assert isinstance(other.standing("n"), Cooling)


async def test_alone_there_is_nothing_to_do() -> None:
    sharing = CooldownSharing(Health(Rules()), lambda: 0.0)
    sharing.open(lambda channel, model: True)
    sharing.look()
    await sharing.close()


def test_a_spoilt_notice_is_told_and_skipped(board: CooldownBoard, caplog: pytest.LogCaptureFixture) -> None:
    now = [100.0]
    one, other = Worker(board, now), Worker(board, now)
    board.post(b"\xff\x00garbage")
    one.fail()
    one.sharing.look()
    with caplog.at_level(logging.WARNING):
        other.sharing.look()
    assert isinstance(other.standing(), Cooling)
    assert "could not be read" in caplog.text


def test_long_words_are_cut_and_names_too_long_are_not_shared(board: CooldownBoard) -> None:
    now = [100.0]
    one, other = Worker(board, now), Worker(board, now)
    turn = one.health.begin("a", "m", 100)
    assert turn is not None
    one.health.failed(turn, 100, "w" * 10_000)
    turn = one.health.begin("a" * 9000, "m", 100)
    assert turn is not None
    one.health.failed(turn, 100, "timeout")
    one.sharing.look()
    other.sharing.look()
    assert isinstance(other.standing(), Cooling)
    assert other.health.standing("a" * 9000, "m", 100) == Ready()
