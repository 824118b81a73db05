"""The writer and the thread that puts things on the disk share a refuge."""

import errno
import os
import threading
from pathlib import Path
from typing import BinaryIO

import pytest
from tests.unit.storage.records import record

from tidegate.storage import spool
from tidegate.storage.items import REQUESTS, Entry, Row
from tidegate.storage.refuge import Refuge
from tidegate.storage.spool import KeptRecord, Spool, read


def test_what_is_being_added_is_read_before_all_is_cleared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reached, go_on = threading.Event(), threading.Event()
    refuge = Refuge(tmp_path, "me", ())
    refuge.keep([Row(REQUESTS, record(1))])
    opened = Spool._opened

    def slowly(one: Spool) -> BinaryIO:
        reached.set()
        assert go_on.wait(60)
        return opened(one)

    monkeypatch.setattr(Spool, "_opened", slowly)
    adding = threading.Thread(target=refuge.keep, args=([Row(REQUESTS, record(2))],))
    found: list[list[Entry]] = []

    def empty() -> None:
        seen = refuge.changes
        found.extend(refuge.batches())
        refuge.clear(seen)

    emptying = threading.Thread(target=empty)
    adding.start()
    assert reached.wait(60)
    emptying.start()
    emptying.join(0.1)
    go_on.set()
    for thread in (adding, emptying):
        thread.join(60)
    on_disk = [kept.record.id for kept in read(refuge._spool.path) if isinstance(kept, KeptRecord)]
    written = [entry.record.id for entries in found for entry in entries if isinstance(entry, Row)]
    assert {record(1).id, record(2).id} <= {*on_disk, *written}


class SickDisk:
    """Cannot flush and cannot cut a file either, while it is sick."""

    sick = True

    def fsync(self, descriptor: int) -> None:
        self._fail()
        os.fsync(descriptor)

    def truncate(self, path: Path, size: int) -> None:
        self._fail()
        os.truncate(path, size)

    def ftruncate(self, descriptor: int, size: int) -> None:
        self._fail()
        os.ftruncate(descriptor, size)

    def _fail(self) -> None:
        if self.sick:
            raise OSError(errno.EIO, "Input/output error")

    def __getattr__(self, name: str) -> object:
        return getattr(os, name)


def test_what_comes_after_a_broken_write_can_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    disk = SickDisk()
    kept = Spool(tmp_path / "a.spool")
    kept.add([KeptRecord(record(1))])
    monkeypatch.setattr(spool, "os", disk)
    for _ in range(2):
        with pytest.raises(OSError, match="Input/output"):
            kept.add([KeptRecord(record(2))])
    with kept.path.open("ab") as file:
        file.truncate(kept.path.stat().st_size - 7)  # half an entry is there
    disk.sick = False
    kept.add([KeptRecord(record(3))])
    kept.add([KeptRecord(record(4))])
    assert [one.record.id for one in read(kept.path) if isinstance(one, KeptRecord)] == [
        record(number).id for number in (1, 3, 4)
    ]
