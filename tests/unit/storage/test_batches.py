"""How often the writer begins a transaction."""

import pytest

from tidegate.storage.batches import PACE, pace_of


def test_a_process_that_is_alone_keeps_the_pace() -> None:
    assert pace_of(1) == PACE


def test_two_writers_together_begin_as_many_transactions_as_one() -> None:
    assert 2 / pace_of(2) == pytest.approx(1 / PACE)


def test_a_request_does_not_wait_long_for_its_hold_however_many_there_are() -> None:
    assert pace_of(64) == pace_of(32) < 0.01
