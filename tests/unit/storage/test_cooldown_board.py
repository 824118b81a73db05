"""Notices are read by everybody, in order, and the oldest give way."""

import os
import struct

import pytest

from tidegate.storage.cooldown_board import NOTICES, CooldownBoard
from tidegate.storage.process_lock import ProcessLock


@pytest.fixture
def board() -> CooldownBoard:
    return CooldownBoard(ProcessLock())


def test_notices_are_read_once_and_in_order(board: CooldownBoard) -> None:
    assert board.since(0) == ([], 0)
    assert board.post(b"one")
    assert board.post(b"two")
    notices, number = board.since(0)
    assert notices == [b"one", b"two"]
    board.post(b"three")
    assert board.since(number) == ([b"three"], 3)
    assert board.since(0)[0] == [b"one", b"two", b"three"], "a process that comes later reads all"


def test_the_oldest_give_way(board: CooldownBoard) -> None:
    for number in range(NOTICES + 5):
        board.post(b"%d" % number)
    notices, number = board.since(2)
    assert (len(notices), notices[0], number) == (NOTICES, b"5", NOTICES + 5)


def test_another_process_reads_them(board: CooldownBoard) -> None:
    pid = os.fork()
    if pid == 0:
        board.post(b"from the child")
        os._exit(0)
    os.waitpid(pid, 0)
    assert board.since(0)[0] == [b"from the child"]


def test_what_is_too_long_is_not_put_up(board: CooldownBoard) -> None:
    assert not board.post(b"x" * 5000)
    assert board.since(0) == ([], 0)


def test_spoilt_memory_is_survived(board: CooldownBoard) -> None:
    board.post(b"one")
    struct.pack_into("=I", board._memory, 8, 2**31)
    notices, _ = board.since(0)
    assert len(notices) == 1
    assert board.since(99)[1] == 1, "a number that was never reached begins anew"
    board.close()
