"""Reads where things are: upstreams, databases, listening addresses, browser origins."""

import re

from tidegate.config.settings import Address
from tidegate.config.values import Wrong, text
from tidegate.core.secret import Secret
from tidegate.upstream.origin import Origin, parse_base_url

_HOST = re.compile(r"\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+")
_BARE_HOST = re.compile(r"[A-Za-z0-9._:%-]+")
_DATABASES = ("sqlite", "postgresql", "postgres")
_REDIS = ("redis", "rediss", "unix")


def base_url(raw: object) -> str | Wrong:
    """The URL of an upstream, without a closing slash."""
    read = text(raw)
    if isinstance(read, Wrong):
        return read
    parsed = parse_base_url(read)
    if isinstance(parsed, str):
        return Wrong(parsed, 'write it like "https://api.example.com/v1"')
    return read if parsed.query else read.rstrip("/")


def origin(raw: object) -> str | Wrong:
    """A browser origin as its `Origin` header says it, or "*" for all."""
    read = text(raw)
    if isinstance(read, Wrong) or read == "*":
        return read
    match parse_base_url(read):
        case Origin(path="", query="") as parsed if not read.endswith("/"):
            return f"{parsed.scheme.value}://{parsed.authority}"
        case _:  # an address with more than an origin, or none at all
            return Wrong("is no origin", 'write it like "https://app.example.com", without a path, or "*"')


def database_url(raw: object) -> Secret | Wrong:
    """Where rows are kept; may hold a password."""
    mend = 'write "sqlite:///tidegate.db" or "postgresql://user:password@host/name"'
    read = _secret_url(raw, _DATABASES, mend)
    if isinstance(read, Wrong):
        return read
    if not read.reveal().startswith("sqlite:"):
        return _postgresql_url(read)
    path = read.reveal().removeprefix("sqlite://")
    if not path.startswith("/") or path in ("/", "/:memory:") or "?" in path:
        return Wrong("names no file", 'write "sqlite:///relative.db" or "sqlite:////absolute/path.db"')
    return read


def _postgresql_url(url: Secret) -> Secret | Wrong:
    from tidegate.storage.postgresql import can_be_read  # late: others need not load the driver

    if can_be_read(url.reveal()):
        return url
    mend = "percent-encode / @ : ? # % in user and password, and use only PostgreSQL's own parameters"
    return Wrong("is no URL that PostgreSQL understands", mend)


def redis_url(raw: object) -> Secret | Wrong:
    """Where shared limits are kept; may hold a password."""
    from tidegate.storage.redis_link import connections  # slow to load, and most configs have none

    mend = 'write it like "redis://host:6379/0"'
    read = _secret_url(raw, _REDIS, mend)
    if isinstance(read, Secret):
        try:
            connections(read)
        except ValueError:
            return Wrong("is no address of a Redis", mend)
    return read


def _secret_url(raw: object, schemes: tuple[str, ...], mend: str) -> Secret | Wrong:
    read = text(raw)
    if isinstance(read, Wrong):
        return read
    scheme, _, rest = read.partition("://")
    if scheme not in schemes:
        return Wrong(f"must begin with one of {', '.join(f'{name}://' for name in schemes)}", mend)
    return Secret(read) if rest else Wrong("ends where the address should be", mend)


def host(raw: object) -> str | Wrong:
    """A host name or address to listen on, IPv6 without brackets."""
    read = text(raw)
    if isinstance(read, str) and not _BARE_HOST.fullmatch(read):
        return Wrong("is no host name or address", 'write it like "127.0.0.1", "0.0.0.0" or "::"')
    return read


def listen(raw: object) -> Address | Wrong:
    """HOST:PORT, an IPv6 address in brackets."""
    read = text(raw)
    if isinstance(read, Wrong):
        return read
    name, _, port = read.rpartition(":")
    if not _HOST.fullmatch(name) or not re.fullmatch(r"[0-9]{1,5}", port) or int(port) > 65535:
        return Wrong("is no address with a port", 'write it like "127.0.0.1:9464" or "[::1]:9464"')
    return Address(name.strip("[]"), int(port))
