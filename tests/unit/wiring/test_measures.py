import asyncio

from tidegate.observe.gauges import FIGURES, GaugeBoard
from tidegate.wiring.measures import Measures

ZERO: dict[str, float | None] = {figure.name: 0 for figure in FIGURES}
LOST, OPEN = "tidegate_rows_lost_total", "tidegate_open_requests"


async def test_each_shows_what_all_have() -> None:
    board = GaugeBoard(2)
    mine = dict(ZERO)
    here = Measures(board, 0, lambda: mine)
    there = Measures(board, 1, lambda: ZERO | {OPEN: 2})
    await asyncio.sleep(0)
    assert here.together()[OPEN] == 2
    mine[OPEN] = 5
    assert here.together()[OPEN] == 7
    assert f"{OPEN} 7" in there.text()
    await there.close()
    assert here.together()[OPEN] == 5
    await here.close()


async def test_who_takes_over_a_number_counts_on() -> None:
    board = GaugeBoard(1)
    first = Measures(board, 0, lambda: ZERO | {LOST: 3})
    await first.close()
    second = Measures(board, 0, lambda: ZERO | {LOST: 4})
    assert second.together()[LOST] == 7
    assert second.together()[LOST] == 7
    await second.close()
