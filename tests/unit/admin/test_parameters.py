import pytest

from tidegate.admin.parameters import Wanted, read_wanted
from tidegate.admin.problems import Problem
from tidegate.storage.pages import Filters


def test_nothing_given_is_the_newest_fifty() -> None:
    assert read_wanted([]) == Wanted(filters=Filters(), limit=50, before=None)


@pytest.mark.parametrize("limit", [1, 500])
def test_the_bounds_of_the_limit_are_inside(limit: int) -> None:
    assert read_wanted([("limit", str(limit))]).limit == limit


def test_a_long_or_odd_name_is_shown_short_and_plain() -> None:
    with pytest.raises(Problem) as refused:
        read_wanted([("é\n" * 1_000, "1")])
    assert refused.value.parameter is not None
    assert refused.value.parameter.isascii()
    assert len(refused.value.detail) < 600


def filters(**given: str) -> Filters:
    return read_wanted(given.items()).filters


def test_times_are_read_with_and_without_a_zone() -> None:
    for text in ("2023-11-14T22:13:20.123Z", "2023-11-14T22:13:20.123", "2023-11-15T00:13:20.123+02:00"):
        assert filters(since=text).since == 1_700_000_000_123_000
    assert filters(until="1970-01-02").until == 86_400_000_000


def test_an_id_may_be_given_without_what_all_begin_with() -> None:
    assert filters(id="01ab").id == filters(id="req_01ab").id == "req_01ab"


def test_status_and_stream_are_read() -> None:
    assert filters(status="429", stream="false") == Filters(status=429, stream=False)


@pytest.mark.parametrize(
    "given",
    [
        {"since": "now"},
        {"since": "2023-11-14T22:13:20 02:00"},  # a + that the URL did not escape
        {"until": "9999-12-31T23:59:59-12:00"},
        {"since": "2023-01-02", "until": "2023-01-02"},
        {"status": "42"},
        {"status": "4xx"},
        {"stream": "yes"},
        {"id": "x" * 65},
        {"id": "é"},
    ],
)
def test_what_cannot_be_is_named(given: dict[str, str]) -> None:
    with pytest.raises(Problem) as refused:
        filters(**given)
    assert refused.value.parameter == next(iter(given))
