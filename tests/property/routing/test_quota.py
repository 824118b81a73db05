"""Limits hold over every interval, and say truly when there is room again."""

from hypothesis import given
from hypothesis import strategies as st

from tidegate.routing.quota import Admitted, Limited, Scope, State, decide, finished

LIMIT = st.integers(1, 1000)
STEPS = st.lists(st.tuples(st.floats(0, 40, allow_nan=False), st.integers(0, 1500)), min_size=1, max_size=60)
CLOCKS = st.lists(
    st.tuples(st.floats(-1e6, 1e6, allow_nan=False), st.integers(0, 1500)), min_size=1, max_size=40
)


def scopes(requests: int, tokens: int, places: int) -> list[Scope]:
    return [
        Scope(name="key:k", requests_per_minute=requests, tokens_per_minute=tokens),
        Scope(name="account:a", requests_per_minute=2 * requests, max_concurrency=places),
    ]


@given(LIMIT, LIMIT, STEPS)
def test_never_more_than_the_limit_and_what_comes_back(requests: int, tokens: int, steps: object) -> None:
    assert isinstance(steps, list)
    limits, states, now = scopes(requests, tokens, 10_000), [State(), State()], 0.0
    admitted: list[tuple[float, int]] = []
    for passed, cost in steps:
        now += passed
        states = [state.at(now) for state in states]
        verdict, after = decide(limits, states, cost)
        states = list(after)
        if isinstance(verdict, Admitted):
            admitted.append((now, cost))
    for first, (begin, _) in enumerate(admitted):
        for last in range(first, len(admitted)):
            passed = admitted[last][0] - begin
            part = [cost for _, cost in admitted[first : last + 1]]
            assert len(part) <= requests + passed * requests / 60 + 1e-3
            # Only one that is larger than the whole limit may go beyond, and only as the last of them.
            beyond = max(0, part[-1] - tokens)
            assert sum(part) <= tokens + passed * tokens / 60 + beyond + 1e-3


@given(LIMIT, LIMIT, st.integers(1, 5), STEPS)
def test_after_retry_after_the_same_request_is_admitted_and_not_much_before(
    requests: int, tokens: int, places: int, steps: object
) -> None:
    assert isinstance(steps, list)
    limits, states, now = scopes(requests, tokens, places), [State(), State()], 0.0
    for passed, cost in steps:
        now += passed
        states = [state.at(now) for state in states]
        verdict, after = decide(limits, states, cost)
        states = list(after)
        if not isinstance(verdict, Limited) or verdict.what == "concurrency":
            continue
        assert verdict.retry_after > 0
        later, _ = decide(limits, [state.at(now + verdict.retry_after) for state in states], cost)
        assert isinstance(later, Admitted) or later.what == "concurrency"
        before, _ = decide(limits, [state.at(now + verdict.retry_after * 0.99) for state in states], cost)
        assert isinstance(before, Limited) or verdict.retry_after < 1e-3


@given(LIMIT, CLOCKS)
def test_no_clock_makes_a_limit_owe_more_than_was_taken_or_less_than_nothing(
    tokens: int, steps: object
) -> None:
    assert isinstance(steps, list)
    limits, state, total = [Scope(name="key:k", tokens_per_minute=tokens)], State(), 0.0
    for now, cost in steps:
        verdict, [state] = decide(limits, [state.at(now)], cost)
        total += cost if isinstance(verdict, Admitted) else 0
        assert 0 <= state.tokens <= min(3660, total * 60 / tokens) + 1e-6
        if isinstance(verdict, Limited):
            assert verdict.retry_after <= state.tokens + 1e-6, "a jump makes nobody wait longer"


@given(LIMIT, st.lists(st.tuples(st.integers(0, 2000), st.integers(-10, 4000)), min_size=1, max_size=30))
def test_corrections_leave_what_was_really_used(tokens: int, requests: object) -> None:
    assert isinstance(requests, list)
    scope, state, expected = Scope(name="key:k", tokens_per_minute=tokens), State(), 0.0
    for estimated, used in requests:
        verdict, [state] = decide([scope], [state], estimated)
        if isinstance(verdict, Admitted):
            state = finished(scope, state, estimated, used)
            expected += min(3600, max(0, used) * 60 / tokens)
    assert abs(state.tokens - expected) < 1e-6
    assert state.open == 0
