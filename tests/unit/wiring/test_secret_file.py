"""The gateway's own secret: made once, private, and never nothing."""

import stat
from pathlib import Path

import pytest

from tidegate.core.secret import Secret
from tidegate.wiring.secret_file import own_secret


def test_it_is_made_once_and_readable_by_its_owner_only(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/t.db"
    made = own_secret(None, url)
    assert len(made.reveal()) == 64
    assert own_secret(None, url) == made
    assert stat.S_IMODE((tmp_path / "t.db.secret").stat().st_mode) == 0o600


def test_the_configs_own_goes_first_and_makes_no_file(tmp_path: Path) -> None:
    assert own_secret(Secret("mine"), f"sqlite:///{tmp_path}/t.db").reveal() == "mine"
    assert list(tmp_path.iterdir()) == []


def test_an_empty_file_is_no_secret(tmp_path: Path) -> None:
    (tmp_path / "t.db.secret").write_text("\n")
    with pytest.raises(OSError, match="is empty"):
        own_secret(None, f"sqlite:///{tmp_path}/t.db")


def test_a_full_disk_leaves_no_empty_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tidegate.wiring.secret_file.secrets.token_hex", lambda _: Unwritable())
    with pytest.raises(OSError, match="no space"):
        own_secret(None, f"sqlite:///{tmp_path}/t.db")
    assert list(tmp_path.iterdir()) == []


class Unwritable(str):
    """Text whose writing fails."""

    def __add__(self, other: str) -> str:
        raise OSError("no space left on device")
