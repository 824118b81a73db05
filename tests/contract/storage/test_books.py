import asyncio
import logging
import threading
from concurrent.futures import Future

import pytest
from tests.unit.storage.stores import done, intent, moved, request, rows

from tidegate.ledger.entries import Balance, Budget, Exhausted, Granted, Short, Unavailable
from tidegate.ledger.money import MOST
from tidegate.storage.assembly import Storage, open_storage
from tidegate.storage.books import DatabaseBooks
from tidegate.storage.database import Database
from tidegate.storage.verify import verify


async def balance(storage: Storage, account: str = "acme") -> tuple[int, int]:
    await storage.journal.flush()
    found = await storage.desk.balance(account)
    return found.balance, found.held


async def test_a_hold_is_settled_and_its_rest_given_back(storage: Storage) -> None:
    assert await storage.books.hold(intent(1, 100)) == Granted(100)
    assert await balance(storage) == (1_000, 100)
    storage.journal.write(done(1, 30))
    assert await balance(storage) == (970, 0)
    assert moved(storage, "req_00001") == [
        ("hold", "available", "held", 100),
        ("settle", "held", "income", 30),
        ("release", "held", "available", 70),
    ]


async def test_what_a_hold_does_not_cover_is_charged_all_the_same(storage: Storage) -> None:
    await storage.books.hold(intent(1, 100))
    storage.journal.write(done(1, 1_300))
    assert await balance(storage) == (-300, 0)
    assert moved(storage, "req_00001")[1:] == [
        ("settle", "held", "income", 100),
        ("settle", "available", "income", 1_200),
    ]
    assert await storage.books.hold(intent(2, 1)) == Short(needed=1, available=-300, held=0)


async def test_a_request_that_costs_nothing_frees_its_hold(storage: Storage) -> None:
    await storage.books.hold(intent(1, 100))
    storage.journal.write(done(1, 0, outcome="failed"))
    assert await balance(storage) == (1_000, 0)


async def test_a_hold_takes_what_is_there_if_that_is_enough(storage: Storage) -> None:
    assert await storage.books.hold(intent(1, 900)) == Granted(900)
    assert await storage.books.hold(intent(2, 300, least=101)) == Short(needed=101, available=100, held=900)
    assert await storage.books.hold(intent(2, 300, least=100)) == Granted(100)
    assert await balance(storage) == (1_000, 1_000)


async def test_who_asks_again_at_once_finds_the_hold_freed_behind_other_work(storage: Storage) -> None:
    """A refusal waits for all that was put before the hold, a job too."""
    gate = threading.Event()
    writer = storage.journal._writer
    first = writer.do(lambda _connection: gate.wait(5))
    held = asyncio.create_task(storage.books.hold(intent(1, 900)))
    await asyncio.sleep(0)
    gate.set()
    assert await held == Granted(900)
    for number in range(1, 30):
        job = writer.do(lambda _connection: None)
        storage.journal.write(done(number, 0))
        assert await storage.books.hold(intent(number + 1, 900)) == Granted(900)
        assert job.done()
    assert first.done()


async def test_many_holds_at_once_never_overdraw(storage: Storage) -> None:
    answers = await asyncio.gather(*(storage.books.hold(intent(number, 30)) for number in range(100)))
    assert answers.count(Granted(30)) == 33
    assert {answer for answer in answers if not isinstance(answer, Granted)} == {Short(30, 10, 990)}
    assert await balance(storage) == (1_000, 990)


async def test_an_account_that_pays_later_may_owe(storage: Storage) -> None:
    for number in (1, 2):
        assert await storage.books.hold(intent(number, 100, prepaid=False, account="late")) == Granted(100)
    storage.journal.write(done(1, 40, account="late"))
    assert await balance(storage, "late") == (-40, 100)


async def test_a_row_without_a_hold_is_charged_from_what_is_available(storage: Storage) -> None:
    storage.journal.write(done(1, 7))
    storage.journal.write(done(2, 0))
    storage.journal.write(done(3, 5, account=None, key=None))  # nobody is there to pay
    assert await balance(storage) == (993, 0)
    assert moved(storage, "req_00002") == moved(storage, "req_00003") == []


