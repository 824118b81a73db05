"""A client has so long to accept anything; each byte that it accepts gives it the time anew."""

import asyncio

from tidegate.server.acceptance import Acceptance


class Transport:
    """As much waits in it as a test says."""

    def __init__(self, waiting: int) -> None:
        self.waiting = waiting

    def get_write_buffer_size(self) -> int:
        return self.waiting


class Timer:
    """A loop whose time only a test moves."""

    def __init__(self) -> None:
        self.now = 0.0
        self.due: list[tuple[float, object, tuple[object, ...]]] = []

    def time(self) -> float:
        return self.now

    def call_later(self, delay: float, work: object, *args: object) -> "Timer":
        self.due.append((self.now + delay, work, args))
        return self

    def cancel(self) -> None:
        self.due.clear()

    def move(self, seconds: float) -> None:
        ends_at = self.now + seconds
        while self.due and self.due[0][0] <= ends_at:
            self.now, work, args = self.due.pop(0)
            work(*args)  # type: ignore[operator]
        self.now = ends_at


class Watched:
    """A client, and whether it was given up."""

    def __init__(self, monkeypatch_loop: Timer, waiting: int = 100_000, seconds: float = 80.0) -> None:
        self.timer = monkeypatch_loop
        self.transport = Transport(waiting)
        self.times_given_up = 0
        self.acceptance = Acceptance(self._note)
        self.seconds = seconds

    def _note(self) -> None:
        self.times_given_up += 1

    def begin(self) -> None:
        asyncio.events._set_running_loop(self.timer)  # type: ignore[arg-type]
        try:
            self.acceptance.begin(self.transport, self.seconds)  # type: ignore[arg-type]
        finally:
            asyncio.events._set_running_loop(None)


def test_who_accepts_nothing_is_given_up_in_time_and_once() -> None:
    one = Watched(Timer())
    one.begin()
    one.timer.move(79)
    assert one.times_given_up == 0
    one.timer.move(12)
    assert one.times_given_up == 1
    one.timer.move(1000)
    assert one.times_given_up == 1


def test_every_byte_gives_the_time_anew() -> None:
    one = Watched(Timer())
    one.begin()
    for _ in range(20):
        one.timer.move(60)
        one.transport.waiting -= 1
    assert one.times_given_up == 0
    one.timer.move(100)
    assert one.times_given_up == 1


def test_another_answer_has_its_own_time() -> None:
    one = Watched(Timer())
    one.begin()
    one.timer.move(75)
    one.transport.waiting += 10
    one.timer.move(60)
    assert one.times_given_up == 0


def test_nobody_is_watched_for_whom_nothing_waits() -> None:
    one = Watched(Timer())
    one.begin()
    one.transport.waiting = 0
    one.timer.move(11)
    assert one.timer.due == []
    one.timer.move(1000)
    assert one.times_given_up == 0


def test_an_end_of_watching_is_one() -> None:
    one = Watched(Timer())
    one.begin()
    one.acceptance.end()
    one.acceptance.end()
    one.timer.move(1000)
    assert one.times_given_up == 0
    one.begin()
    one.timer.move(100)
    assert one.times_given_up == 1


def test_a_second_beginning_does_not_give_the_time_anew() -> None:
    one = Watched(Timer())
    one.begin()
    one.timer.move(70)
    one.begin()
    one.timer.move(20)
    assert one.times_given_up == 1


def test_without_a_limit_nobody_is_watched() -> None:
    one = Watched(Timer(), seconds=0)
    one.begin()
    assert one.timer.due == []


def test_a_long_time_is_looked_after_four_times_a_minute_and_a_short_one_in_good_time() -> None:
    long, short = Watched(Timer(), seconds=86_400), Watched(Timer(), seconds=0.05)
    for one in (long, short):
        one.begin()
    assert long.timer.due[0][0] == 15.0
    assert short.timer.due[0][0] == 0.02
