"""Reads the channels."""

from urllib.parse import urlsplit

from tidegate.config import addresses, values
from tidegate.config.capabilities import capabilities
from tidegate.config.headers import forwarded_headers, own_headers
from tidegate.config.names import model_name, name, named
from tidegate.config.prices import price
from tidegate.config.sections import existing_file
from tidegate.config.table import Table
from tidegate.config.values import Wrong
from tidegate.core.capability import UnsupportedTools
from tidegate.core.protocol import Protocol
from tidegate.core.secret import Secret
from tidegate.routing.catalog import Channel, UpstreamStream
from tidegate.routing.names import is_pattern

_MODELS_MEND = 'list names, ["gpt-5"], or map them to the upstream\'s, { "gpt" = "gpt-5" }'


def channels(table: Table) -> tuple[Channel, ...]:
    """All channels of the file."""
    return tuple(channel(row, called) for row, called in named(table, "channels", "channel", name))


def channel(row: Table, called: str) -> Channel:
    """One channel, of whatever is wrong with it the report knows."""
    protocol = row.need(
        "protocol", values.choice(Protocol), Protocol.CHAT, "choose chat, responses or messages"
    )
    url = row.need("base_url", addresses.base_url, "", "write what the provider's own SDK takes")
    read = Channel(
        name=called,
        protocol=protocol,
        base_url=url,
        api_key=row.optional("api_key", values.credential) or Secret(""),
        models=_models(row),
        priority=row.read("priority", values.whole(-1_000_000, 1_000_000), 0),
        weight=row.read("weight", values.whole(1, 1_000_000), 1),
        connect_timeout=row.read("connect_timeout", values.seconds, 10.0),
        ca_file=row.optional("ca_file", existing_file(row.sources.folder)),
        headers=own_headers(row),
        forward_headers=forwarded_headers(row, protocol),
        group=row.optional("group", name) or called,
        capabilities=capabilities(row),
        unsupported_tools=row.read(
            "unsupported_tools", values.choice(UnsupportedTools), UnsupportedTools.DROP
        ),
        upstream_stream=row.read("upstream_stream", values.choice(UpstreamStream), UpstreamStream.AUTO),
        price=price(row),
    )
    _doubtful_path(row, protocol, url)
    row.close()
    return read


def _doubtful_path(row: Table, protocol: Protocol, url: str) -> None:
    if protocol is Protocol.MESSAGES and urlsplit(url).path.rstrip("/").endswith("/v1"):
        message = "ends in /v1, which requests of this protocol bring themselves"
        row.report.warning((*row.path, "base_url"), message, "take /v1 away")


def _models(row: Table) -> dict[str, str]:
    """Public name -> upstream name, from a list or a table."""
    if isinstance(row.peek("models"), dict):
        read = {public: _upstream(row, public, name) for public, name in row.entries("models", name).items()}
    elif row.is_set("models"):
        read = {public: public for public in row.items("models", model_name) or ()}
    else:
        row.need("models", model_name, "", _MODELS_MEND)
        return {}
    if row.peek("models") in ([], {}):
        row.error("models", "is empty, so the channel serves nothing", _MODELS_MEND)
    return read


def _upstream(row: Table, public: str, upstream: str) -> str:
    path = (*row.path, "models", public)
    match model_name(public):
        case Wrong(message, mend):
            row.report.error(path, message, mend)
        case str() if is_pattern(public) and upstream not in (public, "*"):
            message = "passes the caller's whole name on, so it has no upstream name"
            row.report.error(path, message, 'write "*" as its upstream name')
        case str() if "*" in upstream and not is_pattern(public):
            row.report.error(path, 'has an upstream name with a "*"', "write the one name that is asked for")
        case str():
            return public if is_pattern(public) else upstream
    return upstream
