from math import frexp

import pytest

from tidegate.engine.gaps import BOUNDS, NONE, Gaps


def classes_of(*gaps: float) -> dict[str, int]:
    counted = Gaps()
    for gap in gaps:
        counted.powers[frexp(gap + NONE)[1]] += 1
    bounds = (*(f"{bound:g}" for bound in BOUNDS), "more")
    return {bound: count for bound, count in zip(bounds, counted.classes(), strict=True) if count}


@pytest.mark.parametrize(
    ("gap", "bound"),
    [
        (0.0, "0.000976562"),
        (0.0005, "0.000976562"),
        (0.001, "0.00195312"),
        (0.02, "0.03125"),
        (0.6, "1"),
        (1.5, "2"),
        (255.0, "256"),
        (257.0, "more"),
        (1e8, "more"),
    ],
)
def test_a_gap_is_counted_below_the_next_power_of_two(gap: float, bound: str) -> None:
    assert classes_of(gap) == {bound: 1}


def test_no_gap_is_lost() -> None:
    gaps = [0.0, *(2.0**power * 1.01 for power in range(-30, 31))]
    assert sum(classes_of(*gaps).values()) == len(gaps)
