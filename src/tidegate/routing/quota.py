"""The limits of keys and accounts, and what they say to a request."""

from collections.abc import Iterator, Sequence
from typing import TypeAlias

from msgspec import Struct

WINDOW = 60.0
"""Seconds; a limit's whole allowance may be used at once, and comes back evenly over this time."""
MOST_OF_ONE = 3600.0
"""Seconds of refilling that one request counts for at most, whatever an upstream reports."""
LONGEST_DEBT = MOST_OF_ONE + WINDOW
"""Seconds of refilling that a limit can owe at most."""
WAIT_FOR_A_PLACE = 1.0
"""Seconds; when an open request will end is not known, so this is how soon to ask again."""
_ROUNDING = 1e-6


class Scope(Struct, frozen=True, kw_only=True):
    """A key (`key:laptop`) or an account (`account:acme`) with its limits, at least 1 each.

    None: no such limit.
    """

    name: str
    max_concurrency: int | None = None
    requests_per_minute: int | None = None
    tokens_per_minute: int | None = None


class Level(Struct, frozen=True):
    """How full one limit is: its size, what is left now, seconds until all of it is there again."""

    limit: int
    remaining: int
    reset: float


class Levels(Struct, frozen=True, kw_only=True):
    """The fullest limits after a decision, for the headers; None where no scope has such a limit."""

    requests: Level | None = None
    tokens: Level | None = None


class Admitted(Struct, frozen=True):
    """All limits allow the request, and it counts from now on."""

    levels: Levels


class Limited(Struct, frozen=True, kw_only=True):
    """A limit does not allow the request, and it does not count.

    `what` is requests, tokens or concurrency; `scope` the one it belongs to. After `retry_after` seconds the
    limit has room again if nobody else takes it.
    """

    what: str
    scope: str
    limit: int
    retry_after: float
    levels: Levels


Verdict: TypeAlias = Admitted | Limited


class State(Struct, frozen=True):
    """What a scope has in use as of `seen`, in seconds of any one clock.

    `requests` and `tokens` say for how many seconds those limits must refill to be full. That is a token
    bucket (GCRA with its arrival time counted from `seen`). It says which share is used, not how much, so a
    limit that a reload changes keeps that share.
    """

    seen: float = 0.0
    requests: float = 0.0
    tokens: float = 0.0
    open: int = 0

    def at(self, now: float) -> "State":
        """The same scope later. A clock that went backwards has refilled nothing, and is followed."""
        passed = max(0.0, now - self.seen)
        return State(now, max(0.0, self.requests - passed), max(0.0, self.tokens - passed), self.open)


class _Refusal(Struct, frozen=True):
    wait: float
    what: str
    scope: str
    limit: int


def decide(scopes: Sequence[Scope], states: Sequence[State], tokens: int) -> tuple[Verdict, Sequence[State]]:
    """Take one request with an estimate of its tokens into all scopes, or into none; and what they hold then.

    `states` are those of `scopes` at this moment (`State.at`).
    """
    for scope, state in zip(scopes, states, strict=True):
        if not _has_room(scope, state, tokens):
            return limited(scopes, states, tokens), states
    after = [taken(scope, state, tokens) for scope, state in zip(scopes, states, strict=True)]
    return Admitted(levels(scopes, after)), after


def limited(scopes: Sequence[Scope], states: Sequence[State], tokens: int) -> Limited:
    """The refusal of a request, told by the limit that will be last to have room for it.

    There must be one; where the arithmetic of another place found it by a hair, it has room at once.
    """
    last = max(_refusals(scopes, states, tokens), key=lambda refusal: refusal.wait, default=None)
    if last is None:
        last = _Refusal(0.0, "requests", scopes[0].name, scopes[0].requests_per_minute or 0)
    return Limited(
        what=last.what,
        scope=last.scope,
        limit=last.limit,
        retry_after=last.wait,
        levels=levels(scopes, states),
    )


