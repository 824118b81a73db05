from tidegate.admin.throttle import OF_ALL, OF_ONE, Throttle
from tidegate.storage.process_lock import ProcessLock
from tidegate.storage.scope_table import ScopeTable


class Clock:
    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        return self.now


def throttle(clock: Clock, slots: int = 4096) -> Throttle:
    return Throttle(ScopeTable(1, slots), ProcessLock(), clock)


def test_an_address_may_fail_so_often_and_then_slowly() -> None:
    clock = Clock()
    tries = throttle(clock)
    for _ in range(OF_ONE.at_once):
        assert tries.wait("a") == 0
        assert tries.fail("a") == 0
    assert 0 < tries.wait("a") <= OF_ONE.every
    assert tries.wait("b") == 0
    clock.now += tries.wait("a")
    assert tries.fail("a") == 0
    assert tries.wait("a") > 0
    clock.now += OF_ONE.at_once * OF_ONE.every
    assert tries.wait("a") == 0


def test_failing_on_and_on_makes_nobody_wait_longer() -> None:
    clock = Clock()
    tries = throttle(clock)
    for _ in range(1_000):
        tries.fail("a")
    assert tries.wait("a") <= OF_ONE.every


def test_all_addresses_together_are_slowed_down_but_a_new_one_has_its_try() -> None:
    clock = Clock()
    tries = throttle(clock)
    for number in range(OF_ALL.at_once):
        tries.fail(f"a{number}")
    assert 0 < tries.wait("a0") <= OF_ALL.every
    assert tries.wait("fresh") == 0
    tries.fail("fresh")
    assert tries.wait("fresh") > 0


def test_workers_count_together() -> None:
    clock, table, lock = Clock(), ScopeTable(1, 64), ProcessLock()
    one, other = Throttle(table, lock, clock), Throttle(table, lock, clock)
    for _ in range(OF_ONE.at_once):
        one.fail("a")
    assert other.wait("a") > 0


def test_many_addresses_take_no_more_memory() -> None:
    clock = Clock()
    tries = throttle(clock, slots=32)
    for number in range(1_000):
        tries.fail(f"a{number}")
    assert tries.wait("a999") > 0
