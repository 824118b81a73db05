"""Reads where traces go."""

from urllib.parse import urlsplit

from tidegate.config import addresses, values
from tidegate.config.callers import share
from tidegate.config.headers import header_name
from tidegate.config.settings import Tracing
from tidegate.config.table import Table
from tidegate.config.values import Wrong
from tidegate.core.secret import Secret
from tidegate.observe.tracing import is_installed

_SIGNAL = "/v1/traces"
_INSTALL = "install it: pip install 'tidegate[tracing]'"


def tracing(table: Table) -> Tracing:
    """The section `[tracing]`."""
    default = Tracing()
    read = Tracing(
        endpoint=table.optional("endpoint", collector_url),
        headers=_headers(table),
        service_name=table.read("service_name", values.text, default.service_name),
        sample=table.read("sample", share, default.sample),
        propagate=table.read("propagate", values.flag, default.propagate),
    )
    if not table.is_set("endpoint") and not table.is_empty:
        table.error("endpoint", "is missing", 'write where spans go, like "http://collector:4318"')
    elif read.endpoint is not None and not is_installed():
        table.error("endpoint", "needs OpenTelemetry, which is not installed", _INSTALL)
    table.close()
    return read


def collector_url(raw: object) -> str | Wrong:
    """The URL of a collector, completed with the path of traces as OpenTelemetry does it."""
    read = addresses.base_url(raw)
    if isinstance(read, Wrong):
        return read
    if urlsplit(read).query:
        return Wrong("holds a query", "leave it out; credentials go into `headers`")
    return read if read.endswith(_SIGNAL) else read + _SIGNAL


def header_value(raw: object) -> Secret | Wrong:
    """What a header can hold, kept so that it is never printed."""
    read = values.text(raw)
    if isinstance(read, Wrong):
        return read
    if not (read.isascii() and read == read.strip()):
        return Wrong("holds what a header cannot hold", "use ASCII without spaces around it")
    return Secret(read)


def _headers(table: Table) -> dict[str, Secret]:
    read: dict[str, Secret] = {}
    for name, value in table.entries("headers", header_value).items():
        known = header_name(name)
        if isinstance(known, Wrong):
            table.report.error((*table.path, "headers", name), known.message, known.mend)
        else:
            read[known] = value
    return read
