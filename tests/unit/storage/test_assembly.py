import threading
from pathlib import Path

import pytest

from tidegate.storage import assembly
from tidegate.storage.assembly import open_storage
from tidegate.storage.database import Database, DatabaseUnusable


async def test_a_database_that_went_away_is_not_ready(url: str) -> None:
    storage = await open_storage(url, 0)
    replace_with_a_folder(Path(url.removeprefix("sqlite:///")))
    storage._database.engine.dispose()
    assert not await storage.ready()
    await storage.close(0.1)


async def test_who_opens_it_hears_that_it_does_not_answer_yet(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    told, heard = list[str](), threading.Event()
    prepare = Database.prepare

    def late(database: Database) -> None:
        heard.wait(60)
        prepare(database)

    async def unheard(place: str) -> None:
        told.append(place)
        heard.set()

    monkeypatch.setattr(Database, "prepare", late)
    monkeypatch.setattr(assembly, "UNHEARD_SECONDS", 0.01)
    storage = await open_storage(url, 0, unheard=unheard)
    assert told == [url.removeprefix("sqlite:///")]
    await storage.close(0.1)


def replace_with_a_folder(path: Path) -> None:
    path.rename(path.with_suffix(".gone"))
    path.mkdir()


async def test_a_url_that_cannot_be_used_is_told(tmp_path: Path) -> None:
    with pytest.raises(DatabaseUnusable):
        await open_storage(f"sqlite:///{tmp_path}/none/x.db", 0)
