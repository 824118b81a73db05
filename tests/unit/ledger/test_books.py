from collections.abc import Callable
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidegate.ledger.books import (
    Beyond,
    Movement,
    Use,
    Wish,
    afford,
    apply,
    chargeable,
    credit,
    decide,
    grant,
    hold_postings,
    may_pass,
    refund,
    settlement_postings,
)
from tidegate.ledger.entries import Balance, Budget, Exhausted, Granted, Short
from tidegate.ledger.money import MOST

NOON = datetime(2026, 11, 30, 12, tzinfo=UTC).timestamp()
DAY, MONTH = Budget("key:laptop", "day", 1000), Budget("account:acme", "month", 1000)


@pytest.mark.parametrize(
    ("balance", "held", "amount", "least", "answer"),
    [
        (100, 0, 100, 10, Granted(100)),
        (100, 40, 60, 10, Granted(60)),
        (100, 40, 61, 10, Granted(60)),
        (100, 40, 500, 60, Granted(60)),
        (100, 40, 500, 61, Short(61, 60, 40)),
        (0, 0, 1, 1, Short(1, 0, 0)),
        (-5, 0, 10, 1, Short(1, -5, 0)),
        (-5, 0, 0, 0, Granted(0)),
        (-5, 0, 10, 0, Granted(0)),
        (0, 0, 0, 0, Granted(0)),
    ],
)
def test_a_prepaid_account_gives_what_it_has(
    balance: int, held: int, amount: int, least: int, answer: Granted | Short
) -> None:
    assert grant(Balance("acme", balance, held), amount, least, prepaid=True) == answer


def test_a_postpaid_account_is_never_refused() -> None:
    assert grant(Balance("acme", -MOST, 50), 70, 70, prepaid=False) == Granted(70)


def test_holds_together_fit_a_database_column() -> None:
    assert grant(Balance("acme", 0, MOST - 5), 70, 70, prepaid=False) == Granted(5)
    assert grant(Balance("acme", 0, MOST), 70, 70, prepaid=False) == Granted(0)


@pytest.mark.parametrize(
    ("spent", "held", "amount", "least", "answer"),
    [
        (0, 0, 1000, 1, Granted(1000)),
        (300, 500, 1000, 1, Granted(200)),
        (300, 500, 1000, 200, Granted(200)),
        (300, 500, 1000, 201, Exhausted(DAY, 201, 200, 500, 43_200)),
        (1200, 0, 10, 1, Exhausted(DAY, 1, -200, 0, 43_200)),
        (1200, 0, 0, 0, Granted(0)),
    ],
)
def test_a_budget_gives_what_is_left_of_it(
    spent: int, held: int, amount: int, least: int, answer: Granted | Exhausted
) -> None:
    assert afford(Use(DAY, spent, held), amount, least, NOON) == answer


def test_a_budget_of_a_month_comes_back_with_the_next_one() -> None:
    assert afford(Use(MONTH, 1000, 0), 10, 1, NOON) == Exhausted(MONTH, 1, 0, 0, 43_200)
    assert afford(Use(MONTH, 1000, 0), 10, 1, NOON - 86_400) == Exhausted(MONTH, 1, 0, 0, 129_600)


def wish(amount: int, least: int, *, prepaid: bool = True) -> Wish:
    return Wish(amount=amount, least=least, prepaid=prepaid)


def test_the_balance_answers_before_the_budgets() -> None:
    both = Balance("acme", 5, 0), [Use(DAY, 999, 0)]
    assert decide(wish(10, 10), *both, NOON) == Short(10, 5, 0)
    assert decide(wish(10, 5), *both, NOON) == Exhausted(DAY, 5, 1, 0, 43_200)
    assert decide(wish(10, 1), *both, NOON) == Granted(1)


def test_the_first_budget_that_refuses_is_told() -> None:
    uses = [Use(DAY, 900, 0), Use(MONTH, 995, 0), Use(DAY, 999, 0)]
    assert decide(wish(50, 10), Balance("acme", 100, 0), uses, NOON) == Exhausted(MONTH, 10, 5, 0, 43_200)
    assert decide(wish(50, 10, prepaid=False), Balance("acme", 0, 0), uses[:1], NOON) == Granted(50)


def test_nobody_needs_more_than_he_asks_for() -> None:
    assert decide(wish(10, 50), Balance("acme", 20, 0), [Use(DAY, 985, 0)], NOON) == Granted(10)


def test_what_is_free_is_granted_to_those_who_owe() -> None:
    assert decide(wish(0, 0), Balance("acme", -5, 0), [Use(DAY, 2_000, 0)], NOON) == Granted(0)


AMOUNTS = st.integers(0, MOST)


