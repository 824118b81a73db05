"""The head of a request as bytes; what is the same for a channel is joined once."""

import re

from tidegate import __version__
from tidegate.core.failure import Failure
from tidegate.core.header_names import CREDENTIALS, FRAMING
from tidegate.exchange.ports import UpstreamRequest
from tidegate.routing.catalog import Channel
from tidegate.upstream import failures
from tidegate.upstream.credentials import credential, expected_headers
from tidegate.upstream.origin import Origin, Scheme
from tidegate.upstream.proxies import Proxy

LISTS = frozenset({"anthropic-beta", "openai-beta"})
"""A channel's and a caller's values add up; of any other name the channel's own wins."""

_LINE = re.compile(r"[!#$%&'*+\-.^_`|~0-9a-z]+: [^\x00-\x08\x0a-\x1f\x7f]*\r\n")
_METHOD = re.compile(r"[A-Z]{1,20}")
_TARGET = re.compile(r"/[!\"$-~]*")
_MAX_TARGETS = 128


class HeadWriter:
    """Writes the heads of one channel's requests. Holds its credential, so it has no telling repr."""

    __slots__ = ("_defaults", "_fixed", "_ignored", "_origin", "_starts", "_target_base")

    def __init__(self, origin: Origin, proxy: Proxy | None, fixed: dict[str, str], channel: Channel) -> None:
        self._origin = origin
        plain_proxy = proxy is not None and origin.scheme is Scheme.HTTP
        self._target_base = f"http://{origin.authority}{origin.path}" if plain_proxy else origin.path
        self._fixed = "".join(f"{name}: {value}\r\n" for name, value in fixed.items())
        self._ignored = FRAMING | CREDENTIALS | (fixed.keys() - LISTS)
        wanted = {"user-agent": f"tidegate/{__version__}", "content-type": "application/json"}
        wanted |= dict(expected_headers(channel.protocol))
        self._defaults = tuple(
            (name, f"{name}: {value}\r\n") for name, value in wanted.items() if name not in fixed
        )
        self._starts: dict[tuple[str, str], str] = {}

    def write(self, request: UpstreamRequest) -> bytes | Failure:
        """The head up to and with its empty line; a Failure if the request would break the framing."""
        start = self._starts.get((request.method, request.path)) or self._start(request.method, request.path)
        if start is None:
            return failures.unsendable("the method or path holds characters that must not be sent")
        lines = [start]
        names = set()
        for name, value in request.headers:
            lower = name.lower()
            if lower in self._ignored:
                continue
            line = f"{lower}: {value}\r\n"
            if _LINE.fullmatch(line) is None:
                return failures.unsendable(f"header {lower!r} holds characters that must not be sent")
            names.add(lower)
            lines.append(line)
        for name, line in self._defaults:
            if name not in names and (request.body or name != "content-type"):
                lines.append(line)
        if request.body or request.method not in ("GET", "DELETE"):
            lines.append(f"content-length: {len(request.body)}\r\n")
        lines.append("\r\n")
        return _encode("".join(lines))

    def _start(self, method: str, path: str) -> str | None:
        """The part of the head that is the same for all requests with this method and path."""
        if not (_METHOD.fullmatch(method) and _TARGET.fullmatch(path)):
            return None
        query = self._origin.query
        joint = "" if not query else "&" if "?" in path else "?"
        start = f"{method} {self._target_base}{path}{joint}{query} HTTP/1.1\r\n{self._fixed}"
        if len(self._starts) >= _MAX_TARGETS:  # paths with ids in them must not pile up
            self._starts.clear()
        self._starts[method, path] = start
        return start


def head_writer(channel: Channel, origin: Origin, proxy: Proxy | None) -> HeadWriter | Failure:
    """A writer for a channel; a Failure if the channel's own headers or key must not be sent."""
    fixed = {"host": origin.authority, "accept-encoding": "identity"}
    signed = credential(channel.protocol, channel.api_key)
    own = {name.lower(): value for name, value in channel.headers.items()}
    if signed is not None and not (own.keys() & {"authorization", "x-api-key"}):
        fixed[signed[0]] = signed[1]
    if proxy is not None and proxy.authorization is not None and origin.scheme is Scheme.HTTP:
        fixed["proxy-authorization"] = proxy.authorization.reveal()
    for name in own:
        if name in FRAMING:
            return failures.misconfigured(f"header {name!r} of the channel is set by the gateway itself")
    fixed |= own
    for name, value in fixed.items():
        if _LINE.fullmatch(f"{name}: {value}\r\n") is None or isinstance(_encode(value), Failure):
            return failures.misconfigured(
                f"header {name!r} of the channel holds characters that must not be sent"
            )
    return HeadWriter(origin, proxy, fixed, channel)


def _encode(text: str) -> bytes | Failure:
    """UTF-8, with the bytes of a caller's header that were none given back as they came."""
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return failures.unsendable("a header holds a lone surrogate")
