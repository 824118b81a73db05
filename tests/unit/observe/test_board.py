import os

import pytest

from tidegate.observe import board as board_module
from tidegate.observe.board import CountsBoard
from tidegate.observe.counts import Counts
from tidegate.observe.figures import LOST, OPEN_REQUESTS


def counts(number: int) -> Counts:
    return {LOST.name: {(): [number]}, OPEN_REQUESTS.name: {(): [number]}}


def test_each_reads_what_all_have_posted() -> None:
    board = CountsBoard(3)
    assert board.all() == [{}, {}, {}]
    board.post(0, counts(1))
    board.post(2, counts(2))
    board.post(2, counts(3))
    assert board.all() == [counts(1), {}, counts(3)]


def test_who_is_gone_counts_no_more_but_what_he_counted_does() -> None:
    board = CountsBoard(2)
    board.post(0, counts(1))
    board.post(1, counts(2))
    board.leave(1)
    assert board.all() == [counts(1), {LOST.name: {(): [2]}}]
    assert board.inherited(1) == {LOST.name: {(): [2]}}
    assert board.inherited(0) == {LOST.name: {(): [1]}}


def test_who_dies_is_counted_and_who_leaves_is_not() -> None:
    board = CountsBoard(2)
    board.post(0, counts(1))
    board.bury(0)
    assert board.all() == [{LOST.name: {(): [1]}}, {}]
    board.post(0, counts(2))
    board.leave(0)
    board.bury(0)
    assert (board.deaths(0), board.deaths(1)) == (1, 0)


def test_processes_share_the_board() -> None:
    board = CountsBoard(2)
    pid = os.fork()
    if pid == 0:
        board.post(1, counts(4))
        os._exit(0)
    assert os.waitpid(pid, 0)[1] == 0
    assert board.all()[1] == counts(4)


def test_a_writer_that_dies_while_it_writes_leaves_the_page_before() -> None:
    board = CountsBoard(1)
    for number in (1, 2, 3):
        board.post(0, counts(number))
    turn = board._words[1]
    begin = board._begin(0, turn + 1)
    board._memory[begin : begin + 64] = b"\xff" * 64
    assert board.all() == [counts(3)]


def test_a_page_that_is_written_over_while_it_is_read_is_not_believed() -> None:
    board = CountsBoard(1)
    board.post(0, counts(1))
    assert board.all() == [counts(1)]
    begin = board._begin(0, board._words[1])
    board._memory[begin + 20] ^= 0xFF
    assert board.all() == [counts(1)]  # what was read last


def test_what_has_no_room_is_left_out_and_told_once(caplog: pytest.LogCaptureFixture) -> None:
    board = CountsBoard(1, room=128)
    board.post(0, counts(1))
    for _ in range(2):
        board.post(0, {LOST.name: {("x" * 200,): [1]}})
    assert board.all() == [counts(1)]
    assert [line.name for line in caplog.records] == [board_module.__name__]


def test_a_sum_may_grow_beyond_64_bits() -> None:
    board = CountsBoard(1)
    board.post(0, {LOST.name: {(): [2**70]}})
    assert board.all() == [{LOST.name: {(): [float(2**70)]}}]
