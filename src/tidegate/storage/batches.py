"""What the writer's thread does: batch after batch, and to the disk while the database is away."""

import asyncio
import logging
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from functools import partial

from tidegate.exchange.ports import RequestRecord
from tidegate.ledger.entries import Answer, Exhausted, Granted, Short, Unavailable
from tidegate.storage.checkpoints import note
from tidegate.storage.database import DatabaseUnusable, passes, reason
from tidegate.storage.items import Entry, Job, Noted, Release, Row, Ticket
from tidegate.storage.news import News
from tidegate.storage.probe import Probe
from tidegate.storage.refuge import Refuge
from tidegate.storage.scribe import Scribe
from tidegate.storage.waiting import Taken, Waiting

log = logging.getLogger("tidegate.storage")

PACE = 0.003
"""Seconds at least between two batches while holds come fast: some share one transaction then."""

_LONGEST_PACE = 0.008


def pace_of(workers: int) -> float:
    """The pace of each of so many writers on one machine.

    A transaction costs the same however little is in it, and more when another process wrote last: all
    writers together should make as many as one would.
    """
    return min(PACE * workers, _LONGEST_PACE)


AWAY = Unavailable("the database is away", 1.0)

_CHECKPOINTS_AT_ONCE = 256
_CHECKPOINTS_WAIT = 0.15
"""Seconds for which checkpoints let everything else go first; under a full load there is always something."""

_QUICK = 0.5
_PATIENCE = 0.25


