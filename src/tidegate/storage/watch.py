"""Looks after a batch that hangs: puts on the disk what waits in memory, and breaks the batch off."""

import logging
import threading
import time
from collections.abc import Sequence

from tidegate.exchange.ports import RequestRecord
from tidegate.ledger.entries import Granted
from tidegate.storage.batches import Batches, answer
from tidegate.storage.items import Entry, Noted, Ticket
from tidegate.storage.refuge import Refuge
from tidegate.storage.waiting import Waiting

log = logging.getLogger("tidegate.storage")

PATIENCE = 0.15
"""Seconds for which what waits for a batch may be in memory alone: a kill would lose it."""

HANGS = 1.5
"""Seconds after which a batch is broken off, so that holds still get a true answer in time."""

_LOOK = 0.1
_FULL_DISK = 1.0


class Watch:
    """A thread of its own: the writer's is the one that hangs, and the event loop may wait for that.

    The writer finds what was put there as soon as its batch has ended, and writes it, for the second
    time where the batch was good: to write an entry twice changes nothing.
    """

    def __init__(self, waiting: Waiting, batches: Batches, refuge: Refuge | None) -> None:
        """Without a `refuge` nothing is put on the disk."""
        self._waiting = waiting
        self._batches = batches
        self._refuge = refuge
        self._kept: Sequence[Entry] = ()
        self._noted: Sequence[RequestRecord] = ()
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="tidegate-watch", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Return when nothing more is put on the disk. Blocks for a moment."""
        self._stopping.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._stopping.wait(_LOOK):
            since = self._batches.busy_since
            if since is None or time.monotonic() - since < PATIENCE:
                continue
            try:
                self._batches.interrupt(HANGS)
                if self._refuge is not None:
                    self.save(self._refuge)
            except Exception:
                log.exception("journal: unexpected error while a batch hangs")

    def save(self, refuge: Refuge) -> None:
        """Put on the disk what is not there yet, and grant the holds on credit that are there then."""
        coming = self._waiting.take_holds_on_credit()
        asked = [*self._fresh_holds(), *coming]
        batch, noting = self._batches.in_hand, self._batches.noting
        waiting = self._waiting.take_all_entries()
        noted = [Noted(ticket.wanted) for ticket in asked]
        entries = [*noted, *(batch if batch is not self._kept else ()), *waiting]
        records = [*(noting if noting is not self._noted else ()), *self._waiting.take_checkpoints()]
        try:
            if entries:
                refuge.keep(entries)
                self._kept = batch
                answer((ticket, Granted(ticket.wanted.wish.amount)) for ticket in asked)
            if records:
                refuge.note(records)
                self._noted = noting
        except OSError as error:
            log.debug("journal: the spool cannot be written: %s", error)  # the writer tells it if it must
            self._waiting.queue.extendleft(reversed(waiting))
            self._waiting.holds.extendleft(reversed(coming))
            self._waiting.add_checkpoints(records)
            self._stopping.wait(_FULL_DISK)
        # The batch may have ended while jobs and holds were in our hands: the writer saw none, and sleeps.
        self._waiting.rush()

    def _fresh_holds(self) -> list[Ticket]:
        """Those on credit in the hanging batch that have no answer yet."""
        return [
            ticket
            for ticket in self._batches.asking
            if ticket.on_credit and not ticket.abandoned and not ticket.answer.done()
        ]