async def test_whatever_comes_twice_counts_once(storage: Storage) -> None:
    assert await storage.books.hold(intent(1, 100)) == Granted(100)
    assert await storage.books.hold(intent(1, 200)) == Granted(100)
    twice = [storage.books.hold(intent(2, 50)), storage.books.hold(intent(2, 50))]
    assert await asyncio.gather(*twice) == [Granted(50), Granted(50)]
    for cost in (30, 30, 60):
        storage.journal.write(done(1, cost))
    await storage.journal.flush()
    storage.journal.write(done(1, 90))
    assert await balance(storage) == (970, 50)
    assert isinstance(await storage.books.hold(intent(1, 100)), Unavailable)
    assert await balance(storage) == (970, 50)


async def test_opening_balances_are_credited_once_ever(
    url: str, storage: Storage, caplog: pytest.LogCaptureFixture
) -> None:
    await storage.books.open_accounts([("acme", 1_000), ("beta", 5), ("free", 0)])
    again = await open_storage(url, 0)
    await again.books.open_accounts([("acme", 2_000), ("beta", 5)])
    assert await again.desk.balances() == [Balance("acme", 1_000, 0), Balance("beta", 5, 0)]
    told = [line.getMessage() for line in caplog.records if "opening balance" in line.getMessage()]
    assert [line.partition(",")[0] for line in told] == [
        "account acme: its opening balance was credited as 0.000001000 USD before"
    ]
    await again.desk.credit("rich", MOST, "gift")
    await again.books.open_accounts([("acme", 2_000), ("rich", 1)])
    assert "account rich: its opening balance would bring it above" in caplog.text
    await again.books.open_accounts([("acme", 2_000), ("rich", 1)])
    assert caplog.text.count("account rich") == 1
    assert (await again.desk.balance("rich")).balance == MOST
    assert caplog.text.count("account acme: its opening balance") == 1
    await again.close()


@pytest.mark.parametrize("scope", ["key:laptop", "account:acme"])
async def test_a_budget_counts_what_is_spent_and_held(url: str, scope: str) -> None:
    now = 1_700_000_000.0  # 2023-11-14 22:13:20 UTC
    storage = await open_storage(url, 0, clock=lambda: now)
    await storage.books.open_accounts([("acme", 10_000)])
    daily, monthly = Budget(scope, "day", 100), Budget(scope, "month", 150)
    # What was spent before there was a budget counts too.
    await storage.books.hold(intent(1, 50))
    storage.journal.write(done(1, 20))
    await storage.books.hold(intent(2, 30))
    assert await storage.books.hold(intent(3, 50, budgets=(daily, monthly))) == Granted(50)
    assert await storage.books.hold(intent(4, 50, budgets=(daily,))) == Exhausted(daily, 50, 0, 80, 6_400.0)
    storage.journal.write(done(2, 0))
    assert await storage.books.hold(intent(5, 50, least=30, budgets=(daily,))) == Granted(30)
    now += 6_400.0  # another day: its budget is whole, but for nothing that began yesterday
    storage.journal.write(done(3, 50))
    storage.journal.write(done(5, 30))
    assert await storage.books.hold(intent(6, 60, least=50, budgets=(daily, monthly))) == Granted(50)
    answer = await storage.books.hold(intent(7, 60, budgets=(daily, monthly)))
    assert answer == Exhausted(daily, 60, 50, 50, 86_400.0)
    await storage.journal.flush()
    assert verify(storage._database) is None
    await storage.close()


async def test_a_budget_of_one_key_is_not_spent_by_another(storage: Storage) -> None:
    budget = Budget("key:laptop", "month", 100)
    assert await storage.books.hold(intent(1, 90, budgets=(budget,))) == Granted(90)
    assert await storage.books.hold(intent(2, 90, key="server")) == Granted(90)
    assert await storage.books.hold(intent(3, 10, budgets=(budget,))) == Granted(10)


async def test_two_processes_share_the_balance(url: str, storage: Storage) -> None:
    other = await open_storage(url, 0)
    answers = await asyncio.gather(
        *(
            one.books.hold(intent(number, 30))
            for number in range(50)
            for one in (storage, other)
            if number % 2 == (one is other)
        )
    )
    assert answers.count(Granted(30)) == 33
    await other.close()


