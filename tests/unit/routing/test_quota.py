"""What limits allow, what they owe, and what they tell."""

import math

import pytest

from tidegate.routing.quota import (
    LONGEST_DEBT,
    MOST_OF_ONE,
    WAIT_FOR_A_PLACE,
    Admitted,
    Level,
    Levels,
    Limited,
    Scope,
    State,
    Verdict,
    decide,
    finished,
    has_limits,
    levels,
    limited,
    taken,
)

REQUESTS = Scope(name="key:k", requests_per_minute=60)
TOKENS = Scope(name="key:k", tokens_per_minute=600)
PLACES = Scope(name="key:k", max_concurrency=2)


class Counted:
    """Scopes over time, as a store keeps them."""

    def __init__(self, *scopes: Scope) -> None:
        self.scopes = scopes
        self.states = [State() for _ in scopes]

    def ask(self, now: float, tokens: int = 0) -> Verdict:
        self.states = [state.at(now) for state in self.states]
        verdict, after = decide(self.scopes, self.states, tokens)
        self.states = list(after)
        return verdict

    def end(self, now: float, estimated: int, used: int) -> None:
        self.states = [
            finished(scope, state.at(now), estimated, used)
            for scope, state in zip(self.scopes, self.states, strict=True)
        ]


def about(limit: int, remaining: int, reset: float, within: float = 1e-6) -> Level:
    """A level that is equal to all with nearly that reset."""
    return Level(limit, remaining, pytest.approx(reset, abs=within))  # type: ignore[arg-type]


def refused(verdict: Verdict) -> Limited:
    assert isinstance(verdict, Limited)
    return verdict


def test_a_whole_minute_may_be_used_at_once_and_comes_back_evenly() -> None:
    counted = Counted(REQUESTS)
    assert all(isinstance(counted.ask(100), Admitted) for _ in range(60))
    verdict = refused(counted.ask(100))
    assert (verdict.what, verdict.scope, verdict.limit) == ("requests", "key:k", 60)
    assert verdict.retry_after == pytest.approx(1)
    assert isinstance(counted.ask(100 + verdict.retry_after), Admitted)
    assert refused(counted.ask(101.5)).retry_after == pytest.approx(0.5)


def test_a_refused_request_does_not_count() -> None:
    counted = Counted(REQUESTS)
    for _ in range(60):
        counted.ask(0)
    before = counted.states
    for _ in range(5):
        assert refused(counted.ask(0)).levels.requests == about(60, 0, 60)
    assert counted.states == before


def test_tokens_are_estimated_first_and_corrected_at_the_end() -> None:
    counted = Counted(TOKENS)
    assert counted.ask(0, 400) == Admitted(Levels(tokens=about(600, 200, 40)))
    assert refused(counted.ask(0, 400)).retry_after == pytest.approx(20)
    counted.end(0, 400, 100)
    assert isinstance(counted.ask(0, 400), Admitted), "what was not used is there again"
    counted.end(0, 400, 1000)
    assert refused(counted.ask(0, 10)).retry_after == pytest.approx(51), "a debt is paid back first"
    assert refused(counted.ask(0, 0)).retry_after == pytest.approx(50)


def test_what_was_not_used_comes_back_only_while_it_is_missing() -> None:
    counted = Counted(TOKENS)
    counted.ask(0, 600)
    counted.end(60, 600, 0)
    assert counted.states[0].tokens == 0, "it had come back by itself"
    assert counted.ask(60, 300) == Admitted(Levels(tokens=about(600, 300, 30)))


def test_more_than_the_whole_limit_needs_a_full_one_and_leaves_a_debt() -> None:
    counted = Counted(TOKENS)
    counted.ask(0, 60)
    verdict = refused(counted.ask(0, 6000))
    assert verdict.retry_after == pytest.approx(6), "it is not refused for ever"
    assert counted.ask(6, 6000) == Admitted(Levels(tokens=about(600, 0, 600)))
    assert refused(counted.ask(6, 1)).retry_after == pytest.approx(540.1)


def test_no_usage_that_an_upstream_reports_closes_a_limit_for_good() -> None:
    counted = Counted(TOKENS)
    counted.ask(0, 1)
    counted.end(0, 1, 10**18)
    assert counted.states[0].tokens == pytest.approx(MOST_OF_ONE)
    counted.end(0, -(10**9), -5)
    assert counted.states[0].tokens == pytest.approx(MOST_OF_ONE), "negative counts are none"
    for _ in range(5):
        counted.end(0, 1, 10**18)
    assert counted.states[0].tokens == LONGEST_DEBT
    assert isinstance(counted.ask(LONGEST_DEBT, 600), Admitted)


