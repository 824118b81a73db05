"""Where scopes have their place, what is forgotten, and what heals."""

import math
import struct

import pytest

from tidegate.routing.quota import State
from tidegate.storage.scope_table import WAYS, ScopeTable


def busy(table: ScopeTable, name: str, now: float, owed: float = 30.0) -> int:
    place = table.find(name, now)
    table.write(place, State(now, owed, owed))
    return place


def test_a_scope_keeps_its_place_and_what_is_written_there() -> None:
    table = ScopeTable(2, slots=256)
    place = table.find("key:a", 100)
    assert table.read(place, 100) == State(100)
    table.write(place, State(100, 20, 30))
    table.count(place, 0, 1)
    table.count(place, 1, 2)
    assert table.find("key:a", 110) == place
    assert table.read(place, 110) == State(110, 10, 20, 3)
    assert table.find("key:b", 100) != place
    table.close()


def test_two_that_share_memory_see_the_same() -> None:
    table = ScopeTable(1, slots=64)
    place = busy(table, "key:a", 0)
    table._places.clear()  # another process has remembered nothing
    assert table.find("key:a", 0) == place


def test_a_place_at_rest_goes_to_another_scope_and_one_in_use_does_not() -> None:
    table = ScopeTable(1, slots=WAYS)
    places = {name: busy(table, name, 0) for name in (f"key:{number}" for number in range(WAYS))}
    assert len(set(places.values())) == WAYS
    table.write(places["key:3"], State(0, 5, 5))
    assert table.find("key:new", 10) == places["key:3"]
    assert table.read(places["key:3"], 10) == State(10), "and begins anew"
    assert table.find("key:5", 10) == places["key:5"]


def test_with_no_place_at_rest_the_least_used_goes_but_never_an_open_one_before_it() -> None:
    table = ScopeTable(1, slots=WAYS)
    for number in range(WAYS):
        busy(table, f"key:{number}", 0, owed=10.0 + number)
    open_one = table.find("key:0", 0)
    table.count(open_one, 0, 1)
    assert table.find("key:new", 0) == table._set_of(b"x" * 16)[1]
    assert table.find("key:0", 0) == open_one


def test_scopes_of_one_request_do_not_push_each_other_out() -> None:
    table = ScopeTable(1, slots=WAYS)
    for number in range(WAYS - 1):
        busy(table, f"key:{number}", 0)
    first = table.find("key:first", 0)
    second = table.find("account:second", 0, [first])
    assert first != second


def test_the_open_requests_of_a_worker_can_be_wiped_out() -> None:
    table = ScopeTable(3, slots=256)
    places = [busy(table, f"key:{number}", 0) for number in range(50)]
    for place in places:
        for worker in range(3):
            table.count(place, worker, worker + 1)
    table.wipe(1)
    assert [table.read(place, 0) for place in places] == [State(0, 30, 30, 4)] * 50
    assert table.find("key:7", 0) == places[7], "the rest is untouched"


def test_more_ends_than_beginnings_count_as_none() -> None:
    table = ScopeTable(1, slots=64)
    place = table.find("key:a", 0)
    table.count(place, 0, -1)
    assert table.read(place, 0).open == 0


@pytest.mark.parametrize("spoilt", [math.nan, math.inf, -1.0, 1e300])
def test_what_cannot_be_true_is_nothing_in_use(spoilt: float) -> None:
    table = ScopeTable(1, slots=64)
    place = table.find("key:a", 0)
    struct.pack_into("=ddd", table._memory, place + 16, 0.0, spoilt, spoilt)
    struct.pack_into("=i", table._memory, place + 40, -7)
    assert table.read(place, 0) == State(0)
    table.count(place, 0, 1)
    assert table.read(place, 0).open == 1


@pytest.mark.parametrize("seen", [math.nan, math.inf, 1e300])
def test_a_spoilt_time_heals_with_the_next_write(seen: float) -> None:
    table = ScopeTable(1, slots=64)
    place = table.find("key:a", 0)
    struct.pack_into("=ddd", table._memory, place + 16, seen, 30.0, 30.0)
    state = table.read(place, 100)
    assert (state.seen, state.requests) == (100, 30)
    table.write(place, state)
    assert table.read(place, 120).requests == 10


def test_names_of_any_kind_have_a_place() -> None:
    table = ScopeTable(1, slots=64)
    assert table.find("key:\ud800☃" + "x" * 10_000, 0) >= 0
