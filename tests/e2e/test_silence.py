"""Silence on the wire: keepalive comments, the early status 200, and what whole answers do instead."""

import itertools
import json

import pytest
from tests.harness.client import Ended
from tests.harness.dialects import CHAT, SIDES, TIMEOUT, UPSTREAM, Side, check_refusal
from tests.harness.invariants import check_stream
from tests.harness.script import (
    CUT,
    HOLD,
    JSON,
    TRUNCATE,
    Answer,
    Framing,
    Pause,
    Step,
    body,
    silence,
    stream,
)
from tests.harness.sse import KEEPALIVE
from tests.harness.stage import Stage
from tests.harness.together import all_sides_at_once, together

every_side = pytest.mark.parametrize("side", SIDES, ids=lambda side: side.name)


@all_sides_at_once
async def test_s018_a_comment_and_status_200_soon_after_commit_after(stage: Stage, side: Side) -> None:
    async def late_head() -> None:
        model = stage.model(side)
        script = side.script(model)
        answer = Answer(script.all, before=(Pause(2.5),))
        played = await stage.play(side, answer, model=model)
        assert 0.9 <= played.reply.head_at < 2.4
        assert played.reply.body.startswith(KEEPALIVE)
        assert set(played.stream.keepalives) == {0}
        assert played.stream.bytes() == script.bytes()
        check_stream(side, played.stream)

    async def late_word() -> None:
        model = stage.model(side)
        script = side.script(model)
        played = await stage.play(
            side, stream(script.opening, Pause(2.6), script.deltas, script.closing), model=model
        )
        assert 0.9 <= played.reply.head_at < 2.4
        assert set(played.stream.keepalives) == {0}
        assert played.stream.bytes() == script.bytes()

    async def counted_once() -> None:
        """A fails after 0.9 s; B takes 2 s: the comment comes one second after the request."""
        model = stage.model(side, "ab")
        script = side.script(model)
        slow_refusal = Answer((b"{}",), 500, JSON, Framing.LENGTH, before=(Pause(0.9),))
        answer = Answer(script.all, before=(Pause(2.0),))
        played = await stage.play(side, slow_refusal, b=[answer], model=model)
        assert 0.9 <= played.reply.head_at < 1.8
        assert played.stream.bytes() == script.bytes()

    async def quick() -> None:
        model = stage.model(side)
        script = side.script(model)
        played = await stage.play(side, Answer(script.all, before=(Pause(0.3),)), model=model)
        assert played.stream.keepalives == [] or played.reply.head_at >= 0.9

    await together({"head": late_head(), "word": late_word(), "once": counted_once(), "no comment": quick()})


@all_sides_at_once
async def test_a_keepalive_each_interval_of_silence(stage: Stage, side: Side) -> None:
    model = stage.model(side)
    script = side.script(model, ("a", "b"))
    first, second = script.deltas
    steps = stream(script.opening, first, Pause(3.5), second, script.closing)
    played = await stage.play(side, steps, model=model)
    assert set(played.stream.keepalives) == {len(script.opening) + 1}
    assert played.stream.bytes() == script.bytes()
    times = [at for at, part in played.reply.arrivals if part == KEEPALIVE]
    arrived = {delta: at for at, part in played.reply.arrivals for delta in (first, second) if delta in part}
    assert len(times) == 3 or arrived[second] - arrived[first] > 3.8, "the upstream itself was late"
    assert all(0.5 < later - earlier < 2.0 for earlier, later in itertools.pairwise(times))


@all_sides_at_once
async def test_b010_no_comment_where_there_is_no_silence(stage: Stage, side: Side) -> None:
    model = stage.model(side)
    script = side.script(model, tuple("abcdefgh"))
    steps = [step for event in script.all for step in (event, Pause(0.2))]
    played = await stage.play(side, stream(steps), model=model)
    assert played.stream.bytes() == script.bytes()
    times = [0.0, *(at for at, _ in played.reply.arrivals)]
    parts = [part for _, part in played.reply.arrivals]
    silences = [
        later - earlier
        for part, (earlier, later) in zip(parts, itertools.pairwise(times), strict=True)
        if part.startswith(KEEPALIVE)
    ]
    assert len(silences) == len(played.stream.keepalives)
    assert all(seconds > 0.8 for seconds in silences), "only where the upstream itself was late"


async def test_s020_a_line_by_line_client(stage: Stage) -> None:
    async def good() -> None:
        script = CHAT.script("up", ("Hello", " world"))
        steps = stream(script.opening, script.deltas[0], Pause(2.3), script.deltas[1], script.closing)
        played = await stage.play(CHAT, steps)
        assert played.stream.keepalives
        assert _line_by_line(played.reply.body) == "Hello world"

    async def cut() -> None:
        script = CHAT.script()
        played = await stage.play(CHAT, stream(script.opening, script.deltas, CUT))
        with pytest.raises(RuntimeError, match="upstream failed after the response had started"):
            _line_by_line(played.reply.body)

    await together({"good": good(), "cut": cut()})


