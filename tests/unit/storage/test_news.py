import logging

import pytest

from tidegate.storage.news import AT_ONCE, LATER, News


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


def test_what_happens_now_and_then_is_told_as_it_comes(
    clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    news = News(clock)
    for number in range(10):
        news.say(logging.WARNING, f"line {number}")
        clock.now += LATER
    assert [line.getMessage() for line in caplog.records] == [f"line {number}" for number in range(10)]


def test_of_a_flood_few_are_told_and_always_the_last(clock: Clock, caplog: pytest.LogCaptureFixture) -> None:
    news = News(clock)
    for number in range(1_000):
        news.say(logging.WARNING, f"line {number}")
        clock.now += 0.01
    assert len(caplog.records) == AT_ONCE
    news.look()
    assert len(caplog.records) == AT_ONCE
    clock.now += LATER
    news.look()
    news.look()
    assert len(caplog.records) == AT_ONCE + 1
    assert caplog.records[-1].getMessage() == f"line 999 (and {1_000 - AT_ONCE - 1} lines about it before)"


def test_a_flood_of_an_hour_is_a_line_a_minute(clock: Clock, caplog: pytest.LogCaptureFixture) -> None:
    news = News(clock)
    for number in range(7_200):
        news.say(logging.ERROR if number % 2 else logging.WARNING, str(number % 2))
        clock.now += 0.5
    assert AT_ONCE + 58 <= len(caplog.records) <= AT_ONCE + 60
