"""What an upstream says must reach a caller of another protocol as recorded."""

import json
from typing import Any

import pytest
from tests.contract.pairs.recordings import FOLDER, Corpus, answers, requests
from tests.harness.client import Reply
from tests.harness.dialects import Side
from tests.harness.script import CUT, Answer, body, pieces, stream
from tests.unit.protocols.golden import Comparison, same_stream

STREAMS = list(answers("sse"))
WHOLES = list(answers("json"))
PLAIN = [recorded for recorded in WHOLES if recorded[0] < "20"]
"""There the upstream's whole answer is recorded too."""


def _name(value: Any) -> str:
    return value if isinstance(value, str) else str(value.name)


every_stream = pytest.mark.parametrize(("scenario", "channel", "client"), STREAMS, ids=_name)
every_whole = pytest.mark.parametrize(("scenario", "channel", "client"), WHOLES, ids=_name)
every_plain_whole = pytest.mark.parametrize(("scenario", "channel", "client"), PLAIN, ids=_name)


def _upstream(scenario: str, channel: Side, suffix: str) -> bytes:
    return (FOLDER / scenario / f"upstream.{channel.name}.{suffix}").read_bytes()


async def _ask(
    corpus: Corpus, scenario: str, channel: Side, client: Side, answer: Answer, *, streamed: bool
) -> Reply:
    request = requests(scenario)["client"][client.name]
    if not streamed:
        request = {name: value for name, value in request.items() if name != "stream_options"}
        request["stream"] = False
    reply = await corpus.ask(client, channel, request, answer)
    assert reply.status == 200, reply.body
    return reply


@pytest.mark.parametrize("size", [0, 7], ids=lambda size: f"by-{size or 'all'}")
@every_stream
async def test_streams(corpus: Corpus, scenario: str, channel: Side, client: Side, size: int) -> None:
    content = _upstream(scenario, channel, "sse")
    answer = Answer(pieces(content, size or len(content)))
    reply = await _ask(corpus, scenario, channel, client, answer, streamed=True)
    same_stream(corpus.wanted(scenario, channel, client, "sse"), reply.body)


@every_plain_whole
async def test_whole_answers(corpus: Corpus, scenario: str, channel: Side, client: Side) -> None:
    answer = body(_upstream(scenario, channel, "json"))
    reply = await _ask(corpus, scenario, channel, client, answer, streamed=False)
    expected = json.loads(corpus.wanted(scenario, channel, client, "json"))
    Comparison().same(expected, reply.json())


@every_whole
async def test_streams_gathered(corpus: Corpus, scenario: str, channel: Side, client: Side) -> None:
    """A caller who wants no stream gets the same answer from a stream."""
    answer = Answer([_upstream(scenario, channel, "sse")])
    reply = await _ask(corpus, scenario, channel, client, answer, streamed=False)
    expected = json.loads(corpus.wanted(scenario, channel, client, "json"))
    Comparison().same(expected, reply.json())


@pytest.mark.parametrize(
    ("scenario", "channel", "client"), [told for told in STREAMS if told[0].startswith("10")], ids=_name
)
async def test_a_reset_reads_like_a_cut(corpus: Corpus, scenario: str, channel: Side, client: Side) -> None:
    answer = stream(_upstream(scenario, channel, "sse"), CUT)
    reply = await _ask(corpus, scenario, channel, client, answer, streamed=True)
    same_stream(corpus.wanted(scenario, channel, client, "sse"), reply.body)


def test_every_pair_is_recorded() -> None:
    assert len({(channel.name, client.name) for _, channel, client in STREAMS}) == 6
    assert len({(channel.name, client.name) for _, channel, client in PLAIN}) == 6
    assert len(STREAMS) >= 70
