"""Nodes that share a database notice that their config files differ."""

import json
import logging
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import Connection

from tidegate.storage.agreement import Agreement, differences
from tidegate.storage.database import Database
from tidegate.storage.owners import Owner


def digests(**changes: str) -> str:
    return json.dumps({"server.secret": "s", "channels": "c", "keys": "k"} | changes)


class Node:
    """A process that says what it has, and looks at the others."""

    def __init__(self, database: Database, folder: Path, config: str | None, *, aloud: bool = True) -> None:
        self.database = database
        self.owner = Owner(folder, config)
        self.agreement = Agreement(self.owner, aloud=aloud)

    def look(self, times: int = 1) -> tuple[str, ...]:
        for _ in range(times):
            self.do(self.owner.say_so)
            self.do(self.agreement.look)
        return self.agreement.differing

    def do(self, task: object) -> None:
        with self.database.connect_writer() as connection, connection.begin():
            task(connection)  # type: ignore[operator]


@pytest.fixture
def nodes(database: Database, tmp_path: Path) -> Iterator[tuple[Node, Node]]:
    here = Node(database, tmp_path / "here", digests())
    there = Node(database, tmp_path / "there", digests(), aloud=False)
    yield here, there
    here.owner.close()
    there.owner.close()


def warnings(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [line.message for line in caplog.records if line.levelno == logging.WARNING]


def test_equal_files_are_no_news(nodes: tuple[Node, Node], caplog: pytest.LogCaptureFixture) -> None:
    here, there = nodes
    assert [there.look(), *(here.look() for _ in range(3))] == [()] * 4
    assert warnings(caplog) == []


def test_a_difference_that_stays_is_told_once_until_it_is_gone(
    nodes: tuple[Node, Node], caplog: pytest.LogCaptureFixture
) -> None:
    here, there = nodes
    there.owner.config = digests(keys="other", channels="other")
    there.look()
    assert here.look() == (), "it may be gone at the next look"
    assert [here.look() for _ in range(3)] == [("channels", "keys")] * 3
    (told,) = warnings(caplog)
    assert "differs in channels, keys" in told
    there.owner.config = digests()
    there.look()
    assert here.look() == ()
    assert warnings(caplog)[1:] == ["the config files of all nodes are the same again"]


def test_a_file_that_is_read_again_a_moment_later_is_no_news(
    nodes: tuple[Node, Node], caplog: pytest.LogCaptureFixture
) -> None:
    here, there = nodes
    here.owner.config = digests(keys="new")
    there.look()
    assert here.look() == ()
    there.owner.config = digests(keys="new")
    there.look()
    assert here.look(2) == ()
    assert warnings(caplog) == []


def test_the_other_workers_know_and_say_nothing(
    nodes: tuple[Node, Node], caplog: pytest.LogCaptureFixture
) -> None:
    here, there = nodes
    here.owner.config = digests(keys="other")
    here.look()
    assert there.look(2) == ("keys",)
    assert warnings(caplog) == []


def test_who_was_not_seen_for_long_does_not_count(nodes: tuple[Node, Node]) -> None:
    def age(connection: Connection) -> None:
        connection.exec_driver_sql("UPDATE owners SET seen_at = seen_at - 60")

    here, there = nodes
    there.owner.config = digests(keys="other")
    there.look()
    here.do(age)
    assert here.look(3) == ()


def test_only_what_both_tell_is_compared() -> None:
    assert differences(digests(), None) == differences(None, digests()) == ()
    assert differences(digests(), "not JSON") == differences(digests(), "[1]") == ()
    assert differences(digests(), json.dumps({"server.secret": "s", "routing": "r"})) == ()
    assert differences(digests(), digests(keys="x")) == ("keys",)
    assert differences(digests(), digests(**{"keys": "x", "server.secret": "x"})) == ("server.secret",)
