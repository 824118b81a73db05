"""Examines an endpoint: sends the doctor's requests one after the other, and reports what was found."""

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence

from msgspec import structs

from tidegate.core.header_names import CREDENTIALS
from tidegate.core.secret import Secret
from tidegate.doctor.probes import Probe, Streamed, is_short
from tidegate.doctor.recording import Close, Recording
from tidegate.doctor.report import Report, StreamReport
from tidegate.doctor.scrubbing import scrubbed
from tidegate.doctor.verdicts import examined, says_all
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
    hears of each answer as it is judged. Where one shows that all others would be like it, they are skipped.
    """
    started_at, begun = time.time(), time.monotonic()
    streams: list[StreamReport] = []
    short_took: float | None = None
    left = list(probes)
    while left:
        probe = left.pop(0)
        recording = await _heard(channel, probe, environ, patience)
        # Long answers take a while to be looked through: not on the event loop.
        report = await asyncio.to_thread(examined, channel.protocol, probe, recording, short_took)
        streams.append(scrubbed(report, channel.secrets))
        if told is not None:
            told(streams[-1])
        if says_all(probe, recording, first=len(streams) == 1):
            break
        if is_short(probe) and recording.close is Close.WHOLE:
            short_took = recording.ended_at
    return Report(
        target=channel.name,
        protocol=channel.protocol.value,
        model=model,
        started_at=started_at,
        duration_ms=(time.monotonic() - begun) * 1000,
        streams=tuple(streams),
        skipped=tuple(probe.name for probe in left),
    )


async def _heard(channel: Channel, probe: Probe, environ: Mapping[str, str], patience: float) -> Recording:
    """The answer, on a connection of its own: an answer that is broken spoils no other."""
    accept = "text/event-stream" if isinstance(probe.wanted, Streamed) else "application/json"
    upstream = HttpUpstream(environ, shows_framing=True)
    try:
        return await hear(
            upstream,
            channel if probe.own_key else _with_wrong_key(channel),
            UpstreamRequest("POST", probe.path, (("accept", accept),), probe.body),
            clock=time.monotonic,
            limit=_MOST_BYTES,
            patience=patience,
        )
    finally:
        await upstream.close()


def _with_wrong_key(channel: Channel) -> Channel:
    headers = {name: value for name, value in channel.headers.items() if name.lower() not in CREDENTIALS}
    return structs.replace(channel, api_key=_WRONG_KEY, headers=headers)
