"""What the event loop hands to the writer's thread, and where it waits."""

import threading
import time
from collections import deque
from collections.abc import Sequence
from typing import NamedTuple

from tidegate.exchange.ports import RequestRecord
from tidegate.storage.items import Entry, Job, Ticket

_LONGEST_BATCH = 512


class Taken(NamedTuple):
    """What makes one batch."""

    entries: list[Entry]
    job: Job | None
    holds: list[Ticket]
    left: bool
    """Whether entries may wait still that came before these holds."""


class Waiting:
    """What the event loop hands to the writer's thread."""

    def __init__(self, window: float) -> None:
        """`window` is how many seconds rows are gathered."""
        self.queue: deque[Entry | Job] = deque()
        self.holds: deque[Ticket] = deque()
        self.checkpoints: deque[tuple[float, Sequence[RequestRecord]]] = deque()
        self.closing = threading.Event()
        self._window = window
        self._wake = threading.Event()
        self._hurry = threading.Event()

    def nudge(self) -> None:
        """Something has come that can wait for the window."""
        if not self._wake.is_set():
            self._wake.set()

    def rush(self) -> None:
        """Something has come that cannot wait."""
        if not self._hurry.is_set():
            self._hurry.set()
        if not self._wake.is_set():
            self._wake.set()

    def anything(self) -> bool:
        """Whether there is something to do."""
        return bool(self.queue or self.holds or self.checkpoints)

    def wait(self, longest: float | None = None) -> None:
        """Return when something has come and its window is over, or after `longest` seconds."""
        self._wake.wait(longest)
        self._wake.clear()
        self._hurry.wait(self._window)
        self._hurry.clear()

    def take_entries(self) -> tuple[list[Entry], Job | None]:
        """The entries up to the next job or the longest batch, and that job."""
        entries: list[Entry] = []
        while len(entries) < _LONGEST_BATCH and self.queue:
            match self.queue.popleft():
                case Job() as job:
                    return entries, job
                case entry:
                    entries.append(entry)
        return entries, None

    def take(self) -> Taken:
        """Entries, the job that follows them, and the holds that came before this was asked.

        A caller whose request has ended asks for its next hold at once: the freed hold must be written with
        it or before it. So what comes between the two looks waits, and a refusal is not final while entries
        are left.
        """
        before = len(self.holds)
        entries, job = self.take_entries()
        left = job is not None or len(entries) == _LONGEST_BATCH
        # After the entries: a hold whose release is among them is not taken.
        return Taken(entries, job, self.take_holds(before), left)

    def take_holds(self, most: int = _LONGEST_BATCH) -> list[Ticket]:
        """The first holds that wait, without those that nobody wants any more."""
        tickets: list[Ticket] = []
        for _ in range(min(most, _LONGEST_BATCH)):
            try:
                ticket = self.holds.popleft()
            except IndexError:
                break
            if not ticket.abandoned:
                tickets.append(ticket)
        return tickets

    def ask_again(self, tickets: Sequence[Ticket]) -> None:
        """Put holds back in front of the others."""
        self.holds.extendleft(reversed(tickets))

    def add_checkpoints(self, records: Sequence[RequestRecord]) -> None:
        """What open requests have used. Each look tells only of those that said something since the last."""
        self.checkpoints.append((time.monotonic(), records))

    def checkpoints_since(self) -> float | None:
        """Since when (monotonic) the oldest of them waits; None: none does."""
        try:
            return self.checkpoints[0][0]
        except IndexError:
            return None

    def take_checkpoints(self) -> list[RequestRecord]:
        """The newest record of each request."""
        newest: dict[str, RequestRecord] = {}
        while self.checkpoints:
            _, records = self.checkpoints.popleft()
            newest.update((record.id, record) for record in records)
        return list(newest.values())

    def take_all_entries(self) -> list[Entry]:
        """All entries; jobs stay. May be called beside the writer's thread."""
        entries: list[Entry] = []
        jobs: list[Job] = []
        for _ in range(len(self.queue)):
            try:
                one = self.queue.popleft()
            except IndexError:  # the writer's thread was quicker
                break
            if isinstance(one, Job):
                jobs.append(one)
            else:
                entries.append(one)
        self.queue.extendleft(reversed(jobs))
        return entries

    def take_holds_on_credit(self) -> list[Ticket]:
        """The holds that need no database; the others stay. May be called beside the writer's thread."""
        taken: list[Ticket] = []
        others: list[Ticket] = []
        for _ in range(len(self.holds)):
            try:
                ticket = self.holds.popleft()
            except IndexError:  # the writer's thread was quicker
                break
            (taken if ticket.on_credit else others).append(ticket)
        self.holds.extendleft(reversed(others))
        return [ticket for ticket in taken if not ticket.abandoned]
