"""A batch that breaks at any of its statements leaves nothing behind, and can be written again."""

import asyncio
import itertools
from collections.abc import Sequence

import pytest
from sqlalchemy.exc import OperationalError
from tests.unit.storage.stores import done, intent, rows

from tidegate.ledger.entries import Balance, Budget, Granted
from tidegate.storage.assembly import Storage
from tidegate.storage.statements import Statements
from tidegate.storage.verify import verify


class Breaking:
    """Lets `after` statements through, then fails `times` times."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, after: int, times: int) -> None:
        self.left, self.times, self.broke = after, times, False
        run = Statements._execute

        def breaking(statements: Statements, text: str, values: Sequence[object]) -> None:
            if self.times and self.left == 0:
                self.times -= 1
                self.broke = True
                raise OperationalError(None, None, Exception("the connection broke"))
            self.left -= 1
            run(statements, text, values)

        monkeypatch.setattr(Statements, "_execute", breaking)


POINTS = {"sqlite": range(9), "postgresql": range(5)}
"""On a server all that is written goes together."""
BUDGET = Budget("account:acme", "day", 10_000)


async def fill(storage: Storage) -> None:
    for number in (1, 2):
        assert await storage.books.hold(intent(number, 100, budgets=(BUDGET,))) == Granted(100)


async def ask(storage: Storage) -> None:
    """One batch with everything in it."""
    storage.journal.write(done(1, 30))
    storage.journal.write(done(2, 130))
    storage.journal.write(done(3, 5))
    await asyncio.gather(
        storage.books.hold(intent(4, 50, budgets=(BUDGET,))),
        storage.books.hold(intent(5, 50, prepaid=False, account="late")),
    )


@pytest.mark.parametrize(
    ("kind", "after"),
    [(kind, after) for kind, points in POINTS.items() for after in points],
    indirect=["kind"],
)
@pytest.mark.parametrize("times", [1, 2, 5])
async def test_a_batch_that_breaks_is_written_once(
    storage: Storage, monkeypatch: pytest.MonkeyPatch, after: int, times: int
) -> None:
    await fill(storage)
    with monkeypatch.context() as patch:
        breaking = Breaking(patch, after, times)
        await ask(storage)
        await storage.journal.flush()
        assert breaking.broke
    assert verify(storage._database) is None
    assert rows(storage._database, "SELECT id, cost FROM requests ORDER BY id") == [
        ("req_00001", 30),
        ("req_00002", 130),
        ("req_00003", 5),
    ]
    for number, account in ((4, "acme"), (5, "late")):
        storage.journal.write(done(number, 0, account=account))
    await storage.journal.flush()
    assert await storage.desk.balances() == [Balance("acme", 835, 0), Balance("late", 0, 0)]


async def test_there_is_no_further_point(
    storage: Storage, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The points above are all: a longer batch would make this fail, and want more of them."""
    await fill(storage)
    with monkeypatch.context() as patch:
        count = itertools.count()
        run = Statements._execute

        def counted(statements: Statements, text: str, values: Sequence[object]) -> None:
            next(count)
            run(statements, text, values)

        patch.setattr(Statements, "_execute", counted)
        await ask(storage)
    assert next(count) - 1 <= len(POINTS[kind]) * 2  # the rows and the holds may come in two batches


async def test_a_commit_that_succeeds_and_is_told_as_failed_counts_once(
    storage: Storage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As when the connection breaks after the server has committed and before its answer."""
    await fill(storage)
    scribe = storage._writer._batches._scribe
    commit = scribe._commit
    broken = iter([True, True])

    def unclear(*batch: object) -> object:
        answers = commit(*batch)  # type: ignore[arg-type]
        if next(broken, False):
            raise OperationalError(None, None, Exception("the connection broke"))
        return answers

    monkeypatch.setattr(scribe, "_commit", unclear)
    await ask(storage)
    await storage.journal.flush()
    assert verify(storage._database) is None
    for number, account in ((4, "acme"), (5, "late")):
        storage.journal.write(done(number, 0, account=account))
    await storage.journal.flush()
    assert await storage.desk.balances() == [Balance("acme", 835, 0), Balance("late", 0, 0)]
