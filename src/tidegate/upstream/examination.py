"""Examines an endpoint: sends the doctor's requests one after the other, and reports what was found."""

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence

from msgspec import structs

from tidegate.core.header_names import CREDENTIALS
from tidegate.core.secret import Secret
from tidegate.doctor.probes import Probe, Streamed
from tidegate.doctor.recording import Close
from tidegate.doctor.report import Report, StreamReport
from tidegate.doctor.scrubbing import scrubbed
from tidegate.doctor.verdicts import examined
from tidegate.exchange.ports import UpstreamRequest
from tidegate.routing.catalog import Channel
from tidegate.upstream.client import HttpUpstream
from tidegate.upstream.hearing import hear

_MOST_BYTES = 4 << 20
_WRONG_KEY = Secret("sk-tidegate-doctor-wrong-key")


async def examine(
    channel: Channel,
    model: str,
    probes: Sequence[Probe],
    environ: Mapping[str, str],
    *,
    patience: float,
    told: Callable[[StreamReport], None] | None = None,
) -> Report:
    """What is found on a channel, whose secrets are in no text of it.

    `model` is the upstream's name, `environ` names proxies, `patience` is in seconds for each request; `told`
    hears of each answer as it is judged. Where no connection comes about, the first request is the only one.
    """
    started_at, begun = time.time(), time.monotonic()
    upstream = HttpUpstream(environ, shows_framing=True)
    streams: list[StreamReport] = []
    try:
        for probe in probes:
            close, report = await _examine(upstream, channel, probe, patience)
            streams.append(report)
            if told is not None:
                told(report)
            if close is Close.UNREACHED:
                break
    finally:
        await upstream.close()
    return Report(
        target=channel.name,
        protocol=channel.protocol.value,
        model=model,
        started_at=started_at,
        duration_ms=(time.monotonic() - begun) * 1000,
        streams=tuple(streams),
    )


async def _examine(
    upstream: HttpUpstream, channel: Channel, probe: Probe, patience: float
) -> tuple[Close, StreamReport]:
    accept = "text/event-stream" if isinstance(probe.wanted, Streamed) else "application/json"
    request = UpstreamRequest("POST", probe.path, (("accept", accept),), probe.body)
    recording = await hear(
        upstream,
        channel if probe.own_key else _with_wrong_key(channel),
        request,
        clock=time.monotonic,
        limit=_MOST_BYTES,
        patience=patience,
    )
    # Long answers take a while to be looked through: not on the event loop.
    report = await asyncio.to_thread(examined, channel.protocol, probe, recording)
    return recording.close, scrubbed(report, channel.secrets)


def _with_wrong_key(channel: Channel) -> Channel:
    headers = {name: value for name, value in channel.headers.items() if name.lower() not in CREDENTIALS}
    return structs.replace(channel, api_key=_WRONG_KEY, headers=headers)
