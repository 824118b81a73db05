"""Settings that change what callers and upstreams see."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.conftest import Start
from tests.harness import settings, sse
from tests.harness.dialects import CHAT, RESPONSES, SIDES
from tests.harness.gateway import Gateway, free_port
from tests.harness.script import CUT, HOLD, Answer, Pause, stream
from tests.harness.stage import Played, Stage
from tests.harness.together import together
from tests.harness.upstream import ScriptedUpstream


@pytest.fixture(scope="module")
def worded(upstream: ScriptedUpstream, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    """Own words, usage always, own headers."""
    folder = tmp_path_factory.mktemp("worded")
    config = settings.merged(
        settings.standard(free_port(), str(folder), upstream.base),
        streaming={
            "keepalive_comment": "still here",
            "timeout_message": "the provider fell silent",
            "failure_message": "the provider broke off",
            "usage_chunk": "always",
        },
    )
    for channel in config["channels"]:
        channel["headers"] = {"x-team": "search"}
        channel["forward_headers"] = ["x-trace", "X-Session-Id"]
    gateway = Gateway(config, Path(folder))
    try:
        yield Stage(gateway.wait_ready(), upstream)
    finally:
        gateway.stop()


async def test_the_configured_words_are_used(worded: Stage) -> None:
    async def cut(played: Played, message: str) -> None:
        stream_ = sse.read(played.reply.body, b": still here\n")
        played.side.check_interrupted(stream_, message)

    async def broken() -> None:
        for side in SIDES:
            script = side.script()
            played = await worded.play(side, stream(script.opening, script.deltas, CUT))
            await cut(played, "the provider broke off")

    async def silent() -> None:
        script = CHAT.script()
        played = await worded.play(CHAT, stream(script.opening, script.deltas, HOLD), kind="qa")
        await cut(played, "the provider fell silent")

    async def comment() -> None:
        script = CHAT.script()
        played = await worded.play(CHAT, stream(script.opening, Pause(1.5), script.deltas, script.closing))
        assert sse.read(played.reply.body, b": still here\n").keepalives == [0]

    await together({"broken": broken(), "silent": silent(), "comment": comment()})


async def test_usage_always(worded: Stage) -> None:
    model = worded.model(CHAT)
    script = CHAT.script(model)
    played = await worded.play(CHAT, stream(script.all), model=model, members={"stream_options": None})
    assert played.reply.body == script.bytes()


async def test_own_and_forwarded_headers(worded: Stage) -> None:
    extra = [("x-trace", "t-1"), ("x-session-id", "s-1"), ("x-other", "no")]
    for side in SIDES:
        played = await worded.play(side, stream(side.script().all), extra=extra)
        seen = played.at_a[0]
        assert seen.header("x-team") == "search"
        assert (seen.header("x-trace"), seen.header("x-session-id")) == ("t-1", "s-1")
        assert seen.header("x-other") is None


async def test_forward_headers_replace_the_default(worded: Stage) -> None:
    extra = [("x-openai-internal-codex-responses-lite", "true")]
    played = await worded.play(RESPONSES, stream(RESPONSES.script().all), extra=extra)
    assert played.at_a[0].header("x-openai-internal-codex-responses-lite") is None


async def test_zero_switches_things_off(start: Start, tmp_path: Path, upstream: ScriptedUpstream) -> None:
    config = settings.merged(
        settings.standard(free_port(), str(tmp_path), upstream.base),
        streaming={"keepalive_interval": 0, "commit_after": 0},
    )
    stage = Stage(start(config), upstream)

    async def never(answer: Answer) -> None:
        played = await stage.play(CHAT, answer)
        assert played.stream.keepalives == []
        assert played.text == "Hello"

    script = CHAT.script()
    await together(
        {
            "late head": never(Answer(script.all, before=(Pause(2.3),))),
            "silence": never(
                stream(script.opening, script.deltas[0], Pause(2.3), script.deltas[1], script.closing)
            ),
        }
    )
