import asyncio
import logging
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.unit.managed.stores import config, node

from tidegate.config import Config
from tidegate.core.failure import TidegateError
from tidegate.storage.catalog import Definition, Kind, create


def model(name: str, text: str = "{}") -> Callable[..., None]:
    return create(Kind.MODELS, name, Definition(text=text))


def names(config: Config) -> list[str]:
    return [one.name for one in config.models]


async def becomes_true(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(60):
        while not condition():
            await asyncio.sleep(0.005)


async def test_a_change_is_in_force_here_when_it_returns(tmp_path: Path) -> None:
    async with node(tmp_path) as here:
        applied: list[list[str]] = []
        here.live.watch(lambda config: applied.append(names(config)))
        await here.live.change(model("haiku"))
        assert applied == [["sonnet", "haiku"]]


async def test_another_process_sees_it_by_itself(tmp_path: Path) -> None:
    async with node(tmp_path) as here, node(tmp_path, poll=0.01) as there:
        applied: list[list[str]] = []
        there.live.watch(lambda config: applied.append(names(config)))
        await here.live.change(model("haiku"))
        await becomes_true(lambda: applied == [["sonnet", "haiku"]])


async def test_without_a_change_nothing_is_read(tmp_path: Path) -> None:
    async with node(tmp_path) as here:
        before = here.store.reads
        for _ in range(3):
            await here.live.refresh()
        assert here.store.reads == before


async def test_a_database_that_is_away_leaves_what_is_in_force(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with node(tmp_path) as here:
        await here.live.change(model("haiku"))
        here.store.away = True
        for _ in range(3):
            await here.live.refresh()
        assert names(here.live.state.config) == ["sonnet", "haiku"]
        with pytest.raises(TidegateError):
            await here.live.change(model("other"))
        here.store.away = False
        await here.live.refresh()
    told = [line.message for line in caplog.records if line.levelno == logging.WARNING]
    assert [line.split(":")[0] for line in told] == [
        "the stored catalog cannot be read, the one in force stays",
        "the stored catalog can be read again",
    ]


async def test_a_start_without_the_database_fails(tmp_path: Path) -> None:
    async with node(tmp_path) as here:
        here.store.away = True
        with pytest.raises(TidegateError):
            await here.live.load()


async def test_a_new_config_file_keeps_what_is_stored(tmp_path: Path) -> None:
    async with node(tmp_path) as here:
        await here.live.change(model("haiku"))
        applied: list[Config] = []
        here.live.watch(applied.append)
        here.live.reload(config(tmp_path, '[[models]]\nname = "son*"\n'))
        assert [names(one) for one in applied] == [["sonnet", "son*", "haiku"]]


async def test_a_config_file_that_is_read_again_meanwhile_is_the_one_in_force(tmp_path: Path) -> None:
    async with node(tmp_path) as here:
        loading = asyncio.create_task(here.live.change(model("haiku")))
        await asyncio.sleep(0)
        here.live.reload(config(tmp_path, '[[models]]\nname = "son*"\n'))
        await loading
        assert names(here.live.state.config) == ["sonnet", "son*", "haiku"]


async def test_what_is_doubtful_is_told_once(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    async with node(tmp_path) as here:
        await here.live.change(model("sonnet"))
        await here.live.change(model("haiku"))
        here.live.reload(config(tmp_path))
        assert caplog.text.count("model sonnet: stands in the config file and in the database") == 1


async def test_changes_at_once_are_all_in_force(tmp_path: Path) -> None:
    async with node(tmp_path) as here:
        await asyncio.gather(*(here.live.change(model(f"m{number}")) for number in range(8)))
        assert len(here.live.state.config.models) == 9


async def test_an_error_that_nobody_expected_does_not_end_the_watch(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async with node(tmp_path) as here, node(tmp_path, poll=0.01) as there:
        seen: list[Config] = []

        def refuse_once(config: Config) -> None:
            seen.append(config)
            if len(seen) == 1:
                raise RuntimeError("a mistake of ours")

        there.live.watch(refuse_once)
        await here.live.change(model("haiku"))
        await becomes_true(lambda: "unexpected error" in caplog.text)
        await here.live.change(model("opus"))
        await becomes_true(lambda: len(seen) == 2)
