"""A channel's base URL, read once into the parts that a request needs."""

import ipaddress
import re
from enum import Enum
from urllib.parse import SplitResult, urlsplit

from msgspec import Struct

_FORBIDDEN = re.compile(r"[\x00-\x20\x7f\\]")
_LABEL = r"[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?"
_NAME = re.compile(rf"{_LABEL}(?:\.{_LABEL})*\.?")


class Scheme(Enum):
    """How an origin is spoken to; the value is its name in URLs."""

    HTTP = "http"
    HTTPS = "https"

    @property
    def default_port(self) -> int:
        """The port that a URL of this scheme may leave out."""
        match self:
            case Scheme.HTTP:
                return 80
            case Scheme.HTTPS:
                return 443


class Origin(Struct, frozen=True):
    """Where a channel's requests go. `host` is lower case, an IPv6 address without brackets.

    `path` is put before a request's path and does not end in a slash; `query` (without its question mark)
    comes after it. Both may be empty.
    """

    scheme: Scheme
    host: str
    port: int
    path: str = ""
    query: str = ""

    @property
    def authority(self) -> str:
        """The value of the `host` header: the port is named only where it is not the scheme's own."""
        return bracketed(self.host) if self.port == self.scheme.default_port else self.address

    @property
    def address(self) -> str:
        """Host and port, always both, as CONNECT wants them."""
        return f"{bracketed(self.host)}:{self.port}"


def parse_base_url(text: str) -> Origin | str:
    """Read a base URL, or say in a few words what is wrong with it ("must not hold …")."""
    if _FORBIDDEN.search(text):
        return "must not hold spaces, control characters or backslashes"
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError:
        return "is not a valid URL"
    if parts.scheme not in ("http", "https"):
        return "must begin with https:// or http://"
    if (problem := _excess(text, parts)) is not None:
        return problem
    host = host_name(parts.hostname or "")
    if host is None:
        return "names no valid host"
    scheme = Scheme(parts.scheme)
    if port == 0:
        return "must not use port 0"
    return Origin(scheme, host, port or scheme.default_port, parts.path.rstrip("/"), parts.query)


def host_name(text: str) -> str | None:
    """A host as it is looked up: lower case, international names in their ASCII form; None if it is none."""
    if ":" in text:
        try:
            return None if "%" in text else str(ipaddress.IPv6Address(text))
        except ValueError:
            return None
    try:
        name = text.lower() if text.isascii() else text.encode("idna").decode("ascii").lower()
    except UnicodeError:
        return None
    return name if _NAME.fullmatch(name) else None


def bracketed(host: str) -> str:
    """A host as it stands in a URL."""
    return f"[{host}]" if ":" in host else host


def _excess(text: str, parts: SplitResult) -> str | None:
    """What a base URL holds beyond what it may."""
    if "@" in parts.netloc:
        return "must not hold a user name or password"
    if "#" in text:
        return "must not hold a fragment (#)"
    if not (parts.path + parts.query).isascii():
        return "must be percent-encoded outside the host"
    return None
