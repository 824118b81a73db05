"""The gateway's own secret: from the config, else made once and kept beside the database."""

import errno
import os
import secrets
from contextlib import suppress
from pathlib import Path

from tidegate.core.secret import Secret

_SQLITE = "sqlite:///"


def own_secret(configured: Secret | None, database_url: str) -> Secret:
    """The configured secret, or the one in the file, which is made with mode 0600 where there is none.

    Raises OSError if the file can be neither read nor made, or holds nothing.
    """
    if configured is not None:
        return configured
    path = _path(database_url)
    if not path.exists():
        _make(path)
    return _read(path)


def _make(path: Path) -> None:
    """The file appears with its content or not at all, also when two processes start at once."""
    draft = path.with_name(f"{path.name}.{os.getpid()}.{secrets.token_hex(4)}")
    handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(handle, "w") as file:
            file.write(secrets.token_hex(32) + "\n")
        with suppress(FileExistsError):
            os.link(draft, path)
    finally:
        draft.unlink()


def _read(path: Path) -> Secret:
    text = path.read_text().strip()
    if not text:
        raise OSError(errno.EINVAL, "is empty; remove it, and the next start makes a new one", str(path))
    return Secret(text)


def _path(database_url: str) -> Path:
    if database_url.startswith(_SQLITE):
        database = Path(database_url.removeprefix(_SQLITE).partition("?")[0] or "tidegate.db")
        return database.with_name(database.name + ".secret")
    return Path("tidegate.secret")
