"""Tells where a request comes from, and whether a browser sent it on behalf of another site."""

from collections.abc import Iterable, Mapping
from ipaddress import IPv4Network, IPv6Address, IPv6Network, ip_address
from typing import TypeAlias
from urllib.parse import urlsplit

from msgspec import Struct

Networks: TypeAlias = tuple[IPv4Network | IPv6Network, ...]

_MOST_HOPS = 20
_PORTS = {"http": 80, "https": 443}


class Visitor(Struct, frozen=True, kw_only=True):
    """Where a request comes from: the client's address, and the origin that its browser sees us at."""

    address: str | None
    secure: bool
    """Whether the client speaks HTTPS, as far as known: a proxy that is not trusted may hide it."""
    host: str


def visitor(remote: str | None, headers: Mapping[str, str], trusted: Networks, *, tls: bool) -> Visitor:
    """`remote` is the other end of the connection; only a trusted one is believed what it forwards.

    Header names are in lower case.
    """
    host = headers.get("host", "")
    if not _is_in(remote, trusted):
        return Visitor(address=remote, secure=tls, host=host)
    scheme = _last(headers.get("x-forwarded-proto", ""))
    return Visitor(
        address=_client(remote, headers.get("x-forwarded-for", ""), trusted),
        secure=tls if not scheme else scheme.lower() == "https",
        host=_last(headers.get("x-forwarded-host", "")) or host,
    )


def network_of(address: str | None) -> str:
    """What of an address counts as one client: an IPv6 network of 64 bits has one owner."""
    try:
        read = ip_address(address or "")
    except ValueError:
        return "unknown"
    if isinstance(read, IPv6Address):
        if read.ipv4_mapped is not None:
            return str(read.ipv4_mapped)
        return str(IPv6Network((int(read) >> 64 << 64, 64)))
    return str(read)


def is_foreign(visitor: Visitor, headers: Mapping[str, str]) -> bool:
    """Whether a browser says that the request was made by a page that is not ours."""
    site, origin = headers.get("sec-fetch-site"), headers.get("origin")
    if site is not None and site.lower() != "same-origin":
        return True
    return origin is not None and _place(origin) not in _own(visitor)


def _own(visitor: Visitor) -> Iterable[tuple[str, str, int] | None]:
    """Where our pages come from. Without TLS of our own there may be a proxy that has it."""
    schemes = ("https",) if visitor.secure else ("http", "https")
    found = (_place(f"{scheme}://{visitor.host}") for scheme in schemes)
    return [place for place in found if place is not None]


def _place(origin: str) -> tuple[str, str, int] | None:
    """Scheme, host and port; None for what is no origin, like `null`."""
    try:
        parts = urlsplit(origin)
        port = parts.port
    except ValueError:
        return None
    if parts.scheme not in _PORTS or not parts.hostname or parts.path or parts.query or parts.fragment:
        return None
    if parts.username is not None:
        return None
    return parts.scheme, parts.hostname, port or _PORTS[parts.scheme]


def _client(remote: str | None, forwarded: str, trusted: Networks) -> str | None:
    """The last address that no trusted proxy has: what stands before it anybody may have written."""
    found = remote
    for word in reversed(forwarded.split(",")[-_MOST_HOPS:]):
        if "%" in word:  # an IPv6 zone, which may be any text and means nothing elsewhere
            return found
        try:
            found = str(ip_address(word.strip().removeprefix("[").removesuffix("]")))
        except ValueError:
            return found
        if not _is_in(found, trusted):
            return found
    return found


def _is_in(address: str | None, networks: Networks) -> bool:
    try:
        read = ip_address(address or "")
    except ValueError:
        return False
    if isinstance(read, IPv6Address) and read.ipv4_mapped is not None:
        read = read.ipv4_mapped
    return any(read in network for network in networks)


def _last(value: str) -> str:
    return value.rpartition(",")[2].strip()
