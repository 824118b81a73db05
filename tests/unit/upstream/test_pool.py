import asyncio
from typing import Any, cast

from tests.unit.upstream.peers import eventually

from tidegate.core.secret import Secret
from tidegate.upstream.connection import Connection
from tidegate.upstream.limits import Limits
from tidegate.upstream.origin import Origin, Scheme
from tidegate.upstream.pool import Pool, Stack, route_to
from tidegate.upstream.proxies import Proxy
from tidegate.upstream.tls import Roots

SECURE = Origin(Scheme.HTTPS, "h", 443, "/v1")
PLAIN = Origin(Scheme.HTTP, "h", 80)
PROXY = Proxy("p", 1, Secret("Basic a"))
ROOTS = Roots("ca.pem", 1)


class Idle:
    """As much of a connection as a pool sees."""

    def __init__(self, stack: Stack, *, usable: bool = True) -> None:
        self.stack = stack
        self.idle_since = 0.0
        self.usable = usable
        self.aborted = 0

    def is_usable(self) -> bool:
        return self.usable

    def abort(self) -> None:
        self.aborted += 1


def give(pool: Pool, stack: Stack, **more: Any) -> Idle:
    made = Idle(stack, **more)
    pool.give_back(cast(Connection, made))
    return made


async def test_last_in_first_out() -> None:
    pool = Pool(Limits())
    stack = pool.stack(route_to(PLAIN, None, None))
    first, second = give(pool, stack), give(pool, stack)
    taken: list[Any] = [pool.take(stack), pool.take(stack), pool.take(stack)]
    assert taken == [second, first, None]
    assert pool.idle_connections == 0


async def test_what_is_not_usable_any_more_is_passed_over_and_closed() -> None:
    pool = Pool(Limits())
    stack = pool.stack(route_to(PLAIN, None, None))
    good, dead = give(pool, stack), give(pool, stack, usable=False)
    assert pool.take(stack) is cast(Connection, good)
    assert (good.aborted, dead.aborted, pool.idle_connections) == (0, 1, 0)


async def test_the_whole_is_bounded_and_so_is_each_route() -> None:
    pool = Pool(Limits(idle_per_route=2, idle_total=3))
    one, other = pool.stack(route_to(PLAIN, None, None)), pool.stack(route_to(SECURE, None, None))
    kept = [give(pool, one), give(pool, one), give(pool, other)]
    refused = [give(pool, one), give(pool, other)]
    assert [idle.aborted for idle in kept + refused] == [0, 0, 0, 1, 1]
    assert pool.idle_connections == 3


async def test_only_what_is_old_is_swept() -> None:
    pool = Pool(Limits(idle_timeout=0.03))
    stack = pool.stack(route_to(PLAIN, None, None))
    old, young = give(pool, stack), give(pool, stack)
    young.idle_since = asyncio.get_running_loop().time() + 1000
    await eventually(lambda: old.aborted)
    assert (young.aborted, pool.idle_connections) == (0, 1)


def test_routes_differ_in_all_that_matters_and_nothing_else() -> None:
    routes = [
        route_to(SECURE, None, None),
        route_to(PLAIN, None, None),
        route_to(Origin(Scheme.HTTPS, "h", 444), None, None),
        route_to(Origin(Scheme.HTTPS, "g", 443), None, None),
        route_to(SECURE, PROXY, None),
        route_to(SECURE, Proxy("p", 1), None),
        route_to(SECURE, None, ROOTS),
        route_to(SECURE, None, Roots("ca.pem", 2)),
    ]
    assert len(set(routes)) == len(routes)
    assert route_to(Origin(Scheme.HTTPS, "h", 443, "/v2", "q"), None, None) == routes[0]
    assert route_to(PLAIN, None, ROOTS) == routes[1]
