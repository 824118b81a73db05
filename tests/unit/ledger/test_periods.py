from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidegate.ledger.periods import Period, names_of, period_named, period_of

MOMENTS = st.floats(-60_000_000_000, 250_000_000_000)


def seconds(text: str) -> int:
    return int(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp())


@pytest.mark.parametrize(
    ("at", "period", "expected"),
    [
        ("2026-11-30T12:00:00", "day", ("2026-11-30", "2026-11-30", "2026-12-01")),
        ("2026-11-30T23:59:59", "month", ("2026-11", "2026-11-01", "2026-12-01")),
        ("2026-12-01T00:00:00", "month", ("2026-12", "2026-12-01", "2027-01-01")),
        ("2028-02-29T10:00:00", "day", ("2028-02-29", "2028-02-29", "2028-03-01")),
        ("2028-02-10T10:00:00", "month", ("2028-02", "2028-02-01", "2028-03-01")),
        ("2100-02-28T10:00:00", "month", ("2100-02", "2100-02-01", "2100-03-01")),
        ("2000-02-29T00:00:00", "month", ("2000-02", "2000-02-01", "2000-03-01")),
        ("1970-01-01T00:00:00", "day", ("1970-01-01", "1970-01-01", "1970-01-02")),
        ("1969-12-31T23:59:59", "month", ("1969-12", "1969-12-01", "1970-01-01")),
    ],
)
def test_a_period_has_a_name_a_start_and_an_end(at: str, period: str, expected: tuple[str, str, str]) -> None:
    key, start, end = expected
    assert period_of(seconds(at), period) == Period(key, seconds(start), seconds(end))


@given(MOMENTS)
def test_periods_are_those_of_the_calendar(at: float) -> None:
    moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=int(at // 1))
    day, month = period_of(at, "day"), period_of(at, "month")
    assert (day.key, month.key) == (moment.strftime("%Y-%m-%d").zfill(10), moment.strftime("%Y-%m").zfill(7))
    assert month.start <= day.start <= at < day.end <= month.end


@given(MOMENTS)
def test_a_period_begins_where_the_one_before_ends(at: float) -> None:
    for kind in ("day", "month"):
        period = period_of(at, kind)
        assert period_of(period.start - 1, kind).end == period.start
        assert period_of(period.end, kind).start == period.end


@given(MOMENTS)
def test_a_period_is_found_by_its_name(at: float) -> None:
    periods = [period_of(at, kind) for kind in ("day", "month")]
    assert [period_named(period.key) for period in periods] == periods
    assert names_of(at) == tuple(period.key for period in periods)
