"""Of two checkpoints of one request the later one counts, whoever writes it first."""

from pathlib import Path

from tests.unit.storage.records import record

from tidegate.storage.checkpoints import CheckpointFile, newest


def test_an_older_record_that_comes_later_replaces_nothing(tmp_path: Path) -> None:
    """A batch that hung with a checkpoint is given up when the next one is on the disk already."""
    file = CheckpointFile(tmp_path / "me.checkpoint")
    file.note([record(1, duration_ms=1400.0, output_tokens=28)])
    file.note([record(1, duration_ms=700.0, output_tokens=14), record(2, duration_ms=700.0)])
    found = newest(tmp_path / "me.checkpoint")
    assert [one.output_tokens for one in found.values() if one.id == record(1).id] == [28]
    assert set(found) == {record(1).id, record(2).id}


def test_what_the_database_has_already_is_not_replaced_there_by_an_older_one(tmp_path: Path) -> None:
    file = CheckpointFile(tmp_path / "me.checkpoint")
    file.note([record(1, duration_ms=700.0, output_tokens=14)])
    file.supersede([record(1, duration_ms=1400.0, output_tokens=28), record(2)])
    assert [one.output_tokens for one in file.records] == [28]
