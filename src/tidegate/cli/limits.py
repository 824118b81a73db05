"""The options that limit a key or an account."""

from typing import Annotated, TypeAlias

import typer

RpmOption: TypeAlias = Annotated[int | None, typer.Option("--rpm", help="Requests per minute.")]
TpmOption: TypeAlias = Annotated[int | None, typer.Option("--tpm", help="Tokens per minute.")]
ConcurrencyOption: TypeAlias = Annotated[
    int | None, typer.Option("--concurrency", help="Requests at the same time.")
]
DayOption: TypeAlias = Annotated[
    str | None, typer.Option("--day", help="US dollars that it may spend a UTC day.")
]
MonthOption: TypeAlias = Annotated[
    str | None, typer.Option("--month", help="US dollars that it may spend a UTC month.")
]


def limits(
    rpm: int | None, tpm: int | None, concurrency: int | None, day: str | None, month: str | None
) -> dict[str, object]:
    """The settings that the options stand for."""
    return {
        "requests_per_minute": rpm,
        "tokens_per_minute": tpm,
        "max_concurrency": concurrency,
        "budget_per_day": day,
        "budget_per_month": month,
    }
