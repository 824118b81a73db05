import pytest

from tidegate.doctor.flow_checks import check_flow
from tidegate.doctor.recording import Piece


def rules(
    times: list[float], *, size: int = 20, short_took: float | None = None, pieces: tuple[Piece, ...] = ()
) -> list[str]:
    heard = [(at, size) for at in times]
    return [finding.rule for finding in check_flow(heard, pieces, short_took)]


def paced(start: float, step: float, count: int = 150) -> list[float]:
    return [start + number * step for number in range(count)]


@pytest.mark.parametrize(
    "times",
    [
        paced(0.5, 0.02),
        paced(0.05, 0.0),  # it was simply quick
        paced(20.0, 0.002),  # it thought for long, and spoke as fast as the fastest do
        paced(0.9, 0.0),
        [*paced(1.0, 0.01, 50), *paced(9.0, 0.01, 50)],  # it paused once to think
    ],
)
def test_output_that_comes_as_it_is_made_has_no_finding(times: list[float]) -> None:
    assert rules(times) == []


def test_a_stream_that_is_held_back_comes_in_one_burst() -> None:
    assert rules(paced(5.0, 0.0005)) == ["unflushed"]
    assert rules([5.0], size=3_000) == ["unflushed"], "an answer that is said in one event was collected too"
    assert rules(paced(5.0, 0.0, 4)) == [], "too little to tell"


def test_a_quick_stream_that_is_held_back_is_known_by_a_wait_that_grows_with_the_answer() -> None:
    assert rules(paced(0.9, 0.0), short_took=0.1) == ["unflushed"]
    assert rules(paced(0.9, 0.0), short_took=0.8) == [], "it always takes so long to begin"
    assert rules(paced(0.9, 0.002), short_took=0.1) == [], "it took longer to begin, and streams"


def test_a_stream_that_is_collected_comes_in_lumps() -> None:
    lumps = [start + number * 0.001 for start in (0.5, 1.0, 1.5) for number in range(30)]
    assert rules(lumps) == ["lumps"]
    assert rules([start + number * 0.001 for start in range(1, 20) for number in range(5)]) == []


def test_a_stream_that_is_cut_into_blocks_of_a_size_has_torn_events() -> None:
    times = paced(0.5, 0.2, 20)
    torn = tuple(Piece(at, b"data: {}\n\ndata: {") for at in times)
    assert rules(times, pieces=torn) == ["lumps"]
    whole = tuple(Piece(at, b": alive\ndata: {}\n\n") for at in times)
    assert rules(times, pieces=whole) == []
