"""Contents in the database: what is kept, found and deleted, and what the database's trouble does."""

import asyncio
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor

import pytest
import pytest_asyncio
from msgspec import structs
from sqlalchemy import Connection
from tests.unit.storage.records import RECORD, record
from tests.unit.storage.stores import until

from tidegate.core.failure import TidegateError
from tidegate.exchange.capture import Content, Part
from tidegate.storage.content_desk import ContentDesk
from tidegate.storage.content_writer import ContentWriter
from tidegate.storage.contents import KeptContent, KeptPart
from tidegate.storage.database import Database
from tidegate.storage.items import REQUESTS
from tidegate.storage.purge import Purge
from tidegate.storage.schema import contents
from tidegate.storage.writer import Writer

START = RECORD.created_at


@pytest.fixture
def database(impatient: Database) -> Database:
    """Some tests wait for a lock in vain."""
    return impatient


def content(number: int, request: bytes = b'{"a":1}', answer: bytes = b"data: x\n\n") -> Content:
    return Content(
        id=f"req_{number:05}",
        captured_at=START + number,
        request=Part(request, len(request)),
        answer=Part(answer, len(answer)),
    )


def nothing(_connection: Connection) -> None:
    """Is done besides."""


@pytest_asyncio.fixture
async def keeper(database: Database) -> AsyncIterator[ContentWriter]:
    running = ContentWriter(database, window=0.01)
    yield running
    await asyncio.to_thread(running.close, 2.0)


@pytest_asyncio.fixture
async def desk(database: Database, keeper: ContentWriter) -> AsyncIterator[ContentDesk]:
    with ThreadPoolExecutor(1) as threads:
        yield ContentDesk(database, keeper, threads)


def take(keeper: ContentWriter, *taken: Content) -> None:
    for one in taken:
        assert keeper.has_room(100)
        keeper.take(one, 100)


async def test_what_was_taken_is_found_at_once(keeper: ContentWriter, desk: ContentDesk) -> None:
    take(keeper, *(content(number) for number in range(40)))
    assert await desk.one("req_00039", nothing) == KeptContent(
        id="req_00039",
        captured_at=START + 39,
        request=KeptPart('{"a":1}', 7, truncated=False),
        answer=KeptPart("data: x\n\n", 9, truncated=False),
    )
    assert await desk.present(["req_00001", "req_9", "nul\0"]) == {"req_00001"}
    assert await desk.present([]) == frozenset()
    assert await desk.one("req_9", nothing) is None
    assert await desk.one("nul\0", nothing) is None
    assert (keeper.pending, keeper.dropped) == (0, 0)


async def test_any_bytes_are_kept_as_text(keeper: ContentWriter, desk: ContentDesk) -> None:
    take(keeper, content(1, b"nul \0 bad \xff cut \xc3", "王\U0001f30a".encode()))
    found = await desk.one("req_00001", nothing)
    assert found is not None
    assert (found.request.text, found.answer.text) == ("nul \0 bad � cut �", "王\U0001f30a")


async def test_a_content_that_comes_twice_is_there_once(keeper: ContentWriter, desk: ContentDesk) -> None:
    take(keeper, content(1))
    await desk.one("req_00001", nothing)
    take(keeper, content(1, b"again"))
    found = await desk.one("req_00001", nothing)
    assert found is not None
    assert found.request.text == "again"


async def test_what_is_forgotten_is_gone(keeper: ContentWriter, desk: ContentDesk) -> None:
    take(keeper, content(1), content(2))
    assert await desk.forget("req_00001", nothing)
    assert not await desk.forget("req_00001", nothing)
    assert not await desk.forget("nul\0", nothing)
    assert await desk.present(["req_00001", "req_00002"]) == {"req_00002"}


async def test_what_is_done_besides_is_done_with_it_or_not_at_all(
    keeper: ContentWriter, desk: ContentDesk
) -> None:
    done: list[str] = []

    def broken(connection: Connection) -> None:
        done.append("tried")
        connection.exec_driver_sql("no sql")

    for act in (desk.one, desk.forget):
        assert not await act("req_00001", broken)
    assert done == []
    take(keeper, content(1))
    for act in (desk.one, desk.forget):
        with pytest.raises(TidegateError):
            await act("req_00001", broken)
    assert await desk.present(["req_00001"]), "it was not deleted without a note of it"
    assert done == ["tried", "tried"]


async def test_a_content_goes_with_its_row(
    database: Database, writer: Writer, keeper: ContentWriter, desk: ContentDesk
) -> None:
    for number in range(20):
        writer.put(REQUESTS, record(number))
    await writer.flush()
    # They ended later than they began: by their own age they could stay.
    take(keeper, *(structs.replace(content(number), captured_at=START + 50) for number in range(20)))
    await desk.one("req_00000", nothing)
    assert await Purge(writer, 10.0, lambda: START + 20.0, step=3, pause=0.0).sweep() == 10
    left = await desk.present([f"req_{number:05}" for number in range(20)])
    assert left == {f"req_{number:05}" for number in range(10, 20)}


@pytest.mark.parametrize(("of_rows", "of_contents"), [(0.0, 10.0), (100.0, 10.0), (10.0, 0.0), (10.0, 99.0)])
async def test_a_content_goes_when_it_is_too_old_whatever_became_of_its_row(
    writer: Writer, keeper: ContentWriter, desk: ContentDesk, of_rows: float, of_contents: float
) -> None:
    take(keeper, *(content(number) for number in range(20)))
    await desk.one("req_00000", nothing)
    purge = Purge(writer, of_rows, lambda: START + 20.0, step=3, pause=0.0, contents=lambda: of_contents)
    assert await purge.sweep() == 10
    left = await desk.present([f"req_{number:05}" for number in range(20)])
    assert left == {f"req_{number:05}" for number in range(10, 20)}


async def test_nothing_goes_where_all_is_kept_for_ever(
    writer: Writer, keeper: ContentWriter, desk: ContentDesk
) -> None:
    take(keeper, content(1))
    await desk.one("req_00001", nothing)
    assert await Purge(writer, 0.0, lambda: START + 1e9, pause=0.0).sweep() == 0
    assert await desk.present(["req_00001"])


async def test_while_the_database_is_locked_contents_wait(
    url: str, keeper: ContentWriter, desk: ContentDesk, caplog: pytest.LogCaptureFixture, kind: str
) -> None:
    other = Database(url)
    with other.connect_writer() as connection, connection.begin():
        if kind == "postgresql":
            connection.exec_driver_sql("LOCK TABLE contents")
        take(keeper, content(1))
        await until(lambda: keeper.failing)
        assert keeper.pending == 1
    other.close()
    await until(lambda: keeper.pending == 0)
    assert await desk.present(["req_00001"])
    assert caplog.text.count("contents: cannot be written") == 1
    assert caplog.text.count("contents: can be written again") == 1


async def test_a_table_that_is_gone_costs_contents_and_nothing_else(
    database: Database, keeper: ContentWriter, desk: ContentDesk
) -> None:
    with database.connect_writer() as connection, connection.begin():
        contents.drop(connection)
    with pytest.raises(TidegateError):
        await desk.present(["req_00001"])
    take(keeper, content(1))
    await until(lambda: keeper.failing)
    await asyncio.to_thread(keeper.close, 0.2)
    assert keeper.dropped + keeper.pending == 1
