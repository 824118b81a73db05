from pathlib import Path

import pytest

from tidegate.storage.database import DatabaseUnusable
from tidegate.storage.journal_file import JournalFile


def test_without_a_database_none_is_made(tmp_path: Path) -> None:
    with pytest.raises(DatabaseUnusable, match="there is no journal"):
        JournalFile(f"sqlite:///{tmp_path}/x.db")
    assert list(tmp_path.iterdir()) == []


def test_an_empty_file_holds_no_journal(tmp_path: Path) -> None:
    (tmp_path / "x.db").touch()
    with pytest.raises(DatabaseUnusable, match="there is no journal"):
        JournalFile(f"sqlite:///{tmp_path}/x.db")


def test_a_file_that_is_no_database_is_told(tmp_path: Path) -> None:
    (tmp_path / "x.db").write_bytes(b"no database" * 1_000)
    with pytest.raises(DatabaseUnusable, match="not a database"):
        JournalFile(f"sqlite:///{tmp_path}/x.db")
