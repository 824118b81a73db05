"""One timer looks at all open calls, and at none that need no look."""

from math import inf

from tests.unit.exchange.scene import Clock, Timer

from tidegate.core.failure import Failure
from tidegate.exchange.heartbeat import LONGEST_SLEEP, Heartbeat


class Beat:
    def __init__(self, sleep: float | None = None) -> None:
        self.request_id = "req_1"
        self.wake_at = 0.0
        self.beats: list[float] = []
        self.fault: Exception | None = None
        self._sleep = sleep

    def beat(self, now: float) -> None:
        self.beats.append(now)
        if self._sleep is not None:
            self.wake_at = now + self._sleep
        if self.fault is not None:
            raise self.fault

    def interrupt(self, failure: Failure) -> None:
        raise AssertionError(failure)


def heart() -> tuple[Heartbeat, Clock, Timer]:
    clock, timer = Clock(0), Timer()
    return Heartbeat(timer, clock), clock, timer  # type: ignore[arg-type]  # two methods of a loop


def tick(clock: Clock, timer: Timer, now: float) -> None:
    clock.now = now
    timer.fire()


def test_the_timer_runs_only_while_calls_are_open() -> None:
    heartbeat, clock, timer = heart()
    assert timer.due == []
    one, two = Beat(), Beat()
    heartbeat.add(one)
    heartbeat.add(two)
    assert len(timer.due) == 1
    tick(clock, timer, 1)
    assert len(timer.due) == 1
    heartbeat.remove(one)
    heartbeat.remove(one)
    assert heartbeat.open_calls() == [two]
    heartbeat.remove(two)
    tick(clock, timer, 3)
    assert timer.due == []
    heartbeat.add(one)
    assert len(timer.due) == 1


def test_calls_are_looked_at_in_the_order_in_which_they_came() -> None:
    heartbeat, _, _ = heart()
    calls = [Beat() for _ in range(40)]
    for call in calls:
        heartbeat.add(call)
    heartbeat.remove(calls.pop(7))
    assert heartbeat.open_calls() == calls


def test_a_call_is_looked_at_when_its_time_has_come() -> None:
    heartbeat, clock, timer = heart()
    soon, later, dull = Beat(0.5), Beat(inf), Beat()
    for call in (soon, later, dull):
        heartbeat.add(call)
    for now in (1, 1.25, 1.5, 1.75, 1 + LONGEST_SLEEP):
        tick(clock, timer, now)
    assert soon.beats == [1, 1.5, 1 + LONGEST_SLEEP]
    assert later.beats == [1]
    assert dull.beats == [1, 1 + LONGEST_SLEEP], "who sets no time is looked at now and then"


def test_a_broken_call_does_not_stop_the_others() -> None:
    heartbeat, clock, timer = heart()
    bad, good = Beat(), Beat()
    bad.fault = RuntimeError("a fault")
    heartbeat.add(bad)
    heartbeat.add(good)
    tick(clock, timer, 1)
    assert timer.faults == [bad.fault]
    assert good.beats == [1]
    assert len(timer.due) == 1


def test_a_beat_may_remove_calls() -> None:
    heartbeat, clock, timer = heart()
    calls = [Beat() for _ in range(3)]

    class Last(Beat):
        def beat(self, now: float) -> None:
            for call in calls:
                heartbeat.remove(call)
            heartbeat.remove(self)

    last = Last()
    for call in (*calls, last):
        heartbeat.add(call)
    tick(clock, timer, 1)
    assert len(heartbeat) == 0
    assert timer.due == []
