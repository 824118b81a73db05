"""Which proxy the environment wants for an origin."""

import ipaddress
from base64 import b64encode
from collections.abc import Mapping
from urllib.parse import unquote_to_bytes, urlsplit

from msgspec import Struct

from tidegate.core.secret import Secret
from tidegate.upstream.origin import Origin, host_name

_DEFAULT_PORT = 80
"""Of a proxy URL without a port; what most clients take for an http proxy."""


class Proxy(Struct, frozen=True):
    """An HTTP proxy; `authorization` is the whole value of `proxy-authorization`."""

    host: str
    port: int
    authorization: Secret | None = None


class BadProxy(Struct, frozen=True):
    """A proxy is asked for, but cannot be used: calls fail rather than go around it."""

    problem: str


def choose_proxy(environ: Mapping[str, str], origin: Origin) -> Proxy | BadProxy | None:
    """The proxy of `HTTPS_PROXY`, `HTTP_PROXY` or `ALL_PROXY` unless `NO_PROXY` exempts the origin.

    Names are read in lower case first, as curl does. Loopback is not special: exempt it by name.
    """
    for name in (f"{origin.scheme.value}_proxy", "all_proxy"):
        text = _setting(environ, name)
        if text:
            break
    else:
        return None
    if _exempt(_setting(environ, "no_proxy"), origin.host, origin.port):
        return None
    return _parse_proxy(text, name.upper())


def _setting(environ: Mapping[str, str], name: str) -> str:
    return (environ.get(name) or environ.get(name.upper()) or "").strip()


def _parse_proxy(text: str, variable: str) -> Proxy | BadProxy:
    """Read a proxy's URL; the problem never repeats the URL, which may hold a password."""
    try:
        parts = urlsplit(text if "://" in text else f"http://{text}")
        port = parts.port
    except ValueError:
        return BadProxy(f"{variable} is not a valid URL")
    if parts.scheme != "http":
        return BadProxy(f"{variable}: only http:// proxies are supported")
    host = host_name(parts.hostname or "")
    if host is None or port == 0:
        return BadProxy(f"{variable} names no valid host")
    if parts.username is None:
        return Proxy(host, port or _DEFAULT_PORT)
    pair = unquote_to_bytes(parts.username) + b":" + unquote_to_bytes(parts.password or "")
    return Proxy(host, port or _DEFAULT_PORT, Secret("Basic " + b64encode(pair).decode("ascii")))


def _exempt(no_proxy: str, host: str, port: int) -> bool:
    entries = no_proxy.replace(",", " ").split()
    return any(_covers(entry.lower(), host.rstrip("."), port) for entry in entries)


def _covers(entry: str, host: str, port: int) -> bool:
    """Whether one entry of NO_PROXY (`*`, host, domain, address, CIDR, each with or without a port) fits."""
    if entry == "*":
        return True
    address = _address(host)
    if "/" in entry:
        network = _network(entry)
        return network is not None and address is not None and address in network
    name, entry_port = _split_port(entry)
    if entry_port not in (None, port):
        return False
    if address is not None:
        return _address(name) == address
    name = name.removeprefix("*").strip(".")
    return bool(name) and (host == name or host.endswith(f".{name}"))


def _split_port(entry: str) -> tuple[str, int | None]:
    """`host:port`, `[v6]:port`, `v6` or `host`; a port that is no number fits nothing."""
    if entry.startswith("["):
        name, _, rest = entry[1:].partition("]")
        port = rest.removeprefix(":")
    elif entry.count(":") == 1:
        name, _, port = entry.partition(":")
    else:
        return entry, None
    if not port:
        return name, None
    return name, int(port) if port.isascii() and port.isdigit() else -1


def _address(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(text)
    except ValueError:
        return None


def _network(text: str) -> ipaddress.IPv4Network | ipaddress.IPv6Network | None:
    try:
        return ipaddress.ip_network(text, strict=False)
    except ValueError:
        return None
