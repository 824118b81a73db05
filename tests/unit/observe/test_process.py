import os
from pathlib import Path

import pytest

from tidegate.observe import process
from tidegate.observe.process import cpu_microseconds, read_process


def test_the_system_tells_of_this_process() -> None:
    before = read_process()
    reader, writer = os.pipe()
    after = read_process()
    os.close(reader)
    os.close(writer)
    assert 1_000_000 < before.memory < 1 << 40
    assert before.open_files is not None
    assert after.open_files is not None
    assert after.open_files - before.open_files == 2
    assert after.most_files is None or after.most_files > after.open_files


def test_time_on_the_processor_goes_on() -> None:
    before = cpu_microseconds()
    sum(range(300_000))
    assert cpu_microseconds() > before


def test_where_the_system_does_not_tell_there_is_the_most_memory_and_no_files(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(process, "_PAGES", tmp_path / "none")
    monkeypatch.setattr(process, "_FILES", tmp_path / "none")
    found = read_process()
    assert found.memory > 1_000_000
    assert found.open_files is None
