"""Opens the stored catalog for a command, and turns what it refuses into words."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from tidegate.cli.author import author
from tidegate.cli.complaint import Complaint
from tidegate.cli.configured import configured_for

if TYPE_CHECKING:
    from tidegate.config import Config
    from tidegate.managed.desk import Desk
    from tidegate.managed.sealing import Vault

T = TypeVar("T")


def at_desk(
    config: Path, database: str | None, work: "Callable[[Desk], Awaitable[T]]", *, creates: bool = False
) -> T:
    """What comes of `work` on channels, models, accounts and keys; channels are without credentials.

    A database that is named on the command line and is not there is made only by what `creates` something:
    else its name is likely a mistake.
    """
    settings = configured_for(config, database)
    return _at_desk(settings, lambda: None, work, make=creates or database is None)


def at_desk_with_credentials(config: Path, database: str | None, work: "Callable[[Desk], Awaitable[T]]") -> T:
    """As `at_desk`, and the credentials of channels can be opened."""
    from tidegate.managed.sealing import Vault  # late: `--help` need not load it
    from tidegate.wiring.secret_file import own_secret

    settings = configured_for(config, database)

    def vault() -> Vault:
        return Vault(own_secret(settings.server.secret, settings.database.url.reveal()))

    return _at_desk(settings, vault, work, make=database is None)


def _at_desk(
    settings: "Config",
    open_vault: "Callable[[], Vault | None]",
    work: "Callable[[Desk], Awaitable[T]]",
    *,
    make: bool,
) -> T:
    """The vault is opened after the database: beside one that is not there no secret is made."""
    from tidegate.managed.desk import Desk  # late, as above
    from tidegate.managed.live import LiveCatalog
    from tidegate.storage.catalog_access import CatalogFile

    async def open_and_work() -> T:
        store = CatalogFile(settings.database.url.reveal(), make=make)
        try:
            vault = open_vault()
            live = LiveCatalog(settings, vault, store)
            await live.load()
            return await work(Desk(live, vault, author()))
        finally:
            store.close()

    return finished(open_and_work())


def finished(work: "Coroutine[object, object, T]") -> T:
    """What comes of `work`; what it refuses becomes words."""
    try:
        return asyncio.run(work)
    except Exception as error:
        complaint = _complaint(error)
        if complaint is None:
            raise
        raise complaint from error


def _complaint(error: Exception) -> Complaint | None:
    """What a refusal means for the user; None for any other error."""
    from tidegate.admin.ports import DeclaredByFile, GoneMeanwhile, Invalid  # late, as above
    from tidegate.core.failure import TidegateError
    from tidegate.ledger.refusals import LedgerRefusal
    from tidegate.storage.catalog import InUse, NameTaken, NotThere
    from tidegate.storage.database import DatabaseUnusable

    match error:
        case DatabaseUnusable() | LedgerRefusal():
            return Complaint(str(error))
        case TidegateError():
            return Complaint(f"{error.failure.message}: {error.failure.detail}")
        case Invalid():
            return Complaint(str(error), mend=error.faults[0].mend)
        case InUse():
            return Complaint(f"it has keys: {error}", mend="revoke them first, or all at once with --force")
        case _:  # any other error may come out of the work
            words = {
                NameTaken: ("there is one of this name already", "choose another name"),
                GoneMeanwhile: ("it was made, but is not there any more", "look at the list"),
                NotThere: ("there is none of this name", "look at the list"),
                DeclaredByFile: ("the config file declares it", "change it there"),
            }
            found = words.get(type(error))
            return None if found is None else Complaint(found[0], mend=found[1])
