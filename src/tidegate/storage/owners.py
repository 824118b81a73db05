"""Tells which processes live: each holds a lock on a file of its own, and says so in the database."""

import fcntl
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

from msgspec import Struct
from sqlalchemy import BigInteger, ColumnElement, Connection, cast, extract, func, insert, select, update

from tidegate.storage.schema import owners

_LOCK = ".lock"


class Owner:
    """This process: an id, and a locked file that the kernel lets go however the process ends."""

    def __init__(self, folder: Path, config: str | None = None, *, database: str = "") -> None:
        """Takes the lock in `folder`, which is made if need be. `config` is told to other nodes.

        `database` is the name of that which the spool belongs to; it stands in the lock file.
        """
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.id = uuid4().hex
        self.folder = folder
        self.config = config
        # It gets its name when it is locked: a lock file that nobody holds belongs to the dead.
        coming = folder / f"{self.id}.new"
        self._descriptor = os.open(coming, os.O_RDWR | os.O_CREAT, 0o600)
        fcntl.flock(self._descriptor, fcntl.LOCK_EX)
        os.write(self._descriptor, database.encode("utf-8", "surrogateescape"))
        coming.rename(lock_path(folder, self.id))

    def close(self) -> None:
        """Let go; the lock file stays for whoever cleans up."""
        descriptor, self._descriptor = self._descriptor, -1
        if descriptor >= 0:
            os.close(descriptor)

    def say_so(self, connection: Connection) -> None:
        """Be in the table of owners, seen now by the database's clock."""
        now = seconds_now()
        seen = connection.execute(
            update(owners).where(owners.c.id == self.id).values(seen_at=now, config=self.config)
        )
        if seen.rowcount == 0:
            connection.execute(
                insert(owners).values(
                    id=self.id,
                    host=socket.gethostname(),
                    pid=os.getpid(),
                    boot=_boot(),
                    started_at=now,
                    seen_at=now,
                    config=self.config,
                )
            )


class Seen(Struct, frozen=True):
    """An owner in the database; `age` is how many seconds ago it was seen, by the database's clock."""

    id: str
    host: str
    seen_at: int
    age: int


def everyone(connection: Connection) -> list[Seen]:
    """All owners in the database."""
    query = select(owners.c.id, owners.c.host, owners.c.seen_at, seconds_now() - owners.c.seen_at)
    return [Seen(*row) for row in connection.execute(query)]


def seconds_now() -> ColumnElement[int]:
    """The database's clock, in Unix seconds: one for all nodes."""
    return cast(extract("epoch", func.current_timestamp()), BigInteger)


def lock_path(folder: Path, owner: str) -> Path:
    """The lock file of an owner."""
    return folder / f"{owner}{_LOCK}"


def spool_path(folder: Path, owner: str) -> Path:
    """What an owner could not write to the database."""
    return folder / f"{owner}.spool"


def checkpoint_path(folder: Path, owner: str) -> Path:
    """What an owner's open requests had used while the database was away."""
    return folder / f"{owner}.checkpoint"


def coming_path(path: Path) -> Path:
    """A file that is written whole before it takes the place of `path`."""
    return path.with_suffix(".coming")


def local(folder: Path) -> list[str]:
    """The owners that have, or had, a lock file in `folder`."""
    return sorted(path.stem for path in folder.glob(f"*{_LOCK}"))


def database_of(folder: Path, owner: str) -> str:
    """The name of the database that the owner's spool belongs to; empty if that is not known."""
    return lock_path(folder, owner).read_bytes().decode("utf-8", "surrogateescape").strip()


@contextmanager
def dead(folder: Path, owner: str) -> Iterator[bool]:
    """Whether the process of an owner with a lock file is gone; nobody else cleans up during the block."""
    try:
        descriptor = os.open(lock_path(folder, owner), os.O_RDWR)
    except FileNotFoundError:
        yield False  # somebody else has cleaned up
        return
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        yield False
    else:
        yield True
    finally:
        os.close(descriptor)


def forget_files(folder: Path, owner: str) -> None:
    """Remove all files of an owner, its lock last: while there is one, somebody will clean up."""
    noted = checkpoint_path(folder, owner)
    for path in (spool_path(folder, owner), noted, coming_path(noted), lock_path(folder, owner)):
        path.unlink(missing_ok=True)


def _boot() -> str:
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        return "unknown"
