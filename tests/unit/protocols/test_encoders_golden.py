"""Every encoder against the recorded streams and answers of every pair."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.unit.protocols.encoding import context, encoder, written
from tests.unit.protocols.golden import Comparison, same_stream
from tests.unit.protocols.scenarios import PAIRS, events_of, fails

from tidegate.core.protocol import Protocol
from tidegate.protocols.registry import dialect_of

CROSS = [(up, client) for up in Protocol for client in Protocol if up is not client]
SCENARIOS = sorted(path.name for path in PAIRS.iterdir() if path.is_dir())


def cases(suffix: str) -> list[Any]:
    return [
        pytest.param(scenario, upstream, client, id=f"{scenario}-{upstream.value}-to-{client.value}")
        for scenario in SCENARIOS
        for upstream, client in CROSS
        if recording(scenario, upstream, client, suffix).exists()
    ]


def recording(scenario: str, upstream: Protocol, client: Protocol, suffix: str) -> Path:
    return PAIRS / scenario / f"{upstream.value}_to_{client.value}.{suffix}"


def request(scenario: str, client: Protocol) -> dict[str, Any]:
    requests = json.loads((PAIRS / scenario / "requests.json").read_text())
    body: dict[str, Any] = requests["client"][client.value]
    return body


@pytest.mark.parametrize(("scenario", "upstream", "client"), cases("sse"))
def test_a_stream_is_written_as_recorded(scenario: str, upstream: Protocol, client: Protocol) -> None:
    writer = encoder(client, upstream, body=request(scenario, client))
    expected = recording(scenario, upstream, client, "sse").read_bytes()
    same_stream(expected, written(writer, events_of(scenario, upstream)))


@pytest.mark.parametrize(("scenario", "upstream", "client"), cases("json"))
def test_a_whole_answer_is_written_as_recorded(scenario: str, upstream: Protocol, client: Protocol) -> None:
    events = events_of(scenario, upstream)
    assert not fails(events)
    body = {name: value for name, value in request(scenario, client).items() if name != "stream_options"}
    asked = context(client, upstream, body | {"stream": False}, stream=False).asked
    writer = encoder(client, upstream, body=body | {"stream": False}, stream=False)
    whole = dialect_of(client).assemble(asked, written(writer, events))
    assert isinstance(whole, bytes), whole
    expected = json.loads(recording(scenario, upstream, client, "json").read_bytes())
    Comparison().same(expected, json.loads(whole))


def test_there_are_recordings_of_every_pair() -> None:
    assert len(cases("sse")) >= 60
    assert len(cases("json")) >= 40