def _line_by_line(content: bytes) -> str:
    """A simple client: joins data lines up to a blank line, skips comments, throws on an error key."""
    text, data = "", []
    for line in content.decode().split("\n"):
        if line.startswith(":"):
            continue
        if line.startswith("data: "):
            data.append(line[6:])
        elif not line and data:
            payload = "\n".join(data)
            data = []
            if payload == "[DONE]":
                return text
            value = json.loads(payload)
            if "error" in value:
                raise RuntimeError(value["error"]["message"])
            text += "".join(choice["delta"].get("content") or "" for choice in value["choices"])
    raise RuntimeError("no [DONE]")


@all_sides_at_once
async def test_a_whole_answer_has_no_keepalive_and_a_free_status(stage: Stage, side: Side) -> None:
    content = json.dumps(side.whole("up", "from B")).encode()

    async def late() -> None:
        played = await stage.play(
            side, Answer((content,), 200, JSON, Framing.LENGTH, before=(Pause(2.5),)), stream=False
        )
        assert played.reply.head_at > 2.3
        assert side.whole_text(played.reply.json()) == "from B"

    async def late_refusal() -> None:
        refusal = Answer((b"{}",), 500, JSON, Framing.LENGTH, before=(Pause(1.5),))
        played = await stage.play(side, refusal, stream=False)
        check_refusal(side, played.reply, UPSTREAM)

    async def slow_but_alive() -> None:
        parts: list[Step] = [content[:9], Pause(0.9), content[9:20], Pause(0.9), content[20:]]
        played = await stage.play(side, Answer(parts, 200, JSON), kind="qa", stream=False)
        assert side.whole_text(played.reply.json()) == "from B"

    async def stalled(*steps: bytes) -> None:
        answer = Answer((*steps, HOLD), 200, JSON) if steps else silence()
        played = await stage.play(side, answer, b=[body(content)], kind="qab", stream=False)
        assert side.whole_text(played.reply.json()) == "from B"
        assert 1.4 < played.reply.head_at < 3
        await played.at_a[0].closed(within=20)

    async def stalled_alone() -> None:
        played = await stage.play(side, silence(), kind="qa", stream=False)
        check_refusal(side, played.reply, TIMEOUT)

    await together(
        {
            "late": late(),
            "late refusal": late_refusal(),
            "slow": slow_but_alive(),
            "stalled at once": stalled(),
            "stalled in the body": stalled(content[:20]),
            "stalled, no B": stalled_alone(),
        }
    )


@every_side
async def test_a_whole_answer_that_breaks_off_moves_on(stage: Stage, side: Side) -> None:
    content = json.dumps(side.whole("up", "from B")).encode()

    async def moved_on(answer: Answer) -> None:
        played = await stage.play(side, answer, b=[body(content)], stream=False)
        assert played.reply.ended is Ended.WHOLE
        assert side.whole_text(played.reply.json()) == "from B"
        attempts = (await played.row())["attempts"]
        assert [attempt["outcome"] for attempt in attempts] == ["failed", "served"]

    half = content[: len(content) // 2]
    await together(
        {
            "cut": moved_on(Answer((half, CUT), 200, JSON)),
            "truncated": moved_on(Answer((half, TRUNCATE), 200, JSON)),
            "short of its length": moved_on(
                Answer((half, TRUNCATE), 200, [*JSON, ("content-length", "99999")], Framing.UNTIL_CLOSE)
            ),
            "half JSON": moved_on(body(half)),
            "HTML": moved_on(body(b"<html>", headers=[("content-type", "text/html")])),
            "empty": moved_on(body(b"")),
            "an error": moved_on(body(json.dumps(side.error_body("boom", "server_error")).encode())),
        }
    )


@every_side
async def test_a_whole_answer_from_a_stream_is_assembled(stage: Stage, side: Side) -> None:
    """Also when the stream breaks: then it is a failed attempt."""

    async def whole() -> None:
        played = await stage.play(side, stream(side.script().all), stream=False)
        assert side.whole_text(played.reply.json()) == "Hello"
        assert played.reply.json()["model"] == played.model
        assert (await played.row())["usage_source"] == "upstream"

    async def broken() -> None:
        script = side.script()
        steps = stream(script.opening, script.deltas, CUT)
        good = body(json.dumps(side.whole("up", "from B")).encode())
        played = await stage.play(side, steps, b=[good], stream=False)
        assert side.whole_text(played.reply.json()) == "from B"

    await together({"whole": whole(), "broken": broken()})
