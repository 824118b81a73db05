"""Settings that concern converted streams, large requests and answers, and callers that read slowly."""

import asyncio
import json
from pathlib import Path

import pytest
from tests.conftest import Start
from tests.harness import pairs, settings
from tests.harness.client import Connection
from tests.harness.crossing import Crossed, cross
from tests.harness.dialects import CHAT, MESSAGES, RESPONSES, Side
from tests.harness.gateway import free_port
from tests.harness.notation import Json
from tests.harness.pairs import CROSS, Pair, by
from tests.harness.script import CUT, HOLD, Step, stream
from tests.harness.stage import Played, Stage
from tests.harness.together import together
from tests.harness.upstream import ScriptedUpstream

every_cross_pair = pytest.mark.parametrize("pair", CROSS, ids=lambda pair: pair.name)


async def test_wordings_usage_and_event_size(
    start: Start, tmp_path: Path, upstream: ScriptedUpstream
) -> None:
    words = {"failure_message": "It broke.", "timeout_message": "It is late."}
    streaming = {"usage_chunk": "always", "max_event_bytes": 65536, **words}
    config = pairs.crossing(free_port(), str(tmp_path), upstream.base)
    stage = Stage(start(settings.merged(config, streaming=streaming)), upstream)

    async def told(pair: Pair, message: str, *steps: Step | list[bytes], kind: str = "a") -> None:
        script = pair.channel.script()
        answer = stream(script.opening, script.deltas[:1], *steps)
        played = await stage.play(pair.client, answer, channel=pair.channel, kind=kind)
        error = pair.client.error_of(played.stream.events[-1])
        assert error is not None
        assert error["message"] == message

    async def always(pair: Pair) -> None:
        crossed = await cross(stage, pair, members={"stream_options": None})
        assert crossed.played.stream.json()[-1]["usage"]["completion_tokens"] == 7

    scenarios = {f"{pair.name} always": always(pair) for pair in by(CHAT)}
    for pair in CROSS:
        large = pair.channel.script(pieces=("x" * 70_000,)).deltas
        scenarios[f"{pair.name} cut"] = told(pair, "It broke.", CUT)
        scenarios[f"{pair.name} late"] = told(pair, "It is late.", HOLD, kind="qa")
        scenarios[f"{pair.name} large"] = told(pair, "It broke.", large)
    await together(scenarios)


def _long_history(side: Side, turns: int) -> Json:
    """About a megabyte."""
    text = "The tide comes in twice a day, and twice a day it goes out again. " * 40
    user, other = {"role": "user", "content": text}, {"role": "assistant", "content": text}
    history = [user if turn % 2 == 0 else other for turn in range(turns)] + [user]
    return {"input": history} if side is RESPONSES else {"messages": history}


@every_cross_pair
async def test_a_megabyte_of_history(crossing: Stage, pair: Pair) -> None:
    crossed = await cross(crossing, pair, members=_long_history(pair.client, 400))
    assert crossed.heard.text == "Hello"
    got = crossed.asked["input" if pair.channel is RESPONSES else "messages"]
    assert len(got) == 401
    assert len(json.dumps(crossed.asked)) > 1_000_000


@every_cross_pair
async def test_a_megabyte_in_one_delta(crossing: Stage, pair: Pair) -> None:
    text = "tide 北京 " * 100_000
    for mode in ("stream", "gathered", "whole"):
        crossed = await cross(crossing, pair, pair.channel.script(pieces=(text, "!")).all, mode=mode)
        assert crossed.heard.text == text + "!"


async def test_a_caller_that_reads_slowly_loses_nothing(crossing: Stage) -> None:
    async def slow(pair: Pair) -> None:
        model = crossing.model(pair.channel)
        pieces = tuple(f"{number:05} " + "x" * 1000 for number in range(2000))
        crossing.script(pair.channel, model, [stream(pair.channel.script(model, pieces).all)])
        connection = await Connection.open(crossing.gateway.port, receive_buffer=4096)
        await connection.send(crossing.gateway.request(pair.client, pair.client.request(model)))
        reply = await connection.reply()
        await asyncio.sleep(0.5)
        await reply.finish(30)
        connection.close()
        played = Played(crossing, pair.client, model, reply, pair.channel)
        assert Crossed(played, {}).heard.text == "".join(pieces)

    await together({pair.name: slow(pair) for pair in (Pair(CHAT, MESSAGES), Pair(MESSAGES, CHAT))})