class Batches:
    """The work of the writer's thread. Other threads only read its counts and flags."""

    def __init__(
        self,
        waiting: Waiting,
        scribe: Scribe,
        refuge: Refuge | None,
        probe: Callable[[Callable[[], None]], Probe],
        pause: float = PACE,
    ) -> None:
        """`probe` starts to look whether the database is back, and calls what it is given when it is.

        `pause` is how many seconds lie at least between two batches with holds.
        """
        self._waiting = waiting
        self._scribe = scribe
        self._refuge = refuge
        self._new_probe = probe
        self._probe: Probe | None = None
        self._parked: list[Job] = []
        self._pause = pause
        self._not_before = 0.0
        self._failing_since = 0.0
        self._unkept = False
        self._news, self._disk_news = News(), News()
        self._lost = 0
        self.busy_since: float | None = None
        """Since when (monotonic) a batch is at the database; None: none is."""
        self.in_hand: Sequence[Entry] = ()
        """The entries of that batch, or of the last."""
        self.asking: Sequence[Ticket] = ()
        """The holds of that batch."""
        self.noting: Sequence[RequestRecord] = ()
        """The checkpoints that are on their way to the database."""

    @property
    def away(self) -> bool:
        """Whether the database failed and has not been written since."""
        return self._probe is not None

    def interrupt(self, longer_than: float) -> None:
        """Break off what has been at the database for that many seconds. From any thread."""
        since = self.busy_since
        if since is not None and time.monotonic() - since > longer_than:
            self._scribe.interrupt()

    @property
    def dropped(self) -> int:
        """Rows that came to nothing on this thread."""
        unfit = 0 if self._refuge is None else self._refuge.unfit
        return self._lost + self._scribe.dropped + unfit

    def run(self) -> None:
        """Until closed and, if the database answers, all is written."""
        waiting = self._waiting
        while waiting.anything() or not waiting.closing.is_set():
            waiting.wait(_PATIENCE if self.away else None)
            self._pace()
            try:
                self._work()
            except Exception:
                log.exception("journal: unexpected error")  # the thread must live on for what follows
            if self.away and waiting.closing.is_set():
                break
        self._give_up()
        self._scribe.disconnect()

    def _pace(self) -> None:
        """Wait a moment if the last batch was just now: what comes meanwhile shares the next one."""
        pause = self._not_before - time.monotonic()
        if pause > 0:
            time.sleep(pause)

    def _work(self) -> None:
        self._news.look()
        self._disk_news.look()
        if self._probe is not None and self._probe.succeeded:
            self._come_back()
        while not self.away and (self._waiting.anything() or self._is_on_disk()):
            if self._is_on_disk():
                self._empty_refuge()
            self._write_some()
            self._pace()
        if self.away:
            self._set_aside()
            return
        for job in self._parked:  # what they wait for may have waited in memory too
            job.done.set_result(None)
        self._parked.clear()

    def _is_on_disk(self) -> bool:
        return self._refuge is not None and self._refuge.used

    def _write_some(self) -> None:
        """One batch: rows and holds in one transaction, then a job; checkpoints if nothing else is there."""
        taken = self._waiting.take()
        job = taken.job
        if taken.entries or taken.holds:
            self._write(taken)
        since = self._waiting.checkpoints_since()
        idle = job is None and not taken.entries and not taken.holds
        if since is not None and not self.away and (idle or time.monotonic() - since > _CHECKPOINTS_WAIT):
            self._write_checkpoints()
        if job is not None:
            self._do(job)

    def _write(self, taken: Taken) -> None:
        entries, tickets = taken.entries, taken.holds
        wanted = [ticket.wanted for ticket in tickets]
        self.in_hand, self.asking = entries, tickets
        self.busy_since = began = time.monotonic()
        try:
            try:
                answers = self._scribe.write(entries, wanted)
            except Exception as error:
                # A connection may have died while nobody used it, or two transactions locked each other out.
                if not passes(error) or time.monotonic() - began > _QUICK:
                    raise
                answers = self._scribe.write(entries, wanted)
        except Exception as error:
            self.busy_since = None
            self._go_away(error)
            self._waiting.queue.extendleft(reversed(entries))
            self._answer_without(tickets, unclear=True)
        else:
            self.busy_since, self.in_hand, self.asking = None, (), ()
            if tickets:
                self._not_before = time.monotonic() + self._pause
            answered = list(zip(tickets, answers, strict=True))
            if taken.left:
                refused = [ticket for ticket, said in answered if isinstance(said, Short | Exhausted)]
                self._waiting.ask_again(refused)
                answered = [one for one in answered if one[0] not in refused]
            answer(answered)

    def _do(self, job: Job) -> None:
        if not job.done.set_running_or_notify_cancel():
            return
        if self.away:
            self._put_off(job)
            return
        self.busy_since = time.monotonic()
        try:
            job.done.set_result(None if job.task is None else self._scribe.do(job.task))
        except Exception as error:
            job.done.set_exception(error)
        finally:
            self.busy_since = None

    def _write_checkpoints(self) -> None:
        self.noting = records = self._waiting.take_checkpoints()
        for start in range(0, len(records), _CHECKPOINTS_AT_ONCE):
            part = records[start : start + _CHECKPOINTS_AT_ONCE]
            self.busy_since = time.monotonic()
            try:
                self._scribe.do(partial(note, records=part))
                if self._refuge is not None and self._refuge.used:
                    self._refuge.supersede(part)
            except Exception as error:
                if passes(error):
                    self._go_away(error)
                    self._keep_checkpoints(records)
                    return
                log.warning("books: checkpoints are left out once: %s", reason(error))
            finally:
                self.busy_since = None
            if self._waiting.queue or self._waiting.holds:
                self._write_holds_between()
        self.noting = ()

    def _write_holds_between(self) -> None:
        taken = self._waiting.take()
        self._write(taken)
        if taken.job is not None:
            self._do(taken.job)

    # While the database is away.

    def _go_away(self, error: Exception) -> None:
        if self._probe is None:
            self._failing_since = time.monotonic()
            self._news.say(
                logging.WARNING,
                f"journal: the database cannot be written, rows are kept and tried again: {reason(error)}",
            )
        self._probe = self._new_probe(self._waiting.rush)

    def _answer_without(self, tickets: Iterable[Ticket], *, unclear: bool) -> None:
        """Grant on credit what can be; `unclear`: the holds may have been written all the same."""
        granted = [ticket for ticket in tickets if ticket.on_credit]
        refused = [ticket for ticket in tickets if not ticket.on_credit]
        noted = [Noted(ticket.wanted) for ticket in granted]
        if noted and not self._keep(noted):
            self._waiting.queue.extend(noted)
        if unclear:
            self._waiting.queue.extend(Release(ticket.wanted.id, ticket.wanted.account) for ticket in refused)
        answer(
            [
                *((ticket, Granted(ticket.wanted.wish.amount)) for ticket in granted),
                *((ticket, AWAY) for ticket in refused),
            ]
        )

    def _set_aside(self) -> None:
        """Put what waits on the disk, and answer the holds."""
        self._answer_without(self._waiting.take_holds(), unclear=False)
        records = self._waiting.take_checkpoints()
        if records:
            self._keep_checkpoints(records)
        for _ in range(len(self._waiting.queue)):
            entries, job = self._waiting.take_entries()
            if job is not None and job.done.set_running_or_notify_cancel():
                self._put_off(job)
            if not entries and job is None:
                return
            if entries and not self._keep(entries):
                self._waiting.queue.extendleft(reversed(entries))
                return

    def _put_off(self, job: Job) -> None:
        if job.task is None:
            self._parked.append(job)
        else:
            job.done.set_exception(DatabaseUnusable("the database is away"))

    def _keep(self, entries: Sequence[Entry]) -> bool:
        if self._refuge is None:
            return False
        try:
            self._refuge.keep(entries)
        except OSError as error:
            if not self._unkept:
                words = f"journal: the spool cannot be written, rows are kept in memory: {error}"
                self._disk_news.say(logging.ERROR, words)
            self._unkept = True
            return False
        self._unkept = False
        return True

    def _keep_checkpoints(self, records: Sequence[RequestRecord]) -> None:
        if self._refuge is not None:
            try:
                self._refuge.note(records)
            except OSError as error:
                self._disk_news.say(logging.WARNING, f"books: checkpoints cannot be kept: {error}")

    def _come_back(self) -> None:
        self._probe = None
        if self._empty_refuge():
            self._tell_recovery()

    def _empty_refuge(self) -> bool:
        """Write what waits on the disk; new holds and rows are served in between. False: away again."""
        refuge = self._refuge
        while refuge is not None and refuge.used:
            seen = refuge.changes
            for entries in refuge.batches():
                self._write_again(entries)
                if not self.away and self._waiting.holds:
                    self._write_some()
                if self.away:
                    return False
            if not self._finish_checkpoints(refuge):
                return False
            refuge.clear(seen)  # not if more has come to it meanwhile
        return True

    def _write_again(self, entries: Sequence[Entry]) -> None:
        """Entries that stay on the disk until all of it is written."""
        self.in_hand, self.asking = (), ()
        self.busy_since = time.monotonic()
        try:
            self._scribe.write(entries, [])
        except Exception as error:
            self._go_away(error)
        finally:
            self.busy_since = None

    def _finish_checkpoints(self, refuge: Refuge) -> bool:
        try:
            self._scribe.do(partial(note, records=refuge.records))
        except Exception as error:
            self._go_away(error)
            return False
        return True

    def _give_up(self) -> None:
        """The process ends: what neither the database nor the disk has taken is lost."""
        if self.away:
            self._set_aside()
        if self._probe is not None:
            self._probe.stop()
        why = "the database is away"
        rest = list(self._waiting.queue)
        self._waiting.queue.clear()
        waiting = [one for one in rest if isinstance(one, Job) and one.done.set_running_or_notify_cancel()]
        for job in (*waiting, *self._parked):
            job.done.set_exception(DatabaseUnusable(why))
        lost = sum(isinstance(one, Row) for one in rest)
        if lost:
            self._lost += lost
            log.error("journal: %d rows are lost: %s", lost, why)

    def _tell_recovery(self) -> None:
        seconds = time.monotonic() - self._failing_since
        words = f"journal: the database is written again after {seconds:.1f} s; rows lost: {self.dropped}"
        self._news.say(logging.WARNING, words)


def answer(answers: Iterable[tuple[Ticket, Answer]]) -> None:
    """Tell those who wait, all with one call into the event loop."""
    pairs = list(answers)
    if pairs:
        with suppress(RuntimeError):  # the loop is closed: nobody waits any more
            _loop(pairs).call_soon_threadsafe(_resolve, pairs)


def _loop(pairs: Sequence[tuple[Ticket, Answer]]) -> asyncio.AbstractEventLoop:
    return pairs[0][0].answer.get_loop()


def _resolve(pairs: Sequence[tuple[Ticket, Answer]]) -> None:
    for ticket, told in pairs:
        if not ticket.answer.done():
            ticket.answer.set_result(told)
