"""Contents wait in bounded memory, and nobody waits for them."""

import threading

import pytest
from tests.unit.storage.stores import rows, until

from tidegate.exchange.capture import Content, Part
from tidegate.storage.content_writer import ContentWriter, Keeping
from tidegate.storage.database import Database

CONTENT = Content(id="req_1", captured_at=1.0, request=Part(b"asked", 5), answer=Part(b"said", 4))


async def test_no_thread_is_there_before_something_is_kept(database: Database) -> None:
    writer = ContentWriter(database)
    assert writer._thread is None
    writer.close(1.0)


async def test_room_is_taken_and_given_back(database: Database) -> None:
    writer = ContentWriter(database, window=0, room=100)
    assert writer.has_room(60)
    assert not writer.has_room(41)
    assert writer.has_room(40)
    writer.take(CONTENT, 100)
    await until(lambda: writer.has_room(100))
    writer.close(1.0)
    assert rows(database, "SELECT id, request_bytes FROM contents") == [("req_1", 5)]


async def test_taking_does_not_wait_for_the_redaction(database: Database) -> None:
    """And what is redacted too slowly is not kept."""
    gate = threading.Event()

    def slow(text: str) -> None:
        gate.wait(60)

    writer = ContentWriter(database, window=0)
    writer.keeping = Keeping(max_bytes=10, redact=slow, retention=0)
    assert writer.limit == 10
    for _ in range(3):
        writer.take(CONTENT, 0)
    assert writer.pending == 3
    gate.set()
    await until(lambda: writer.pending == 0)
    assert writer.dropped == 3
    writer.close(1.0)
    assert rows(database, "SELECT id FROM contents") == []


async def test_a_fault_of_a_pattern_s_engine_costs_one_batch(
    database: Database, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(text: str) -> str:
        raise RuntimeError("engine")

    writer = ContentWriter(database, window=0, room=10)
    writer.keeping = Keeping(max_bytes=10, redact=broken, retention=0)
    assert writer.has_room(10)
    writer.take(CONTENT, 10)
    await until(lambda: writer.pending == 0)
    assert writer.has_room(10)
    writer.keeping = Keeping(max_bytes=10, redact=lambda text: text, retention=0)
    writer.take(CONTENT, 10)
    await until(lambda: writer.pending == 0)
    writer.close(1.0)
    assert len(rows(database, "SELECT id FROM contents")) == 1
    assert "unexpected error" in caplog.text


async def test_refusals_are_counted_and_the_first_is_told(
    database: Database, caplog: pytest.LogCaptureFixture
) -> None:
    writer = ContentWriter(database)
    for _ in range(9):
        writer.refuse()
    assert writer.dropped == 9
    assert caplog.text.count("is not kept because there is no room for it") == 1


async def test_what_waits_is_written_at_the_end_and_what_comes_later_is_refused(database: Database) -> None:
    writer = ContentWriter(database, window=30)
    writer.take(CONTENT, 0)
    writer.close(5.0)
    writer.take(CONTENT, 0)
    assert (writer.pending, writer.dropped) == (0, 1)
    assert len(rows(database, "SELECT id FROM contents")) == 1