def test_places_are_taken_and_freed() -> None:
    counted = Counted(PLACES)
    counted.ask(0)
    counted.ask(0)
    verdict = refused(counted.ask(0))
    assert (verdict.what, verdict.limit, verdict.retry_after) == ("concurrency", 2, WAIT_FOR_A_PLACE)
    assert verdict.levels == Levels()
    counted.end(0, 0, 0)
    assert isinstance(counted.ask(0), Admitted)
    counted.end(0, 0, 0)
    counted.end(0, 0, 0)
    counted.end(0, 0, 0)
    assert counted.states[0].open == 0, "never below none"


def test_one_scope_that_refuses_refuses_for_all() -> None:
    account = Scope(name="account:a", requests_per_minute=1)
    counted = Counted(Scope(name="key:k", requests_per_minute=60, tokens_per_minute=60), account)
    counted.ask(0, 1)
    before = counted.states
    verdict = refused(counted.ask(0, 1))
    assert verdict.scope == "account:a"
    assert verdict.retry_after == pytest.approx(60)
    assert counted.states == before


def test_the_refusal_tells_of_the_limit_that_takes_longest() -> None:
    counted = Counted(
        Scope(name="key:k", requests_per_minute=1, tokens_per_minute=60, max_concurrency=1),
        Scope(name="account:a", tokens_per_minute=30),
    )
    counted.ask(0, 30)
    verdict = refused(counted.ask(0, 30))
    assert (verdict.what, verdict.scope, verdict.limit) == ("requests", "key:k", 1)
    again = refused(counted.ask(30.5, 30))
    assert (again.what, again.scope) == ("requests", "key:k")
    assert again.retry_after == pytest.approx(29.5)


def test_levels_tell_of_the_smallest_share_left() -> None:
    key = Scope(name="key:k", requests_per_minute=10, tokens_per_minute=1000)
    account = Scope(name="account:a", requests_per_minute=100, tokens_per_minute=100)
    told = levels((key, account), (State(0, 30, 6), State(0, 6, 30)))
    assert told == Levels(requests=Level(10, 5, 30), tokens=Level(100, 50, 30))
    assert levels((PLACES,), (State(),)) == Levels()
    assert levels((key,), (State(0, 0, 90),)) == Levels(requests=Level(10, 10, 0), tokens=Level(1000, 0, 90))


def test_a_clock_that_jumps_does_no_harm() -> None:
    counted = Counted(REQUESTS)
    for _ in range(60):
        counted.ask(1000)
    assert refused(counted.ask(10)).retry_after == pytest.approx(1), "backwards nothing has refilled"
    assert isinstance(counted.ask(11), Admitted), "and it refills from there"
    assert isinstance(counted.ask(1e12), Admitted)
    assert counted.states[0].requests == pytest.approx(1), "forwards it is full, and not more"


def test_a_changed_limit_keeps_the_share_that_is_used() -> None:
    state = taken(TOKENS, State(), 300)
    halved = Scope(name="key:k", tokens_per_minute=60)
    assert levels((halved,), (state,)).tokens == about(60, 30, 30)


def test_a_scope_without_limits_allows_all() -> None:
    free = Scope(name="key:free")
    assert not has_limits(free)
    assert all(has_limits(scope) for scope in (REQUESTS, TOKENS, PLACES))
    counted = Counted(free)
    assert counted.ask(0, 10**12) == Admitted(Levels())
    assert not State().open
    assert counted.states[0].open, "it counts all the same"


def test_a_refusal_that_rounding_alone_has_found_has_room_at_once() -> None:
    verdict = limited((REQUESTS,), (State(0, 59.0, 0),), 1)
    assert (verdict.what, verdict.retry_after, verdict.limit) == ("requests", 0.0, 60)
    assert limited((PLACES,), (State(),), 1).limit == 0


def test_very_large_limits_are_counted_too() -> None:
    counted = Counted(Scope(name="key:k", requests_per_minute=10**9, tokens_per_minute=10**9))
    for _ in range(1000):
        counted.ask(1e9, 1000)
    [state] = counted.states
    assert state.tokens == pytest.approx(60 * 1e6 / 1e9)
    assert math.isclose(state.requests, 60 * 1000 / 1e9)
