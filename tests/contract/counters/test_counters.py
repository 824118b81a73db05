"""What limits promise, whoever counts: one process, the workers of a machine, or nodes on a Redis."""

import asyncio
import time

from tests.contract.counters.conftest import Pair
from tests.contract.counters.nodes import about, admitted, limited, scope, told

from tidegate.routing.quota import Admitted, Levels


async def test_requests_per_minute_hold_over_all(pair: Pair) -> None:
    scopes = [scope(requests_per_minute=10)]
    for number in range(10):
        first = admitted(await pair[number % 2].admit(f"r{number}", scopes, 0))
        assert first.levels.requests == about(10, 9 - number, 6 * (number + 1))
    for one in pair:
        verdict = limited(await one.admit("more", scopes, 0))
        assert (verdict.what, verdict.scope, verdict.limit) == ("requests", "key:k", 10)
        assert 1 < verdict.retry_after <= 6
        assert verdict.levels == Levels(requests=about(10, 0, 60))


async def test_after_retry_after_there_is_room_and_not_before(pair: Pair) -> None:
    scopes = [scope(requests_per_minute=20)]
    for number in range(20):
        admitted(await pair[number % 2].admit(f"r{number}", scopes, 0))
    asked_at = time.monotonic()
    wait = limited(await pair[0].admit("more", scopes, 0)).retry_after
    told_at = at = time.monotonic()
    assert 0 < wait <= 3
    while not isinstance(await pair[1].admit("more", scopes, 0), Admitted):
        assert at < told_at + wait + 0.1, "the wait that was told is not enough"
        await asyncio.sleep(0.05)
        at = time.monotonic()
    assert time.monotonic() > asked_at + wait - 0.1, "there was room before"
    limited(await pair[0].admit("one more", scopes, 0))


async def test_tokens_are_estimated_and_corrected(pair: Pair) -> None:
    one, other = pair
    scopes = [scope(tokens_per_minute=6000)]
    first = admitted(await one.admit("r1", scopes, 5000))
    assert first.levels.tokens == about(6000, 1000, 50)
    assert 5 < limited(await other.admit("r2", scopes, 2000)).retry_after <= 10
    one.finish("r1", scopes, 5000, 500)
    await told(*pair)
    admitted(await other.admit("r2", scopes, 5400))
    other.finish("r2", scopes, 5400, 8400)
    await told(*pair)
    verdict = limited(await one.admit("r3", scopes, 100))
    assert 20 < verdict.retry_after <= 30, "in debt"
    assert verdict.levels.tokens == about(6000, 0, 84)


async def test_more_than_the_whole_limit_is_let_through_when_it_is_full(pair: Pair) -> None:
    scopes = [scope(tokens_per_minute=600)]
    admitted(await pair[0].admit("big", scopes, 1200))
    assert 55 < limited(await pair[1].admit("next", scopes, 1)).retry_after <= 60.1


async def test_concurrency_holds_over_all_and_places_come_back(pair: Pair) -> None:
    one, other = pair
    scopes = [scope(max_concurrency=3)]
    for number, limits in enumerate((one, other, one)):
        admitted(await limits.admit(f"r{number}", scopes, 0))
    for limits in pair:
        verdict = limited(await limits.admit("more", scopes, 0))
        assert (verdict.what, verdict.limit, verdict.levels) == ("concurrency", 3, Levels())
    one.finish("r0", scopes, 0, 0)
    await told(*pair)
    admitted(await other.admit("r3", scopes, 0))
    limited(await one.admit("more", scopes, 0))
    one.finish("more", scopes, 0, 0)
    one.finish("r0", scopes, 0, 0)
    await told(*pair)
    limited(await one.admit("more", scopes, 0))


async def test_all_scopes_or_none(pair: Pair) -> None:
    one, other = pair
    key = scope("key:k", requests_per_minute=10, tokens_per_minute=10, max_concurrency=5)
    account = scope("account:a", requests_per_minute=1)
    admitted(await one.admit("r1", [key, account], 1))
    for _ in range(3):
        assert limited(await other.admit("r2", [key, account], 1)).scope == "account:a"
    verdict = admitted(await one.admit("r3", [key], 1))
    assert verdict.levels.requests == about(10, 8, 12)
    assert verdict.levels.tokens == about(10, 8, 12)
    for number in range(3):
        admitted(await other.admit(f"p{number}", [key], 0))
    assert limited(await other.admit("p4", [key], 0)).what == "concurrency"


async def test_many_at_once_get_no_more_than_there_is(pair: Pair) -> None:
    scopes = [scope(max_concurrency=50, requests_per_minute=10_000)]
    verdicts = await asyncio.gather(
        *(pair[number % 2].admit(f"r{number}", scopes, 10) for number in range(200))
    )
    assert sum(isinstance(verdict, Admitted) for verdict in verdicts) == 50


async def test_accounts_and_keys_of_one_name_are_apart(pair: Pair) -> None:
    names = ("key:x", "account:x", "key:X", "key:x ", "key:\N{SNOWMAN}")
    for name in names:
        admitted(await pair[0].admit(f"r{name}", [scope(name, max_concurrency=1)], 0))
    for name in names:
        limited(await pair[1].admit("more", [scope(name, max_concurrency=1)], 0))


async def test_who_has_no_limits_is_always_admitted(pair: Pair) -> None:
    assert await pair[0].admit("r", [scope("key:free")], 10**12) == Admitted(Levels())
    pair[0].finish("r", [scope("key:free")], 10**12, 5)


async def test_numbers_out_of_all_reason_do_no_harm(pair: Pair) -> None:
    one, other = pair
    scopes = [scope(tokens_per_minute=10**9, requests_per_minute=10**9)]
    admitted(await one.admit("r1", scopes, -5))
    one.finish("r1", scopes, -5, -(10**30))
    admitted(await one.admit("r2", scopes, 0))
    one.finish("r2", scopes, 0, 10**30)
    await told(*pair)
    verdict = limited(await other.admit("r3", scopes, 1))
    assert 3500 < verdict.retry_after <= 3600


async def test_a_limit_that_changes_keeps_its_share(pair: Pair) -> None:
    admitted(await pair[0].admit("r1", [scope(tokens_per_minute=1000)], 500))
    verdict = admitted(await pair[1].admit("r2", [scope(tokens_per_minute=10)], 1))
    assert verdict.levels.tokens == about(10, 4, 36)
