import asyncio
from functools import partial
from pathlib import Path

import pytest
from tests.unit.storage.stores import done, intent

from tidegate.ledger.entries import Balance, Posting
from tidegate.ledger.money import MOST
from tidegate.ledger.refusals import (
    BalanceTooLarge,
    LedgerRefusal,
    ReferenceTaken,
    RefundRefused,
    RefundTooLarge,
)
from tidegate.storage import ledger_desk
from tidegate.storage.assembly import Storage
from tidegate.storage.database import Database, DatabaseUnusable
from tidegate.storage.ledger_desk import LedgerFile, Refund


async def test_a_credit_is_booked_once(storage: Storage) -> None:
    assert await storage.desk.credit("acme", 500, "invoice-1") is True
    assert await storage.desk.credit("acme", 500, "invoice-1") is False
    assert await storage.desk.credit("beta", 1, "invoice-2") is True
    assert await storage.desk.balances() == [Balance("acme", 1_500, 0), Balance("beta", 1, 0)]
    assert await storage.desk.balance("nobody") == Balance("nobody", 0, 0)


async def test_a_reference_stands_for_one_payment(storage: Storage) -> None:
    assert await storage.desk.credit("acme", 500, "invoice-1")
    for account, amount in (("acme", 501), ("beta", 500)):
        with pytest.raises(ReferenceTaken, match=r"0\.000000500 USD to acme already"):
            await storage.desk.credit(account, amount, "invoice-1")
    assert await storage.desk.balances() == [Balance("acme", 1_500, 0)]


async def test_refunds_at_the_same_time_never_pay_back_too_much(storage: Storage) -> None:
    for number, account in ((1, "acme"), (2, "beta")):
        await storage.books.hold(intent(number, 100, account=account, prepaid=False))
        storage.journal.write(done(number, 100, account=account))
    await storage.journal.flush()
    orders = [storage.desk.refund("req_00001", 40, f"r{number}") for number in range(5)]
    answers = await asyncio.gather(*orders, return_exceptions=True)
    assert sum(isinstance(answer, Refund) for answer in answers) == 2
    assert sum(isinstance(answer, RefundTooLarge) for answer in answers) == 3
    with pytest.raises(ReferenceTaken):
        await storage.desk.refund("req_00002", None, "r0")


async def test_credits_at_the_same_time_count_once(storage: Storage) -> None:
    answers = await asyncio.gather(*(storage.desk.credit("acme", 500, "invoice-1") for _ in range(5)))
    assert sorted(answers) == [False] * 4 + [True]


@pytest.mark.parametrize("amount", [0, -1])
async def test_nothing_can_be_credited_away(storage: Storage, amount: int) -> None:
    with pytest.raises(LedgerRefusal, match="above zero"):
        await storage.desk.credit("acme", amount, "x")


@pytest.mark.parametrize("amount", [MOST - 999, MOST, MOST + 1, 2**80])
async def test_a_balance_that_would_be_too_large_is_refused(storage: Storage, amount: int) -> None:
    with pytest.raises(BalanceTooLarge):
        await storage.desk.credit("acme", amount, "x")
    assert await storage.desk.balance("acme") == Balance("acme", 1_000, 0)
    assert await storage.desk.credit("acme", MOST - 1_000, "x")
    await storage.books.hold(intent(1, MOST))
    storage.journal.write(done(1, MOST))
    await storage.journal.flush()
    assert await storage.desk.credit("acme", 1, "y")
    with pytest.raises(BalanceTooLarge):
        await storage.desk.refund("req_00001", None, "r")
    assert await storage.desk.balance("acme") == Balance("acme", 1, 0)


async def test_a_refund_pays_back_what_was_charged_and_no_more(storage: Storage) -> None:
    await storage.books.hold(intent(1, 100))
    storage.journal.write(done(1, 130))  # charged in two parts
    await storage.journal.flush()
    assert await storage.desk.refund("req_00001", 30, "r1") == Refund("acme", 30, new=True)
    assert await storage.desk.refund("req_00001", 30, "r1") == Refund("acme", 30, new=False)
    with pytest.raises(ReferenceTaken, match=r"0\.000000030 USD for req_00001 already"):
        await storage.desk.refund("req_00001", 31, "r1")
    with pytest.raises(RefundTooLarge, match=r"0\.000000100 USD are left"):
        await storage.desk.refund("req_00001", 101, "r2")
    with pytest.raises(RefundRefused):
        await storage.desk.refund("req_00001", 0, "r2")
    assert await storage.desk.refund("req_00001", None, "r2") == Refund("acme", 100, new=True)
    with pytest.raises(RefundRefused):
        await storage.desk.refund("req_00001", None, "r3")
    with pytest.raises(RefundRefused, match="nothing was charged"):
        await storage.desk.refund("req_00009", None, "r4")
    assert await storage.desk.refund("req_00001", None, "r2") == Refund("acme", 100, new=False)
    assert await storage.desk.balance("acme") == Balance("acme", 1_000, 0)
    newest, *_ = await storage.desk.postings("acme", limit=1, before=None)
    assert (newest.kind, newest.note, newest.amount) == ("refund", "req_00001", 100)


async def test_postings_are_read_in_pages_newest_first(storage: Storage) -> None:
    for number in range(1, 8):
        assert await storage.desk.credit("acme" if number % 2 else "beta", number, f"c{number}")
    found: list[Posting] = []
    for account, wanted in ((None, [7, 6, 5, 4, 3, 2, 1, 1_000]), ("acme", [7, 5, 3, 1, 1_000])):
        found = []
        page: tuple[Posting, ...] | None = None
        while page is None or page:
            page = await storage.desk.postings(account, limit=2, before=found[-1].number if found else None)
            found += page
        assert [posting.amount for posting in found] == wanted
    assert found[0].reference == "c7"
    assert (found[0].source, found[0].target, found[0].key) == ("outside", "available", None)
    assert found[0].at > 1_700_000_000


async def test_the_command_line_sees_and_writes_the_same_books(url: str, storage: Storage) -> None:
    database = Database(url)
    file = LedgerFile(database)
    credit = partial(ledger_desk.credit, account="acme", amount=5, reference="cash", at=1_700_000_000.5)
    assert file.write(credit) is True
    assert file.write(credit) is False
    assert file.read(ledger_desk.read_balances) == [Balance("acme", 1_005, 0)]
    posting = file.read(lambda connection: ledger_desk.read_postings(connection, "acme", 1, None))[-1]
    assert posting.at != 1_700_000_000.5  # the opening balance is newer
    database.close()


async def test_a_ledger_that_cannot_be_used_is_told(tmp_path: Path) -> None:
    file = LedgerFile(Database(f"sqlite:///{tmp_path}/empty.db"))
    with pytest.raises(DatabaseUnusable, match="no such table"):
        file.read(ledger_desk.read_balances)
