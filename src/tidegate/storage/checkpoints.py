"""Notes what open requests have used so far: in their intents, or in a file while the database is away."""

import logging
from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec
from sqlalchemy import Connection

from tidegate.exchange.ports import RequestRecord
from tidegate.storage import rows
from tidegate.storage.owners import coming_path
from tidegate.storage.spool import KeptRecord, frame, read
from tidegate.storage.statements import Statements

log = logging.getLogger("tidegate.storage")

STEP = 64
"""Records for each statement."""

_to_json = msgspec.json.Encoder().encode


def to_json(record: RequestRecord) -> str:
    """A record as its intent keeps it; what UTF-8 cannot hold is replaced."""
    try:
        return _to_json(record).decode()
    except UnicodeEncodeError:
        return _to_json(rows.mended(record)).decode()


def note(connection: Connection, records: Sequence[RequestRecord]) -> None:
    """Replace the records of those intents that there still are."""
    statements = Statements(connection)
    mark = statements.wording.mark
    for start in range(0, len(records), STEP):
        part = records[start : start + STEP]
        # One statement for many: the driver gives up the interpreter's lock at each.
        lines = ",".join([f"({mark},{mark})"] * len(part))
        text = (
            "UPDATE intents SET record = v.column2"  # noqa: S608 (only marks are put in)
            f" FROM (VALUES {lines}) AS v WHERE intents.id = v.column1"
        )
        statements.run(text, [value for record in part for value in (record.id, to_json(record))])


class CheckpointFile:
    """The newest record of each open request, for the time that the database is away."""

    def __init__(self, path: Path) -> None:
        """Nothing is written yet."""
        self._path = path
        self._newest: dict[str, RequestRecord] = {}

    @property
    def records(self) -> list[RequestRecord]:
        """What is in it."""
        return list(self._newest.values())

    def note(self, records: Iterable[RequestRecord]) -> None:
        """Replace the file by one with these records too, where they are newer. Raises OSError."""
        for record in records:
            known = self._newest.get(record.id)
            # Whoever hung with a record may come to write it after a later one was noted by another thread.
            if known is None or known.duration_ms <= record.duration_ms:
                self._newest[record.id] = record
        coming = coming_path(self._path)
        coming.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        # Not flushed to the disk: it is for a process that is killed, and is written every second.
        coming.write_bytes(b"".join(frame(KeptRecord(_clean(one))) for one in self._newest.values()))
        coming.chmod(0o600)
        coming.rename(self._path)

    def supersede(self, records: Iterable[RequestRecord]) -> None:
        """The database has these: what is known of the same requests must not replace them there."""
        self._newest.update((record.id, record) for record in records if record.id in self._newest)

    def forget(self, identifier: str) -> None:
        """A request has ended."""
        self._newest.pop(identifier, None)

    def remove(self) -> None:
        """The database has all of it."""
        self._newest.clear()
        self._path.unlink(missing_ok=True)


def newest(path: Path) -> dict[str, RequestRecord]:
    """What a checkpoint file holds, by request; nothing if there is none."""
    return {kept.record.id: kept.record for kept in read(path) if isinstance(kept, KeptRecord)}


def _clean(record: RequestRecord) -> RequestRecord:
    try:
        _to_json(record)
    except UnicodeEncodeError:
        return rows.mended(record)
    return record
