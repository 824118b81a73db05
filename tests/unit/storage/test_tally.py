import math
import statistics
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from tests.unit.storage.records import ATTEMPT, record

from tidegate.exchange.ports import RequestRecord
from tidegate.storage import rows
from tidegate.storage.pages import OUTCOMES
from tidegate.storage.sums import COUNTS, EDGES
from tidegate.storage.tally import COLUMNS, Sums, Tally, bin_of, bins, percentile, requests_in, tally


def row(record: RequestRecord) -> list[object]:
    values = dict(zip(rows.COLUMNS, rows.encode(record), strict=True))
    return [values[name] for name in COLUMNS]


def told(sums: Sums) -> dict[str, int]:
    return {name: count for name, count in zip(COUNTS, sums, strict=False) if count}


def counted(*records: RequestRecord, seconds: int = 60) -> Tally:
    return tally(map(row, records), seconds)


def test_a_request_counts_in_the_bucket_in_which_it_began() -> None:
    found = counted(record(1, cost=5), record(2, cost=7, outcome="failed"), record(100))
    first, second = 1_699_999_980, 1_700_000_100
    assert [at for at, _ in found] == [first, second]
    assert [told(sums) for sums in found.values()] == [
        {"completed": 1, "failed": 1, "input_tokens": 36, "output_tokens": 24, "cost": 12, "attempts": 2},
        {"completed": 1, "input_tokens": 18, "output_tokens": 12, "attempts": 1},
    ]


def test_an_attempt_counts_at_its_own_channel() -> None:
    tries = (replace(ATTEMPT, channel="other", outcome="failed"), ATTEMPT)
    found = {place[1][1]: told(sums) for place, sums in counted(record(1, attempts=tries)).items()}
    assert found["other"] == {"attempts": 1, "attempts_failed": 1}
    assert (found["main"]["completed"], found["main"]["attempts"]) == (1, 1)


def test_every_outcome_counts() -> None:
    found = counted(*(record(1, outcome=outcome) for outcome in OUTCOMES))
    assert [requests_in(sums) for sums in found.values()] == [len(OUTCOMES)]


def test_models_that_callers_make_up_are_no_names() -> None:
    made_up = [
        record(1, model=f"m-{number}", channel=None, attempts=(), outcome="rejected", status=404)
        for number in range(3)
    ]
    limited = record(1, model="sonnet", channel=None, attempts=(), outcome="rejected", status=429)
    found = {
        combination[0]: requests_in(sums) for (_, combination), sums in counted(*made_up, limited).items()
    }
    assert found == {None: 3, "sonnet": 1}


def test_what_an_upstream_claims_does_not_overflow() -> None:
    sums = next(iter(counted(*[record(1, input_tokens=2**63 - 1, cost=2**62)] * 900).values()))
    assert max(sums) < 2**63


@given(st.lists(st.floats(1.0, 262_000.0), min_size=1, max_size=200), st.sampled_from([0.5, 0.95, 1.0]))
def test_a_percentile_is_near_the_exact_one(times: list[float], part: float) -> None:
    sums = next(iter(counted(*(record(1, first_token_ms=time) for time in times)).values()))
    exact = sorted(times)[max(0, math.ceil(part * len(times)) - 1)]
    found = percentile(bins(sums), part)
    assert found is not None
    assert 1 / 1.1225 <= found / exact <= 1.1225
    assert sum(bins(sums)) == len(times)


def test_times_beyond_the_edges_have_bins_too() -> None:
    assert [bin_of(time) for time in (-1.0, 0.5, 1.0, 1e9)] == [0, 0, 1, len(EDGES)]
    found = counted(*(record(1, first_token_ms=time) for time in (0.0, 1e9, None)))
    assert [(count, place) for place, count in enumerate(bins(next(iter(found.values())))) if count] == [
        (1, 0),
        (1, len(EDGES)),
    ]
    assert percentile([0] * 56, 0.5) is None


def test_edges_are_a_third_of_an_octave_apart() -> None:
    assert statistics.fmean(b / a for a, b in pairwise(EDGES)) == pytest.approx(2 ** (1 / 3))
    assert (EDGES[0], round(EDGES[-1])) == (1.0, 262_144)