def taken(scope: Scope, state: State, tokens: int) -> State:
    """The state with one more open request, whether there is room for it or not."""
    requests = state.requests + request_cost(scope)
    spent = state.tokens + token_cost(scope, tokens)
    return State(state.seen, _owed(requests), _owed(spent), state.open + 1)


def finished(scope: Scope, state: State, estimated: int, used: int) -> State:
    """The state after a request has ended: its place is free, and what it used replaces the estimate.

    More than estimated may leave the limit in debt; what was never used comes back at once.
    """
    spent = state.tokens + token_cost(scope, used) - token_cost(scope, estimated)
    return State(state.seen, state.requests, _owed(spent), max(0, state.open - 1))


def request_cost(scope: Scope) -> float:
    """Seconds of refilling that one request counts for; 0 where there is no limit."""
    limit = scope.requests_per_minute
    return 0.0 if limit is None else WINDOW / limit


def token_cost(scope: Scope, tokens: int) -> float:
    """Seconds of refilling that so many tokens count for; 0 where there is no limit, or none are."""
    limit = scope.tokens_per_minute
    if limit is None or tokens <= 0:
        return 0.0
    cost = tokens * WINDOW / limit
    return cost if cost < MOST_OF_ONE else MOST_OF_ONE


def levels(scopes: Sequence[Scope], states: Sequence[State]) -> Levels:
    """Of all limits on requests and of all on tokens the one with the smallest share left."""
    requests = tokens = None
    least_requests = least_tokens = -1.0
    for scope, state in zip(scopes, states, strict=True):
        if scope.requests_per_minute is not None and state.requests > least_requests:
            requests, least_requests = _level(scope.requests_per_minute, state.requests), state.requests
        if scope.tokens_per_minute is not None and state.tokens > least_tokens:
            tokens, least_tokens = _level(scope.tokens_per_minute, state.tokens), state.tokens
    return Levels(requests=requests, tokens=tokens)


def has_limits(scope: Scope) -> bool:
    """Whether a scope has any limit; one without need not be counted."""
    return (
        scope.max_concurrency is not None
        or scope.requests_per_minute is not None
        or scope.tokens_per_minute is not None
    )


def _has_room(scope: Scope, state: State, tokens: int) -> bool:
    return (
        (scope.max_concurrency is None or state.open < scope.max_concurrency)
        and (scope.requests_per_minute is None or _wait(state.requests, request_cost(scope)) <= _ROUNDING)
        and (scope.tokens_per_minute is None or _wait(state.tokens, token_cost(scope, tokens)) <= _ROUNDING)
    )


def _refusals(scopes: Sequence[Scope], states: Sequence[State], tokens: int) -> Iterator[_Refusal]:
    for scope, state in zip(scopes, states, strict=True):
        most, requests, spent = scope.max_concurrency, scope.requests_per_minute, scope.tokens_per_minute
        if most is not None and state.open >= most:
            yield _Refusal(WAIT_FOR_A_PLACE, "concurrency", scope.name, most)
        if requests is not None and (wait := _wait(state.requests, request_cost(scope))) > _ROUNDING:
            yield _Refusal(wait, "requests", scope.name, requests)
        if spent is not None and (wait := _wait(state.tokens, token_cost(scope, tokens))) > _ROUNDING:
            yield _Refusal(wait, "tokens", scope.name, spent)


def _wait(owed: float, cost: float) -> float:
    """Seconds until there is room for `cost`; not above zero where there is.

    What is larger than the whole limit has room when the limit is full, and leaves it in debt: no request is
    refused for ever, and the rate holds in the long run.
    """
    return owed + cost - WINDOW if cost < WINDOW else owed


def _owed(seconds: float) -> float:
    if seconds <= 0.0:
        return 0.0
    return seconds if seconds < LONGEST_DEBT else LONGEST_DEBT


def _level(limit: int, owed: float) -> Level:
    left = int((WINDOW - owed) / WINDOW * limit + _ROUNDING)
    return Level(limit, left if left > 0 else 0, owed)
