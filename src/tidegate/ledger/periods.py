"""The UTC days and months that budgets are counted in."""

from functools import lru_cache
from typing import NamedTuple

DAY = 86_400
"""Seconds; Unix time has no leap seconds."""

_ERA_DAYS = 146_097  # 400 years, after which the calendar repeats
_TO_MARCH_OF_YEAR_ZERO = 719_468  # days from 0000-03-01 to 1970-01-01; a leap day then ends its year


class Period(NamedTuple):
    """A day or month: its name ("2026-11-30" or "2026-11"), its first second and the one after its last."""

    key: str
    start: int
    end: int


def period_of(at: float, period: str) -> Period:
    """The UTC `day` or `month` that holds `at` (Unix seconds, from the year 1 on)."""
    day, month = _periods(int(at // DAY))
    return day if period == "day" else month


def names_of(at: float) -> tuple[str, str]:
    """The names of the day and the month that hold `at` (Unix seconds)."""
    day, month = _periods(int(at // DAY))
    return day.key, month.key


def period_named(key: str) -> Period:
    """The period with this name."""
    year, month, *day = map(int, key.split("-"))
    at = _number(year, month, day[0] if day else 1) * DAY
    return period_of(at, "day" if day else "month")


@lru_cache(64)  # nearly all requests ask for today
def _periods(number: int) -> tuple[Period, Period]:
    year, month, day = _date(number)
    first = number - day + 1
    over = _date(first + 31)[2]  # how far a 32nd day reaches into the next month
    name = f"{year:04d}-{month:02d}"
    return (
        Period(f"{name}-{day:02d}", number * DAY, (number + 1) * DAY),
        Period(name, first * DAY, (first + 32 - over) * DAY),
    )


def _date(number: int) -> tuple[int, int, int]:
    """Year, month and day of a day counted from 1970-01-01, by way of years that begin in March."""
    era, of_era = divmod(number + _TO_MARCH_OF_YEAR_ZERO, _ERA_DAYS)
    year = (of_era - of_era // 1_460 + of_era // 36_524 - of_era // 146_096) // 365
    of_year = of_era - (365 * year + year // 4 - year // 100)
    month = (5 * of_year + 2) // 153  # from March = 0; five months have 153 days
    day = of_year - (153 * month + 2) // 5 + 1
    late = month >= 10  # January and February belong to the next calendar year
    return era * 400 + year + late, month - 9 if late else month + 3, day


def _number(year: int, month: int, day: int) -> int:
    """The other way round."""
    era, of_era = divmod(year - (month <= 2), 400)
    of_year = (153 * ((month + 9) % 12) + 2) // 5 + day - 1
    return era * _ERA_DAYS + of_era * 365 + of_era // 4 - of_era // 100 + of_year - _TO_MARCH_OF_YEAR_ZERO
