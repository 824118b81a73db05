"""Examines an endpoint: sends the doctor's requests one after the other, and reports what was found."""

import time
from collections.abc import Sequence

from tidegate.doctor.probes import Probe
from tidegate.doctor.report import Report
from tidegate.doctor.verdicts import examined
from tidegate.exchange.ports import Upstream, UpstreamRequest
from tidegate.routing.catalog import Channel
from tidegate.upstream.hearing import hear

_MOST_BYTES = 16 << 20


async def examine(
    upstream: Upstream, channel: Channel, model: str, probes: Sequence[Probe], *, patience: float
) -> Report:
    """What is found on a channel; `model` is the upstream's name, `patience` the seconds for each request."""
    started_at, begun = time.time(), time.monotonic()
    streams = []
    for probe in probes:
        request = UpstreamRequest("POST", probe.path, (("accept", "text/event-stream"),), probe.body)
        recording = await hear(
            upstream, channel, request, clock=time.monotonic, limit=_MOST_BYTES, patience=patience
        )
        streams.append(examined(channel.protocol, probe, recording))
    return Report(
        target=channel.name,
        protocol=channel.protocol.value,
        model=model,
        started_at=started_at,
        duration_ms=(time.monotonic() - begun) * 1000,
        streams=tuple(streams),
    )
