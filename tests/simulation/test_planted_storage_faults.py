"""Faults that are put into the storage on purpose: the seeds that play the real one find each."""

from typing import Any

import pytest
from tests.simulation.run import Broken, play
from tests.simulation.scenario import REAL_EVERY
from tests.simulation.test_planted_faults import Plant

from tidegate.storage import recovery
from tidegate.storage.accounting import Accounting
from tidegate.storage.booking import Booking
from tidegate.storage.books import DatabaseBooks
from tidegate.storage.recovery import Recovery
from tidegate.storage.refuge import Refuge
from tidegate.storage.watch import Watch

SEEDS = 2_500


def open_holds_are_forgotten(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Recovery, "_end_all", lambda self, scribe, owner: 0)


def the_spool_of_the_dead_is_not_read(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(recovery, "batches", lambda path, sheets: iter(()))


def nothing_is_kept_while_the_database_is_away(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Refuge, "keep", lambda self, entries: None)


def checkpoints_are_left_out(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(DatabaseBooks, "checkpoint", lambda self, records: None)


def nobody_looks_after_what_waits(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Watch, "save", lambda self: None)


def the_rest_of_a_hold_is_kept(patch: pytest.MonkeyPatch) -> None:
    end = Booking.end

    def faulty(self: Booking, held: Any, cost: int) -> None:
        end(self, held, max(cost, held.amount // 2))

    patch.setattr(Booking, "end", faulty)


def a_row_written_again_is_charged_again(patch: pytest.MonkeyPatch) -> None:
    exactly = Accounting._end_exactly

    def faulty(self: Accounting, booking: Booking, batch: Any) -> None:
        exactly(self, booking, batch)
        self._close(booking, [record for record in batch.records if record.account], {})

    patch.setattr(Accounting, "_end_exactly", faulty)


PLANTS: tuple[Plant, ...] = (
    open_holds_are_forgotten,
    the_spool_of_the_dead_is_not_read,
    nothing_is_kept_while_the_database_is_away,
    checkpoints_are_left_out,
    nobody_looks_after_what_waits,
    the_rest_of_a_hold_is_kept,
    a_row_written_again_is_charged_again,
)


@pytest.mark.parametrize("plant", PLANTS, ids=lambda plant: plant.__name__)
def test_a_planted_fault_is_found(plant: Plant, monkeypatch: pytest.MonkeyPatch) -> None:
    plant(monkeypatch)
    with pytest.raises(Broken):
        for seed in range(REAL_EVERY, SEEDS, REAL_EVERY):
            play(seed)
