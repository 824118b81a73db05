import os
from pathlib import Path
from zlib import crc32

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.storage.records import record

from tidegate.storage import spool
from tidegate.storage.items import REQUESTS, Release, Row, Sheet
from tidegate.storage.owners import spool_path
from tidegate.storage.ownership import OWNED_IDS, _Owned
from tidegate.storage.refuge import Refuge, batches, by_table
from tidegate.storage.spool import Kept, KeptRecord, KeptRelease, Spool, frame, read

ENTRIES: list[Kept] = [KeptRecord(record(1)), KeptRelease("req_2"), KeptRecord(record(3))]


def test_entries_come_back_in_their_order(tmp_path: Path) -> None:
    kept = Spool(tmp_path / "new" / "a.spool")
    assert list(read(kept.path)) == []
    kept.add(ENTRIES[:1])
    kept.add(ENTRIES[1:])
    assert list(read(kept.path)) == ENTRIES
    assert kept.count == 3
    assert kept.path.stat().st_mode & 0o777 == 0o600
    kept.remove()
    assert not kept.path.exists()
    kept.add(ENTRIES[:1])
    assert (kept.count, list(read(kept.path))) == (1, ENTRIES[:1])
    kept.remove()


@given(st.integers(0, len(b"".join(map(frame, ENTRIES))) - 1))
def test_a_spool_that_ends_anywhere_gives_whole_entries(
    tmp_path_factory: pytest.TempPathFactory, cut: int
) -> None:
    path = tmp_path_factory.mktemp("spool") / "a.spool"
    path.write_bytes(b"".join(map(frame, ENTRIES))[:cut])
    found = list(read(path))
    assert found == ENTRIES[: len(found)]
    assert len(b"".join(map(frame, ENTRIES[: len(found) + 1]))) > cut
    assert not path.with_suffix(".damaged").exists()


def test_a_spool_that_is_damaged_inside_is_kept_for_the_operator(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "a.spool"
    lines = b"".join(map(frame, ENTRIES))
    damaged = lines.replace(b"req_2", b"req_9")
    path.write_bytes(damaged)
    assert list(read(path)) == ENTRIES[:1]
    assert path.with_suffix(".damaged").read_bytes() == damaged
    assert "is damaged" in caplog.text


def test_an_entry_of_another_version_is_left_out(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = tmp_path / "a.spool"
    unknown = spool.KeptLine("requests", (object,))
    text = frame(KeptRelease("req_2"))
    body = text[18:-1].replace(b"release", b"rele4se")
    path.write_bytes(b"%08x %08x " % (len(body), crc32(body)) + body + b"\n" + text)
    assert list(read(path)) == [KeptRelease("req_2")]
    assert "not understood" in caplog.text
    with pytest.raises(TypeError):
        frame(unknown)


def test_what_was_half_written_is_taken_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = Spool(tmp_path / "a.spool")
    kept.add(ENTRIES[:1])

    def broken(_descriptor: int) -> None:
        raise OSError("no space left")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", broken)
        with pytest.raises(OSError, match="no space"):
            kept.add(ENTRIES[1:2])
    assert list(read(kept.path)) == ENTRIES[:1]
    kept.add(ENTRIES[2:])
    assert list(read(kept.path)) == [ENTRIES[0], ENTRIES[2]]
    assert kept.count == 2
    kept.remove()


def test_rows_of_every_sheet_come_back_as_they_are_written(tmp_path: Path) -> None:
    refuge = Refuge(tmp_path, "me", [OWNED_IDS])
    owned = _Owned("resp_1", "acme", "main", 5)
    refuge.keep([Row(REQUESTS, record(1)), Row(OWNED_IDS, owned), Release("req_2")])
    (entries,) = refuge.batches()
    assert entries[0] == Row(REQUESTS, record(1))
    line = entries[1]
    assert isinstance(line, Row)
    assert tuple(line.sheet.encode(line.record)) == ("resp_1", "acme", "main", 5)
    assert entries[2] == Release("req_2")
    refuge.clear(refuge.changes)
    assert list(refuge.batches()) == []


def test_an_entry_that_no_file_can_hold_harms_no_other(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    refuge = Refuge(tmp_path, "me", [])
    refuge.keep([Row(REQUESTS, record(1, status=object())), Release("req_2")])
    assert [entry for some in refuge.batches() for entry in some] == [Release("req_2")]
    assert refuge.unfit == 1
    assert "is lost" in caplog.text
    refuge.clear(refuge.changes)


def test_a_line_of_an_unknown_table_is_left_out(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    other = Sheet(table="other", columns=("a",), on_conflict="DO NOTHING", encode=tuple, mend=tuple)
    refuge = Refuge(tmp_path, "me", [other])
    refuge.keep([Row(other, (1,)), Release("req_2")])
    assert list(batches(spool_path(tmp_path, "me"), by_table([OWNED_IDS]))) == [[Release("req_2")]]
    assert "unknown table other" in caplog.text
    refuge.clear(refuge.changes)


def test_many_entries_come_in_parts(tmp_path: Path) -> None:
    refuge = Refuge(tmp_path, "me", [])
    refuge.keep([Release(f"req_{number}") for number in range(600)])
    assert [len(some) for some in refuge.batches()] == [256, 256, 88]
    refuge.clear(refuge.changes)
