"""A fresh connection on a route: DNS, TCP, proxy, TLS, all within the channel's connect time-out."""

import asyncio
import ssl

from tidegate.core.failure import Failure
from tidegate.upstream import failures
from tidegate.upstream.connection import Connection
from tidegate.upstream.origin import Scheme, bracketed
from tidegate.upstream.pool import Route
from tidegate.upstream.race import connect_tcp
from tidegate.upstream.tls import Trust
from tidegate.upstream.tunnel import TunnelRefused, open_tunnel

_UNBOUNDED = 365 * 86_400.0
"""Seconds; the loop's own limit on TLS handshakes is put out of the way, since ours covers them."""


async def dial(connection: Connection, route: Route, trust: Trust, patience: float) -> Failure | None:
    """Open `connection` on `route`; None when it stands. `patience` is in seconds, 0 for none.

    When it fails or is cancelled no socket stays open.
    """
    try:
        async with asyncio.timeout(patience or None):
            await _establish(connection, route, trust)
    except TimeoutError:
        return failures.connect_timed_out(patience)
    except TunnelRefused as refusal:
        return failures.proxy_refused(str(refusal))
    except ssl.SSLCertVerificationError as error:
        return failures.insecure(f"certificate of {route.host}: {error.verify_message}")
    except ssl.SSLError as error:
        return failures.insecure(f"TLS with {route.host}: {error.reason or error}")
    except OSError as error:
        return failures.unreachable(f"{_hop(route)}: {error.strerror or error}")
    except UnicodeError as error:  # of a name that cannot be looked up, such as one with too long a label
        return failures.unreachable(f"{_hop(route)}: {error}")
    return None


async def _establish(connection: Connection, route: Route, trust: Trust) -> None:
    secure = route.scheme is Scheme.HTTPS
    context = await trust.context(route.roots) if secure else None
    proxy = route.proxy
    sock = await (connect_tcp(proxy.host, proxy.port) if proxy else connect_tcp(route.host, route.port))
    try:
        if proxy is not None and secure:
            await open_tunnel(sock, proxy, f"{bracketed(route.host)}:{route.port}")
        await asyncio.get_running_loop().create_connection(
            lambda: connection,
            sock=sock,
            ssl=context,
            server_hostname=route.host.rstrip(".") if secure else None,  # certificates name no root dot
            ssl_handshake_timeout=_UNBOUNDED if secure else None,
        )
    except BaseException:
        connection.give_up()
        sock.close()
        raise


def _hop(route: Route) -> str:
    return f"proxy {route.proxy.host}" if route.proxy is not None else route.host
