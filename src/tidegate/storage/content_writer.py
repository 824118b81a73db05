"""Redacts and writes contents on a thread of its own, in bounded memory: what finds no room is not kept."""

import logging
import threading
import time
from collections import deque
from collections.abc import Sequence

from msgspec import Struct
from sqlalchemy.exc import SQLAlchemyError

from tidegate.exchange.capture import Content
from tidegate.storage.contents import Redact, insert_rows, row_of
from tidegate.storage.database import Database, DatabaseUnusable, passes, reason
from tidegate.storage.news import News

log = logging.getLogger("tidegate.storage")

ROOM = 64 * 1024 * 1024
"""Bytes of contents that are in memory at once: of open requests, and of those that wait to be written."""

WINDOW = 0.2
"""Seconds for which contents are gathered before they are written."""

STEP = 16
"""Contents in one transaction: on SQLite some milliseconds of the write lock, which holds wait for."""

_PAUSE = 1.0
_MOMENT = 0.05


class Keeping(Struct, frozen=True, kw_only=True):
    """How contents are kept."""

    max_bytes: int
    redact: Redact
    retention: float
    """Seconds; 0 keeps a content as long as its request's row."""


def _as_it_is(text: str) -> str:
    return text


NO_RULES = Keeping(max_bytes=65_536, redact=_as_it_is, retention=0)


class ContentWriter:
    """Implements `exchange.capture.Contents`. Its public methods are the loop's, `_run` the thread's."""

    def __init__(self, database: Database, *, window: float = WINDOW, room: int = ROOM) -> None:
        """The thread begins with the first content."""
        self.keeping = NO_RULES
        self._database = database
        self._window = window
        self._free = room
        self._given_back = 0
        self._waiting: deque[tuple[Content, int]] = deque()
        self._taken = 0
        self._done = 0
        self._refused = 0
        self._unkept = 0
        self.failing = False
        self._news = News()
        """Whether the database did not take the last ones."""
        self._wake = threading.Event()
        self._hurry = threading.Event()
        self._closing = threading.Event()
        self._give_up_at = float("inf")
        self._thread: threading.Thread | None = None

    @property
    def limit(self) -> int:
        """See `Contents`."""
        return self.keeping.max_bytes

    @property
    def dropped(self) -> int:
        """Contents that were chosen and are not kept."""
        return self._refused + self._unkept

    @property
    def pending(self) -> int:
        """Contents that are neither written nor given up."""
        return self._taken - self._done

    @property
    def taken(self) -> int:
        """Contents that have come so far."""
        return self._taken

    @property
    def done(self) -> int:
        """Those of them that are written or given up."""
        return self._done

    def has_room(self, size: int) -> bool:
        """See `Contents`."""
        # The thread only adds to what is given back, so that neither has to wait for a lock.
        if size > self._free + self._given_back:
            return False
        self._free -= size
        return True

    def take(self, content: Content, room: int) -> None:
        """See `Contents`."""
        if self._closing.is_set():
            self._free += room
            self.refuse()
            return
        self._taken += 1
        self._waiting.append((content, room))
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="tidegate-contents", daemon=True)
            self._thread.start()
        self._wake.set()

    def refuse(self) -> None:
        """See `Contents`."""
        self._refused += 1
        _tell(self._refused, "there is no room for it")

    def hurry(self) -> None:
        """Somebody waits for what has come so far."""
        self._hurry.set()

    def close(self, patience: float) -> None:
        """Write what waits, for `patience` seconds at most. Blocks."""
        self._give_up_at = time.monotonic() + patience
        self._closing.set()
        self._hurry.set()
        self._wake.set()
        if self._thread is not None:
            self._thread.join(patience + 1.0)

    def _run(self) -> None:
        while True:
            self._wake.wait()
            self._wake.clear()
            self._news.look()
            self._hurry.wait(self._window)
            while self._waiting:
                try:
                    self._write_some()
                except Exception:  # the thread must live on for what follows
                    log.exception("contents: unexpected error")
            self._hurry.clear()
            if self._closing.is_set() and not self._waiting:
                return

    def _write_some(self) -> None:
        """A few contents: redact, then write until that succeeds or makes no sense."""
        batch = [self._waiting.popleft() for _ in range(min(STEP, len(self._waiting)))]
        try:
            rows = [row for content, _ in batch if (row := self._row(content)) is not None]
            if rows and not self._write(rows):
                self._lose(len(rows), "the database did not take it")
        finally:
            self._done += len(batch)
            self._given_back += sum(room for _, room in batch)

    def _row(self, content: Content) -> dict[str, object] | None:
        row = row_of(content, self.keeping.max_bytes, self.keeping.redact)
        if row is None:
            self._lose(1, "the patterns of what must not be kept take too long for it")
        return row

    def _write(self, rows: Sequence[dict[str, object]]) -> bool:
        """Whether they are in the database. While it is away this waits, and memory may fill up meanwhile."""
        while True:
            error = self._try(rows)
            if error is None:
                return True
            if not passes(error) or time.monotonic() >= self._give_up_at:
                return False
            if self._closing.wait(_PAUSE):
                time.sleep(_MOMENT)

    def _try(self, rows: Sequence[dict[str, object]]) -> Exception | None:
        try:
            with self._database.connect_writer() as connection, connection.begin():
                insert_rows(connection, rows)
        except (SQLAlchemyError, DatabaseUnusable) as error:
            if not self.failing:
                self._news.say(logging.WARNING, f"contents: cannot be written: {reason(error)}")
            self.failing = True
            return error
        if self.failing:
            self._news.say(logging.WARNING, "contents: can be written again")
        self.failing = False
        return None

    def _lose(self, number: int, why: str) -> None:
        self._unkept += number
        _tell(self._unkept, why)


def _tell(count: int, why: str) -> None:
    """The 1st, 10th, 100th … is told."""
    if str(count).strip("0") == "1":
        log.warning("contents: what a request said is not kept because %s (%d so far)", why, count)
