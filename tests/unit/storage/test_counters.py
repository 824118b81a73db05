"""Counters of one process; what holds for every kind is in tests/contract/counters."""

from tidegate.exchange.ports import Limits
from tidegate.routing.quota import Admitted, Limited, Scope
from tidegate.storage.counters import NO_LIMITS, LocalCounters
from tidegate.storage.process_lock import ProcessLock
from tidegate.storage.scope_table import ScopeTable

PLACES = [Scope(name="key:k", max_concurrency=2)]


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def counters(table: ScopeTable | None = None, worker: int = 0, clock: Clock | None = None) -> LocalCounters:
    return LocalCounters(table or ScopeTable(2, slots=256), ProcessLock(), worker, clock or Clock())


def test_it_is_a_port_of_the_exchange() -> None:
    port: Limits = counters()
    assert port is not None


def test_who_has_no_limits_is_not_counted() -> None:
    one = counters()
    assert one.admit_now("r", [Scope(name="key:free")], 10) is NO_LIMITS
    assert one.admit_now("r", [], 10) is NO_LIMITS
    assert one.open_requests == 0


def test_an_end_counts_once_and_only_for_what_was_admitted() -> None:
    one = counters()
    assert isinstance(one.admit_now("r1", PLACES, 0), Admitted)
    assert isinstance(one.admit_now("r2", PLACES, 0), Admitted)
    assert isinstance(one.admit_now("r3", PLACES, 0), Limited)
    one.finish("r3", PLACES, 0, 0)
    one.finish("never", PLACES, 0, 0)
    assert isinstance(one.admit_now("r3", PLACES, 0), Limited)
    one.finish("r1", PLACES, 0, 0)
    one.finish("r1", PLACES, 0, 0)
    assert isinstance(one.admit_now("r4", PLACES, 0), Admitted)
    assert isinstance(one.admit_now("r5", PLACES, 0), Limited)
    assert one.open_requests == 2


def test_the_end_frees_what_the_beginning_took_though_limits_have_changed() -> None:
    one = counters()
    one.admit_now("r1", PLACES, 0)
    one.admit_now("r2", PLACES, 0)
    one.finish("r1", [], 0, 0)
    assert isinstance(one.admit_now("r3", PLACES, 0), Admitted)


def test_what_was_admitted_elsewhere_is_counted_beyond_the_limit_too() -> None:
    clock = Clock()
    one = counters(clock=clock)
    scopes = [Scope(name="key:k", max_concurrency=1, tokens_per_minute=60)]
    for number in range(3):
        one.note(f"r{number}", scopes, 60)
    verdict = one.admit_now("r3", scopes, 1)
    assert isinstance(verdict, Limited)
    assert verdict.retry_after > 100
    for number in range(3):
        one.finish(f"r{number}", scopes, 60, 0)
    assert isinstance(one.admit_now("r3", scopes, 60), Admitted)


def test_a_worker_that_begins_wipes_out_what_the_one_before_it_left_open() -> None:
    table = ScopeTable(2, slots=256)
    dead, living = counters(table, 0), counters(table, 1)
    dead.admit_now("r1", PLACES, 0)
    living.admit_now("r2", PLACES, 0)
    assert isinstance(living.admit_now("r3", PLACES, 0), Limited)
    counters(table, 0)
    assert isinstance(living.admit_now("r3", PLACES, 0), Admitted)
    assert isinstance(living.admit_now("r4", PLACES, 0), Limited), "its own still count"
