import asyncio
import threading

import pytest
from msgspec.structs import replace
from tests.unit.routing.channels import channel
from tests.unit.storage.records import RECORD

from tidegate.observe import figures
from tidegate.observe.board import CountsBoard
from tidegate.observe.counts import Counts, value_of
from tidegate.observe.exposition import Format
from tidegate.observe.process import ProcessReading
from tidegate.routing.catalog import Catalog
from tidegate.wiring import measures as measures_module
from tidegate.wiring.measures import Measures

CATALOG = Catalog([channel("main", "sonnet")])
SERVED = ("chat", "sonnet", "main", "completed", "none")


def measures(board: CountsBoard, number: int, lost: int = 0, open_: int = 0) -> Measures:
    def read(_: ProcessReading | None) -> Counts:
        return {figures.LOST.name: {(): [lost]}, figures.OPEN_REQUESTS.name: {(): [open_]}}

    made = Measures(board, number, lambda: CATALOG)
    made.start(read)
    return made


async def test_each_shows_what_all_have() -> None:
    board = CountsBoard(2)
    here, there = measures(board, 0, open_=1), measures(board, 1, open_=2)
    there.traffic.ended(RECORD, None)
    there.together()
    here.traffic.ended(RECORD, None)
    assert value_of(here.together(), figures.OPEN_REQUESTS) == 3
    assert here.together()[figures.REQUESTS.name] == {SERVED: [2]}
    assert "\ntidegate_open_requests 3\n" in await here.page(Format.TEXT)
    await there.close()
    assert value_of(here.together(), figures.OPEN_REQUESTS) == 1
    assert here.together()[figures.REQUESTS.name] == {SERVED: [2]}
    await here.close()


async def test_a_page_is_written_while_streams_go_on(monkeypatch: pytest.MonkeyPatch) -> None:
    begun, goes_on, waited = threading.Event(), threading.Event(), []

    def long(*_: object) -> str:
        begun.set()
        waited.append(goes_on.wait(10))
        return "written"

    monkeypatch.setattr(measures_module, "render", long)
    here = measures(CountsBoard(1), 0)
    page = asyncio.create_task(here.page(Format.TEXT))
    async with asyncio.timeout(60):
        while not begun.is_set():
            await asyncio.sleep(0.01)
        goes_on.set()
        assert (await page, waited) == ("written", [True])
    await here.close()


async def test_who_needs_few_figures_is_told_those() -> None:
    here = measures(CountsBoard(1), 0, open_=2)
    here.traffic.ended(RECORD, None)
    assert here.together((figures.OPEN_REQUESTS,)) == {figures.OPEN_REQUESTS.name: {(): [2]}}
    await here.close()


async def test_who_takes_over_a_number_counts_on() -> None:
    board = CountsBoard(1)
    first = measures(board, 0, lost=3)
    first.traffic.ended(RECORD, None)
    await first.close()
    second = measures(board, 0, lost=4)
    second.traffic.ended(replace(RECORD, cost=5), None)
    for _ in range(2):
        together = second.together()
        assert value_of(together, figures.LOST) == 7
        assert together[figures.REQUESTS.name] == {SERVED: [2]}
        assert value_of(together, figures.COST, ("sonnet",)) == 5e-9
    await second.close()


async def test_it_posts_by_itself_and_tells_how_late_its_timer_is() -> None:
    board = CountsBoard(1)
    here = measures(board, 0, lost=1)
    async with asyncio.timeout(60):
        while not (lag := board.all()[0].get(figures.LAG.name)):
            await asyncio.sleep(0.05)
    assert sum(lag[()][1:]) >= 1
    await here.close()
