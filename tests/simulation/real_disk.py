"""What survives a kill where the real storage is used: a database file and the folder of the spool."""

import itertools
import logging
import shutil
import sqlite3
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import patch

from tests.simulation.trace import Trace

from tidegate.exchange.ports import RequestRecord
from tidegate.storage import batches, owners, rows, waiting, writer
from tidegate.storage.database import Database
from tidegate.storage.migrate import bring_up_to_date
from tidegate.storage.openings import Openings
from tidegate.storage.recovery import Recovery
from tidegate.storage.spool import KeptHold, read
from tidegate.storage.verify import verify

_MEMORY = Path("/dev/shm")
"""A file system in memory, where there is one."""


class RealDisk:
    """A folder of its own for each run."""

    def __init__(self, balances: dict[str, int], trace: Trace) -> None:
        """`balances` are opening balances of the prepaid accounts, in nano-USD."""
        self.admitted: set[str] = set()
        self.trusted: set[str] = set()
        """Held on trust while the database hung: on the disk when the writer gives it up, not before."""
        self._trace = trace
        self._prepaid = set(balances)
        self._folder = Path(tempfile.mkdtemp(prefix="tidegate-simulation-", dir=_place()))
        self._path = self._folder / "gateway.db"
        self._path.write_bytes(_template(tuple(balances.items())))
        self.spool = self._folder / "spool"
        self.url = f"sqlite:///{self._path}"
        self.peer: owners.Owner
        """Another worker of this machine, which is never killed and cleans up after those that are."""
        self._reader = sqlite3.connect(self._path, isolation_level=None)

    @contextmanager
    def in_use(self) -> Iterator[None]:
        """The storage's modules look at the virtual clock, and owners are counted."""
        clock = SimpleNamespace(monotonic=self._trace.now, sleep=lambda seconds: None)
        numbers = itertools.count(1)
        log = logging.getLogger("tidegate.storage")
        was, log.propagate = log.propagate, False
        log.addHandler(quiet := logging.NullHandler())
        try:
            with (
                patch.object(batches, "time", clock),
                patch.object(writer, "time", clock),
                patch.object(waiting, "time", clock),
                patch.object(owners, "uuid4", lambda: SimpleNamespace(hex=f"{next(numbers):032x}")),
            ):
                self.peer = owners.Owner(self.spool)
                yield
        finally:
            self.peer.close()
            log.removeHandler(quiet)
            log.propagate = was
            self._reader.close()
            shutil.rmtree(self._folder)

    @property
    def rows(self) -> dict[str, RequestRecord]:
        """The journal."""
        names = ", ".join(f'"{name}"' for name in rows.COLUMNS)
        found = self._reader.execute(f"SELECT {names} FROM requests")
        return {row[0]: rows.decode(row) for row in found}

    def knows(self, request: str) -> bool:
        """Whether a kill now would leave a trace of the request."""
        found = self._reader.execute("SELECT 1 FROM intents WHERE id = ?", (request,)).fetchone()
        if found is None and request not in self._spooled():
            return False
        self.admitted.add(request)
        return True

    def covers(self, request: str, amount: int) -> bool:
        """Whether the hold of a prepaid request is at least this; nobody else needs one."""
        query = "SELECT account, amount FROM intents WHERE id = ?"
        found = self._reader.execute(query, (request,)).fetchone()
        return found is None or found[0] not in self._prepaid or found[1] >= amount

    def killed(self, *, cleaned: bool) -> None:
        """`cleaned`: the other worker finds the dead one before it starts again."""
        if cleaned:
            database = Database(self.url)
            wall = self._trace.now  # only what is written now is dated by it
            Recovery(database, self.spool, self.peer.id, (), clock=wall, monotonic=wall).sweep()
            database.close()

    def balance(self, account: str) -> int:
        """What it has, in nano-USD."""
        query = "SELECT balance FROM balances WHERE account = ?"
        found = self._reader.execute(query, (account,)).fetchone()
        return 0 if found is None else int(found[0])

    def check(self, requests: Iterable[str]) -> None:
        """The books balance, and nothing is held when nothing runs."""
        database = Database(self.url)
        difference = verify(database)
        database.close()
        assert difference is None, difference.what
        assert not self._all("SELECT id FROM intents"), "open intents"
        assert not self._all("SELECT account FROM balances WHERE held <> 0"), "something is held"
        assert not list(self.spool.glob("*.spool")), "something waits in the spool"
        charged = dict(
            self._all("SELECT reference, sum(amount) FROM postings WHERE kind = 'settle' GROUP BY 1")
        )
        costs = {identifier: row.cost for identifier, row in self.rows.items()}
        for request in requests:
            due = costs.get(request, 0)
            assert charged.get(request, 0) == due, f"{request}: {charged.get(request)} for {due}"

    def _all(self, query: str) -> list[tuple[str, int]]:
        return self._reader.execute(query).fetchall()

    def _spooled(self) -> set[str]:
        return {
            kept.wanted.id
            for path in self.spool.glob("*.spool")
            for kept in read(path)
            if isinstance(kept, KeptHold)
        }


@cache
def _template(balances: tuple[tuple[str, int], ...]) -> bytes:
    """A database with its tables and opening balances: a migration takes longer than a run."""
    with tempfile.TemporaryDirectory(dir=_place()) as folder:
        path = Path(folder) / "template.db"
        database = Database(f"sqlite:///{path}")
        bring_up_to_date(database)
        with database.connect_writer() as connection, connection.begin():
            Openings(balances).credit(connection, 0)
        database.close()  # the last connection takes the write-ahead log into the file
        return path.read_bytes()


def _place() -> Path | None:
    return _MEMORY if _MEMORY.is_dir() else None
