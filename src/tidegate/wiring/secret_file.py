"""The gateway's own secret: from the config, else made once and kept beside the database."""

import os
import secrets
from pathlib import Path

from tidegate.core.secret import Secret

_SQLITE = "sqlite:///"


def own_secret(configured: Secret | None, database_url: str) -> Secret:
    """The configured secret, or the one in the file, which is made with mode 0600 where there is none.

    Raises OSError if the file can be neither read nor made.
    """
    if configured is not None:
        return configured
    path = _path(database_url)
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        return Secret(path.read_text().strip())
    with os.fdopen(handle, "w") as file:
        made = secrets.token_hex(32)
        file.write(made + "\n")
    return Secret(made)


def _path(database_url: str) -> Path:
    if database_url.startswith(_SQLITE):
        database = Path(database_url.removeprefix(_SQLITE).partition("?")[0] or "tidegate.db")
        return database.with_name(database.name + ".secret")
    return Path("tidegate.secret")
