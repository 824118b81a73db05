"""A storage with books for the tests, and what they ask of it."""

import asyncio
from collections.abc import Callable

from msgspec.structs import replace
from sqlalchemy import text
from tests.unit.storage.records import RECORD

from tidegate.exchange.ports import Intent, RequestRecord
from tidegate.ledger.entries import Budget
from tidegate.storage.assembly import Storage
from tidegate.storage.database import Database


def request(number: int, **changes: object) -> RequestRecord:
    """The row that request `number` leaves if its process dies at once."""
    fresh = {"id": f"req_{number:05}", "outcome": "interrupted", "cost": 0}
    return replace(RECORD, **{**fresh, **changes})


def intent(
    number: int,
    amount: int = 100,
    *,
    least: int | None = None,
    prepaid: bool = True,
    budgets: tuple[Budget, ...] = (),
    **changes: object,
) -> Intent:
    """A hold for request `number`."""
    return Intent(
        record=request(number, **changes),
        amount=amount,
        least=amount if least is None else least,
        prepaid=prepaid,
        budgets=budgets,
    )


def done(number: int, cost: int, **changes: object) -> RequestRecord:
    """The row of request `number` when it has ended well."""
    return request(number, **{"outcome": "completed", "cost": cost, **changes})


async def until(condition: Callable[[], bool]) -> None:
    """Let threads go on until `condition` holds."""
    for _ in range(2_000):
        if condition():
            return
        await asyncio.sleep(0.005)
    raise AssertionError("did not come true")


def rows(database: Database, query: str) -> list[tuple[object, ...]]:
    """What a query finds."""
    with database.engine.connect() as connection:
        return [tuple(row) for row in connection.execute(text(query))]


def moved(storage: Storage, reference: str) -> list[tuple[object, ...]]:
    """The postings of a request or payment, in their order."""
    query = "SELECT kind, source, target, amount FROM postings WHERE reference = '{}' ORDER BY number"
    return rows(storage._database, query.format(reference))