async def test_a_caller_that_gives_up_holds_nothing(storage: Storage) -> None:
    waiting = asyncio.ensure_future(storage.books.hold(intent(1, 100)))
    await asyncio.sleep(0)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    await storage.journal.flush()
    assert await balance(storage) == (1_000, 0)


async def kept_busy(storage: Storage) -> tuple[threading.Event, "Future[bool]"]:
    """The writer does nothing until the event is set."""
    begun, gate = threading.Event(), threading.Event()

    def wait(_: object) -> bool:
        begun.set()
        return gate.wait(10)

    busy = storage._writer.do(wait)
    assert await asyncio.to_thread(begun.wait, 10)
    return gate, busy


async def test_a_hold_granted_late_does_not_outlive_its_request(storage: Storage) -> None:
    gate, busy = await kept_busy(storage)
    books = DatabaseBooks(storage._writer, patience=0.05)
    assert await books.hold(intent(1, 100, prepaid=False, account="late")) == Granted(100)
    storage.journal.write(done(1, 40, account="late"))
    gate.set()
    assert await asyncio.wrap_future(busy)
    assert await balance(storage, "late") == (-40, 0)
    settled = [amount for kind, _, _, amount in moved(storage, "req_00001") if kind == "settle"]
    assert settled == [40], "with its hold or without"


async def test_a_hold_granted_late_stands_while_its_request_runs(storage: Storage) -> None:
    gate, busy = await kept_busy(storage)
    books = DatabaseBooks(storage._writer, patience=0.05)
    assert await books.hold(intent(1, 100, prepaid=False, account="late")) == Granted(100)
    gate.set()
    assert await asyncio.wrap_future(busy)
    assert await balance(storage, "late") == (0, 100)
    storage.journal.write(done(1, 40, account="late"))
    assert await balance(storage, "late") == (-40, 0)


async def test_a_checkpoint_replaces_the_record_of_an_open_request(storage: Storage) -> None:
    await storage.books.hold(intent(1, 100))
    await storage.books.hold(intent(2, 100))
    storage.journal.write(done(2, 10))
    storage.books.checkpoint([request(1, cost=5, output_tokens=77), request(2, cost=6), request(3, cost=7)])
    await storage.journal.flush()
    found: list[tuple[object, ...]] = []
    for _ in range(100):
        found = rows(storage._database, "SELECT id, record FROM intents")
        if '"output_tokens":77' in str(found):
            break
        await asyncio.sleep(0.01)
    assert [(row[0], '"output_tokens":77' in str(row[1])) for row in found] == [("req_00001", True)]


async def test_a_record_that_no_text_can_hold_gets_its_hold_too(storage: Storage) -> None:
    assert await storage.books.hold(intent(1, 100, model="a\ud800")) == Granted(100)
    storage.journal.write(done(1, 10, model="a\ud800"))
    assert await balance(storage) == (990, 0)


async def test_absurd_costs_are_cut_and_harm_no_other_row(storage: Storage) -> None:
    storage.journal.write(done(1, 2**70, account="rich"))
    storage.journal.write(done(2, -5))
    storage.journal.write(done(3, 5))
    assert await balance(storage) == (995, 0)
    assert await balance(storage, "rich") == (-(10**18), 0)
    assert rows(storage._database, "SELECT cost FROM requests ORDER BY seq") == [(10**18,), (0,), (5,)]


async def test_a_row_that_is_refused_takes_no_hold_with_it(
    storage: Storage, caplog: pytest.LogCaptureFixture
) -> None:
    storage.journal.write(done(1, 5, status=None))  # no column takes it
    assert await storage.books.hold(intent(2, 10)) == Granted(10)
    assert storage.lost == 1
    assert [entry.levelno for entry in caplog.records] == [logging.ERROR]


async def test_a_row_is_charged_when_its_hold_belongs_to_another_process(url: str, storage: Storage) -> None:
    other = await open_storage(url, 0)
    await other.books.hold(intent(1, 100))
    storage.journal.write(done(1, 30))
    assert await balance(storage) == (970, 0)
    other.journal.write(done(1, 60))
    assert await balance(other) == (970, 0)
    await other.close()
    assert verify(Database(url)) is None
