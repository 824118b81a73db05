import asyncio
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from tidegate.core.failure import Kind, TidegateError
from tidegate.exchange.ports import Ownership
from tidegate.storage.database import Database
from tidegate.storage.ownership import KEPT_SECONDS, RememberedOwnership
from tidegate.storage.writer import Writer

START = 1_700_000_000.0


class Clock:
    now = START

    def __call__(self) -> float:
        return self.now


class Workers:
    """Several processes on one database, as far as ownership can tell."""

    def __init__(self, database: Database, writer: Writer, threads: ThreadPoolExecutor) -> None:
        self.database = database
        self.writer = writer
        self.threads = threads
        self.clock = Clock()

    def worker(self, *, second_look: float = 0.0, remembered: int = 100) -> RememberedOwnership:
        return RememberedOwnership(
            self.database,
            self.writer,
            self.threads,
            clock=self.clock,
            second_look=second_look,
            remembered=remembered,
        )


@pytest.fixture
def workers(database: Database, writer: Writer) -> Iterator[Workers]:
    with ThreadPoolExecutor(1) as threads:
        yield Workers(database, writer, threads)


async def test_an_id_is_known_at_once_where_it_was_remembered(workers: Workers) -> None:
    ownership: Ownership = workers.worker()
    ownership.remember(["resp_1", "msg_1"], "acme", "openai")
    assert await ownership.find("resp_1", "acme") == "openai"
    assert await ownership.find("msg_1", "acme") == "openai"


async def test_another_accounts_id_is_not_found(workers: Workers) -> None:
    here, there = workers.worker(), workers.worker()
    here.remember(["resp_1"], "acme", "openai")
    await workers.writer.flush()
    assert await here.find("resp_1", "other") is None
    assert await there.find("resp_1", "other") is None


async def test_two_accounts_may_have_the_same_id(workers: Workers) -> None:
    here, there = workers.worker(), workers.worker()
    here.remember(["resp_1"], "acme", "one")
    here.remember(["resp_1"], "other", "two")
    await workers.writer.flush()
    for ownership in (here, there):
        assert await ownership.find("resp_1", "acme") == "one"
        assert await ownership.find("resp_1", "other") == "two"


async def test_another_worker_finds_it_in_the_database(workers: Workers) -> None:
    workers.worker().remember([f"resp_{number}" for number in range(200)], "acme", "openai")
    await workers.writer.flush()
    assert await workers.worker().find("resp_199", "acme") == "openai"


async def test_a_batch_that_is_on_its_way_is_waited_for(workers: Workers) -> None:
    there = workers.worker(second_look=0.5)
    asking = asyncio.create_task(there.find("resp_1", "acme"))
    await asyncio.sleep(0.05)
    workers.worker().remember(["resp_1"], "acme", "openai")
    assert await asking == "openai"


async def test_the_newest_group_of_an_id_counts(workers: Workers) -> None:
    here = workers.worker()
    here.remember(["resp_1"], "acme", "old")
    await workers.writer.flush()
    here.remember(["resp_1"], "acme", "newer")
    here.remember(["resp_1"], "acme", "newest")
    await workers.writer.flush()
    assert await here.find("resp_1", "acme") == "newest"
    assert await workers.worker().find("resp_1", "acme") == "newest"


async def test_what_memory_forgets_the_database_still_knows(workers: Workers) -> None:
    small = workers.worker(remembered=3)
    small.remember([f"resp_{number}" for number in range(10)], "acme", "openai")
    assert len(small._newest) == 3
    await workers.writer.flush()
    assert await small.find("resp_0", "acme") == "openai"


async def test_after_thirty_days_it_is_forgotten(workers: Workers) -> None:
    here = workers.worker()
    here.remember(["resp_1"], "acme", "openai")
    await workers.writer.flush()
    workers.clock.now = START + KEPT_SECONDS - 1
    assert await here.find("resp_1", "acme") == "openai"
    workers.clock.now = START + KEPT_SECONDS
    assert await here.find("resp_1", "acme") is None
    assert await workers.worker().find("resp_1", "acme") is None


@pytest.mark.parametrize(
    "identifier", ["", "x" * 5_000, "\u20ac" * 1_000, "\ud800", "a\0b", "resp_unknown", "' OR 1=1 --"]
)
async def test_an_odd_id_is_simply_not_found(workers: Workers, identifier: str) -> None:
    here = workers.worker()
    here.remember(["resp_1"], "acme", "openai")
    assert await here.find(identifier, "acme") is None


async def test_an_odd_id_does_not_hurt_the_others(workers: Workers) -> None:
    workers.worker().remember(
        ["\ud800", "", "x" * 5_000, "\u20ac" * 1_000, "a\0b", "resp_1"], "acme", "openai"
    )
    await workers.writer.flush()
    assert await workers.worker().find("resp_1", "acme") == "openai"
    assert workers.writer.lost == 0


async def test_a_database_that_cannot_be_read_is_not_the_callers_fault(
    writer: Writer, empty_url: str
) -> None:
    with ThreadPoolExecutor(1) as threads:
        broken = RememberedOwnership(Database(empty_url), writer, threads)
        with pytest.raises(TidegateError) as told:
            await broken.find("resp_1", "acme")
    assert told.value.failure.kind is Kind.INTERNAL