@given(st.builds(wish, AMOUNTS, AMOUNTS), st.integers(-MOST, MOST), st.lists(st.integers(0, 2 * MOST)))
def test_a_grant_is_covered_by_everything(asked: Wish, available: int, spent: list[int]) -> None:
    budget = Budget("key:laptop", "day", MOST)
    uses = [Use(budget, amount, 0) for amount in spent]
    answer = decide(asked, Balance("acme", available, 0), uses, NOON)
    covers = max(0, min([available, *(MOST - amount for amount in spent)]))
    if isinstance(answer, Granted):
        assert answer.amount == min(asked.amount, covers)
        assert answer.amount >= min(asked.least, asked.amount)
    else:
        assert covers < min(asked.least, asked.amount)


def test_a_hold_moves_money_within_the_account() -> None:
    assert hold_postings(70) == (Movement("hold", "available", "held", 70),)
    assert hold_postings(0) == ()


@pytest.mark.parametrize(
    ("held", "cost", "movements"),
    [
        (70, 50, (("settle", "held", "income", 50), ("release", "held", "available", 20))),
        (70, 70, (("settle", "held", "income", 70),)),
        (70, 90, (("settle", "held", "income", 70), ("settle", "available", "income", 20))),
        (70, 0, (("release", "held", "available", 70),)),
        (0, 90, (("settle", "available", "income", 90),)),
        (0, 0, ()),
        (50, -3, (("release", "held", "available", 50),)),
        (0, 2**80, (("settle", "available", "income", MOST),)),
    ],
)
def test_a_settlement_charges_the_hold_first_and_frees_the_rest(
    held: int, cost: int, movements: tuple[tuple[str, str, str, int], ...]
) -> None:
    assert settlement_postings(held, cost) == tuple(Movement(*movement) for movement in movements)
    balance = Balance("acme", 100, held)
    for movement in settlement_postings(held, cost):
        balance = apply(balance, movement)
    assert balance == Balance("acme", 100 - chargeable(cost), 0)


@given(AMOUNTS, st.integers())
def test_a_settlement_ends_the_hold_and_charges_what_is_chargeable(held: int, cost: int) -> None:
    balance = Balance("acme", MOST, held)
    for movement in settlement_postings(held, cost):
        assert movement.amount > 0
        balance = apply(balance, movement)
    assert balance == Balance("acme", MOST - chargeable(cost), 0)


@pytest.mark.parametrize(("cost", "charged"), [(-1, 0), (0, 0), (7, 7), (MOST, MOST), (MOST + 1, MOST)])
def test_an_absurd_cost_is_cut(cost: int, charged: int) -> None:
    assert chargeable(cost) == charged


@pytest.mark.parametrize(
    ("movement", "balance"),
    [
        (("hold", "available", "held", 7), Balance("acme", 100, 17)),
        (("release", "held", "available", 7), Balance("acme", 100, 3)),
        (("settle", "held", "income", 7), Balance("acme", 93, 3)),
        (("settle", "available", "income", 7), Balance("acme", 93, 10)),
        (("credit", "outside", "available", 7), Balance("acme", 107, 10)),
        (("refund", "income", "available", 7), Balance("acme", 107, 10)),
    ],
)
def test_every_movement_has_its_effect(movement: tuple[str, str, str, int], balance: Balance) -> None:
    assert apply(Balance("acme", 100, 10), Movement(*movement)) == balance


def test_a_payment_and_a_refund_come_from_different_places() -> None:
    assert credit(Balance("acme", 0, 0), 5) == Movement("credit", "outside", "available", 5)
    assert refund(Balance("acme", 0, 0), 5) == Movement("refund", "income", "available", 5)


@pytest.mark.parametrize("book", [credit, refund])
@pytest.mark.parametrize(("balance", "amount"), [(0, MOST), (-MOST, 5), (MOST - 5, 5), (-3 * MOST, MOST)])
def test_a_payment_is_booked_as_far_as_the_books_reach(
    book: Callable[[Balance, int], Movement | Beyond], balance: int, amount: int
) -> None:
    assert isinstance(book(Balance("acme", balance, 0), amount), Movement)


@pytest.mark.parametrize("book", [credit, refund])
@pytest.mark.parametrize(("balance", "amount"), [(1, MOST), (-5, MOST + 1), (0, 0), (0, -5)])
def test_a_payment_beyond_them_is_not(
    book: Callable[[Balance, int], Movement | Beyond], balance: int, amount: int
) -> None:
    assert book(Balance("acme", balance, 0), amount) == Beyond(amount, balance)


@pytest.mark.parametrize(
    ("available", "held", "passes"), [(5, 5, True), (5, 4, False), (-5, 15, True), (9, 0, False)]
)
def test_a_refusal_may_pass_when_what_is_held_would_cover_it(available: int, held: int, passes: bool) -> None:
    assert may_pass(Short(10, available, held)) == passes
    assert may_pass(Exhausted(DAY, 10, available, held, 1.0)) == passes
