from datetime import UTC, datetime

from msgspec.structs import asdict
from tests.harness.memory_books import Books, recompute

from tidegate.ledger.books import Beyond, Movement
from tidegate.ledger.entries import Balance, Budget, Exhausted, Granted, Posting, Short
from tidegate.ledger.money import MOST

NOON = datetime(2026, 11, 30, 12, tzinfo=UTC).timestamp()
TOMORROW = NOON + 86_400
DAY = Budget("key:laptop", "day", 50)
MONTH = Budget("account:acme", "month", 1000)


def prepaid(amount: int) -> Books:
    books = Books()
    assert books.credit("opening", "acme", amount, NOON) is None
    return books


def hold(
    books: Books, request: str, amount: int, least: int = 1, *budgets: Budget, now: float = NOON
) -> object:
    return books.hold(request, "acme", "laptop", amount, least, prepaid=True, budgets=budgets, now=now)


def test_a_request_is_held_for_and_charged_once() -> None:
    books = prepaid(100)
    assert hold(books, "a", 60) == Granted(60)
    assert books.balance("acme") == Balance("acme", 100, 60)
    books.settle("a", "acme", "laptop", 45, NOON)
    books.settle("a", "acme", "laptop", 45, NOON)
    assert books.balance("acme") == Balance("acme", 55, 0)
    assert recompute(books.postings) == books.balances
    assert [(one.number, one.kind, one.reference) for one in books.postings] == [
        (1, "credit", "opening"),
        (2, "hold", "a"),
        (3, "settle", "a"),
        (4, "release", "a"),
    ]


def test_a_hold_that_is_asked_for_again_holds_no_more() -> None:
    books = prepaid(100)
    assert hold(books, "a", 60) == hold(books, "a", 60) == Granted(60)
    books.settle("a", "acme", "laptop", 10, NOON)
    assert hold(books, "a", 60) == Granted(0)
    assert books.balance("acme") == Balance("acme", 90, 0)


def test_what_is_held_cannot_be_held_twice() -> None:
    books = prepaid(100)
    assert hold(books, "a", 60) == Granted(60)
    assert hold(books, "b", 60, 20) == Granted(40)
    assert hold(books, "c", 60, 20) == Short(20, 0, 100)
    assert "c" not in books.open


def test_a_refusal_by_the_balance_comes_before_the_budgets() -> None:
    assert hold(Books(), "a", 60, 20, DAY) == Short(20, 0, 0)


def test_the_smallest_room_of_all_budgets_counts() -> None:
    books = prepaid(100)
    assert hold(books, "a", 60, 20, DAY, MONTH) == Granted(50)
    assert hold(books, "b", 60, 20, MONTH, DAY) == Exhausted(DAY, 20, 0, 50, 43_200)
    assert hold(books, "c", 60, 20, DAY, MONTH) == Exhausted(DAY, 20, 0, 50, 43_200)
    books.settle("a", "acme", "laptop", 30, TOMORROW)
    assert hold(books, "b", 60, 20, DAY) == Granted(20)


def test_a_request_counts_in_the_period_it_was_admitted_in() -> None:
    books = prepaid(100)
    assert hold(books, "a", 50, 20, DAY) == Granted(50)
    books.settle("a", "acme", "laptop", 30, TOMORROW)
    assert books.spent == {("key:laptop", "2026-11-30"): 30}
    assert hold(books, "b", 50, 20, DAY, now=TOMORROW) == Granted(50)


def test_after_a_crash_each_open_request_pays_what_it_had_used() -> None:
    books = prepaid(100)
    hold(books, "a", 30)
    hold(books, "b", 30)
    hold(books, "c", 30)
    books.checkpoint("a", 12)
    books.checkpoint("b", 7)
    books.settle("b", "acme", "laptop", 9, NOON)
    books.checkpoint("b", 3)
    books.recover(TOMORROW)
    books.recover(TOMORROW)
    assert books.settled == {"a": 12, "b": 9, "c": 0}
    assert books.balance("acme") == Balance("acme", 79, 0)


def test_a_request_without_a_hold_is_charged_too() -> None:
    books = Books()
    books.settle("a", "acme", "laptop", 12, NOON)
    assert books.balance("acme") == Balance("acme", -12, 0)


def test_a_payment_counts_once_and_only_within_the_books() -> None:
    books = prepaid(100)
    assert books.credit("opening", "acme", 100, NOON) is None
    assert books.refund("r", "acme", 5, NOON) is None
    assert books.refund("r", "acme", 5, NOON) is None
    assert books.balance("acme") == Balance("acme", 105, 0)
    assert books.credit("more", "acme", MOST, NOON) == Beyond(MOST, 105)
    assert books.credit("more", "acme", 1, NOON) is None
    assert books.balance("acme") == Balance("acme", 106, 0)


def test_the_balances_follow_from_the_postings() -> None:
    movements = [
        ("acme", Movement("credit", "outside", "available", 100)),
        ("acme", Movement("hold", "available", "held", 40)),
        ("other", Movement("settle", "available", "income", 7)),
        ("acme", Movement("settle", "held", "income", 30)),
    ]
    postings = [
        Posting(number=number, reference="r", account=account, key=None, at=0, **asdict(movement))
        for number, (account, movement) in enumerate(movements, 1)
    ]
    assert recompute(postings) == {"acme": Balance("acme", 70, 10), "other": Balance("other", -7, 0)}
    assert recompute([]) == {}
