"""Where rows, holds and checkpoints wait on the disk while the database is away."""

import logging
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from msgspec.structs import replace

from tidegate.exchange.ports import RequestRecord
from tidegate.storage import rows
from tidegate.storage.checkpoints import CheckpointFile
from tidegate.storage.items import REQUESTS, Entry, Noted, Release, Row, Sheet
from tidegate.storage.owners import checkpoint_path, spool_path
from tidegate.storage.spool import Kept, KeptHold, KeptLine, KeptRecord, KeptRelease, Spool, frame, read

log = logging.getLogger("tidegate.storage")

_STEP = 256


class Refuge:
    """The files of one process. Any thread may add to them; only the writer's reads and clears them."""

    def __init__(self, folder: Path, owner: str, sheets: Sequence[Sheet]) -> None:
        """`sheets` are those whose rows are no requests; nothing is written yet."""
        self._spool = Spool(spool_path(folder, owner))
        self._checkpoints = CheckpointFile(checkpoint_path(folder, owner))
        self._sheets = by_table(sheets)
        self._lock = threading.Lock()
        self._changes = 0
        self.used = False
        """Whether anything is there."""
        self.unfit = 0
        """Entries that no file can hold."""

    @property
    def count(self) -> int:
        """Entries that wait on the disk."""
        return self._spool.count

    @property
    def changes(self) -> int:
        """How often something was added. Waits for what is being added: it can be read then."""
        with self._lock:
            return self._changes

    @property
    def records(self) -> list[RequestRecord]:
        """The newest checkpoints of requests that were open at the last of them."""
        with self._lock:
            return self._checkpoints.records

    def keep(self, entries: Sequence[Entry]) -> None:
        """Have the entries on the disk when this returns; OSError: none of them is."""
        fitting = [kept for entry in entries if (kept := self._fitting(entry)) is not None]
        with self._adding():
            self._spool.add(fitting)
            for entry in entries:
                if isinstance(entry, Row) and entry.sheet.settles:
                    self._checkpoints.forget(entry.record.id)

    def _fitting(self, entry: Entry) -> Kept | None:
        try:
            return _kept(entry)
        except Exception:
            log.exception("spool: an entry cannot be written, not even mended, and is lost")
            self.unfit += 1
            return None

    def note(self, records: Sequence[RequestRecord]) -> None:
        """Keep checkpoints; OSError: they are only in memory."""
        with self._adding():
            self._checkpoints.note(records)

    def supersede(self, records: Sequence[RequestRecord]) -> None:
        """The database has these checkpoints."""
        with self._lock:
            self._checkpoints.supersede(records)

    @contextmanager
    def _adding(self) -> Iterator[None]:
        with self._lock:
            self._changes += 1
            self.used = True
            yield

    def batches(self) -> Iterator[list[Entry]]:
        """What waits, in its order."""
        return batches(self._spool.path, self._sheets)

    def clear(self, changes: int) -> None:
        """The database has all that was there at so many changes; what came later keeps everything here."""
        with self._lock:
            if self._changes == changes:
                self._spool.remove()
                self._checkpoints.remove()
                self.used = False


def by_table(sheets: Sequence[Sheet]) -> Mapping[str, Sheet]:
    """The sheets as a spool needs them: its lines are encoded already."""
    return {sheet.table: replace(sheet, encode=tuple, mend=tuple) for sheet in sheets}


def batches(path: Path, sheets: Mapping[str, Sheet]) -> Iterator[list[Entry]]:
    """The entries of a spool in their order, some hundred at a time."""
    some: list[Entry] = []
    for kept in read(path):
        if isinstance(kept, KeptLine) and kept.table not in sheets:
            log.error("spool: a line for the unknown table %s is left out", kept.table)
            continue
        some.append(_entry(kept, sheets))
        if len(some) == _STEP:
            yield some
            some = []
    if some:
        yield some


def _kept(entry: Entry) -> Kept:
    match entry:
        case Row(sheet, record) if sheet.settles:
            whole = KeptRecord(record)
            return whole if _fits(whole) else KeptRecord(rows.mended(record))
        case Row(sheet, record):
            line = KeptLine(str(sheet.table), tuple(sheet.encode(record)))
            return line if _fits(line) else replace(line, values=tuple(sheet.encode(sheet.mend(record))))
        case Noted(wanted):
            return KeptHold(wanted)
        case Release(identifier, account):
            return KeptRelease(identifier, account)


def _fits(kept: Kept) -> bool:
    """Whether it can be written: a lone surrogate, or a number beyond 64 bits, cannot."""
    try:
        frame(kept)
    except (UnicodeEncodeError, OverflowError):
        return False
    return True


def _entry(kept: Kept, sheets: Mapping[str, Sheet]) -> Entry:
    match kept:
        case KeptRecord(record):
            return Row(REQUESTS, record)
        case KeptHold(wanted):
            return Noted(wanted)
        case KeptRelease(identifier, account):
            return Release(identifier, account)
        case KeptLine(table, values):
            return Row(sheets[table], values)
