"""Reads which headers go up to a channel, and refuses those that would break framing or leak a credential."""

import re

from tidegate.config.table import Table
from tidegate.config.values import Wrong, text
from tidegate.core.header_names import CREDENTIALS, FRAMING
from tidegate.core.protocol import Protocol
from tidegate.routing.catalog import Headers

CONNECTION = FRAMING | {"content-type"}
"""Hop by hop, or said by the gateway itself about the body it sends."""
CALLERS_OWN = CREDENTIALS | {"idempotency-key"}
"""Credentials, and what goes up only bound to the account."""
_DEFAULT_FORWARDED = {
    Protocol.CHAT: (),
    Protocol.RESPONSES: ("x-openai-internal-codex-responses-lite",),
    Protocol.MESSAGES: (),
}
_TOKEN = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")


def own_headers(table: Table) -> Headers:
    """`headers`: what the operator adds to upstream requests, names in lower case."""
    read = Headers()
    for name, value in table.entries("headers", _value).items():
        match header_name(name):
            case Wrong(message, mend):
                table.report.error((*table.path, "headers", name), message, mend)
            case str(lower) if lower in read:
                table.report.error((*table.path, "headers", name), "is there twice", "leave one out")
            case str(lower):
                read[lower] = value
    return read


def forwarded_headers(table: Table, protocol: Protocol) -> tuple[str, ...]:
    """`forward_headers`: names of the caller's headers that may go up, in lower case."""
    read = table.items("forward_headers", _forwarded)
    return _DEFAULT_FORWARDED[protocol] if read is None else tuple(dict.fromkeys(read))


def _value(raw: object) -> str | Wrong:
    read = text(raw)
    if isinstance(read, str) and not (read.isascii() and read == read.strip()):
        return Wrong("holds what a header cannot hold", "use ASCII without spaces around it")
    return read


def header_name(name: str) -> str | Wrong:
    """The name in lower case, if a request may have a header of that name from the config."""
    if not _TOKEN.fullmatch(name):
        return Wrong("is no header name", "use letters, digits and hyphens")
    if name.lower() in CONNECTION:
        return Wrong("belongs to the connection and is set by the gateway", "leave it out")
    return name.lower()


def _forwarded(raw: object) -> str | Wrong:
    read = text(raw)
    if isinstance(read, Wrong):
        return read
    if read.lower() in CALLERS_OWN:
        return Wrong("is a caller's credential or bound to its account, and never goes up", "leave it out")
    return header_name(read)
