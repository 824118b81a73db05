"""What a reload takes from the file, and what it leaves for the next start."""

import logging
from pathlib import Path
from typing import cast

import pytest

from tidegate.config import Config, load
from tidegate.wiring.gateway import Gateway
from tidegate.wiring.serving import reload

KEY = '[[keys]]\nname = "k"\nkey = "sk-tg-1"\n'


class Running:
    """Stands in for a gateway: keeps what it is given."""

    def __init__(self, config: Config) -> None:
        self.config = config

    def reload(self, config: Config) -> None:
        self.config = config


def test_what_only_a_start_can_change_is_told_and_kept(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    path = tmp_path / "tidegate.toml"

    def reloaded(text: str) -> str:
        path.write_text(text)
        caplog.clear()
        reload(cast(Gateway, running), path)
        return caplog.text

    path.write_text(KEY)
    running = Running(load(path, {}))
    told = reloaded(
        '[server]\nport = 9000\ndrain_timeout = "7s"\n[database]\nurl = "sqlite:///other.db"\n' + KEY
    )
    assert "server.port has changed" in told
    assert "[database] has changed" in told
    assert (running.config.server.port, running.config.server.drain_timeout) == (8080, 7.0)
    assert running.config.database.url.reveal() == "sqlite:///tidegate.db"
    back = reloaded(KEY)
    assert "has changed" not in back
    assert "no channel is set" in back
