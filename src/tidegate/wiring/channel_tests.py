"""Lets the doctor examine a channel, with the channel's own credential, headers and roots."""

from collections.abc import Mapping

from tidegate.admin.ports import NoSuchModel
from tidegate.doctor.probes import SHORT_SET, probes
from tidegate.doctor.report import Report
from tidegate.routing.catalog import Catalog, Channel
from tidegate.routing.names import is_pattern
from tidegate.upstream.examination import examine

_PATIENCE = 40.0
"""Seconds for each request."""


class ChannelTests:
    """Implements `ChannelTester`."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        """`environ` names proxies."""
        self._environ = environ

    async def test(self, channel: Channel, model: str | None) -> Report:
        """A short set of requests. NoSuchModel for a public model name that it does not serve."""
        upstream_model = upstream_name(channel, model)
        asked = probes(channel.protocol, upstream_model, SHORT_SET)
        return await examine(channel, upstream_model, asked, self._environ, patience=_PATIENCE)


def upstream_name(channel: Channel, model: str | None) -> str:
    """What the upstream calls a public model, or the channel's first one. Raises NoSuchModel."""
    if model is None:
        exact = [upstream for public, upstream in channel.models.items() if not is_pattern(public)]
        if not exact:
            raise NoSuchModel("the channel serves patterns only, so one must be named")
        return exact[0]
    found = Catalog([channel]).candidates(model, channel.protocol)
    if not found:
        raise NoSuchModel("the channel does not serve it")
    return found[0].upstream_model
