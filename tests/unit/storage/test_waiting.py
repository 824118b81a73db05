"""What the writer takes for one batch, whatever comes while it takes it."""

import asyncio
from concurrent.futures import Future

import pytest

from tidegate.ledger.books import Wish
from tidegate.ledger.entries import Answer
from tidegate.storage import waiting as waiting_module
from tidegate.storage.booking import Wanted
from tidegate.storage.items import Entry, Job, Release, Ticket
from tidegate.storage.waiting import Waiting


def ticket(number: int) -> Ticket:
    wish = Wish(amount=100, least=100, prepaid=True)
    wanted = Wanted(id=f"req_{number:05}", account="acme", key=None, wish=wish, budgets=(), record="", at=0)
    return Ticket(wanted, asyncio.get_running_loop().create_future(), 0.0, on_credit=False)


def ending(number: int) -> Release:
    return Release(f"req_{number:05}", "acme")


async def test_a_hold_is_not_taken_without_what_was_freed_before_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A caller has its answer and asks again while the writer is between its two looks."""
    waiting = Waiting(0.0)
    take_entries = waiting.take_entries
    first, next_ = ticket(1), ticket(2)

    def meanwhile() -> tuple[list[Entry], Job | None]:
        taken = take_entries()
        waiting.queue.append(ending(1))
        waiting.holds.append(next_)
        return taken

    waiting.holds.append(first)
    with monkeypatch.context() as patch:
        patch.setattr(waiting, "take_entries", meanwhile)
        taken = waiting.take()
    assert (taken.entries, taken.holds, taken.left) == ([], [first], False)
    taken = waiting.take()
    assert (taken.entries, taken.holds, taken.left) == ([ending(1)], [next_], False)


async def test_a_hold_that_is_given_up_while_it_waits_is_not_taken_with_its_release() -> None:
    waiting = Waiting(0.0)
    given_up, wanted = ticket(1), ticket(2)
    waiting.holds.extend([given_up, wanted])
    given_up.abandoned = True
    waiting.queue.append(ending(1))
    taken = waiting.take()
    assert (taken.entries, taken.holds) == ([ending(1)], [wanted])


async def test_entries_behind_a_job_or_a_full_batch_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(waiting_module, "_LONGEST_BATCH", 2)
    waiting = Waiting(0.0)
    done: Future[Answer] = Future()
    job, hold = Job(None, done), ticket(9)
    waiting.queue.extend([ending(1), job, ending(2), ending(3), ending(4)])
    waiting.holds.append(hold)
    taken = waiting.take()
    assert taken == ([ending(1)], job, [hold], True)
    waiting.ask_again([hold, ticket(10)])
    taken = waiting.take()
    assert (taken.entries, taken.holds[0], taken.left) == ([ending(2), ending(3)], hold, True)
    taken = waiting.take()
    assert (taken.entries, taken.holds, taken.left) == ([ending(4)], [], False)
