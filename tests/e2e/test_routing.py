"""Which channel serves: priorities, weights, cooldown and half-open probing, retry-after, attempt limits."""

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.harness import settings, sse
from tests.harness.dialects import (
    CHAT,
    MESSAGES,
    NO_CHANNEL,
    RATE_LIMIT,
    RESPONSES,
    SIDES,
    UPSTREAM,
    Side,
    check_refusal,
)
from tests.harness.gateway import Gateway, free_port
from tests.harness.script import CUT, JSON, Answer, Framing, Pause, body, stream
from tests.harness.stage import Stage
from tests.harness.together import all_sides_at_once, together
from tests.harness.upstream import ScriptedUpstream

every_side = pytest.mark.parametrize("side", SIDES, ids=lambda side: side.name)
REFUSED = body(b"{}", 500)


def good(side: Side) -> Answer:
    return stream(side.script().all)


@all_sides_at_once
async def test_b107_a_channel_that_keeps_failing_is_left_alone_and_tried_again(
    stage: Stage, side: Side
) -> None:
    model = stage.model(side, "ab")
    a, b = f"{side.tag}-A", f"{side.tag}-B"
    stage.script(side, model, [REFUSED] * 4, [good(side)] * 9)

    async def ask() -> None:
        reply = await stage.gateway.call(side, side.request(model))
        assert reply.status == 200

    def asked() -> tuple[int, int]:
        return len(stage.upstream.requests(a, model)), len(stage.upstream.requests(b, model))

    for _ in range(3):
        await ask()
    assert asked() == (3, 3)
    for _ in range(2):
        await ask()
    assert asked() == (3, 5), "A is cooling down"
    await asyncio.sleep(1.7)
    await ask()
    assert asked() == (4, 6), "one probe, which failed"
    await ask()
    assert asked() == (4, 7), "A is cooling down again"
    await asyncio.sleep(1.7)
    stage.upstream.script(a, model, *[good(side)] * 2)
    await ask()
    await ask()
    assert asked() == (6, 7), "the probe went well: A serves again"


@every_side
async def test_with_every_channel_cooling_down_nothing_is_asked(stage: Stage, side: Side) -> None:
    model = stage.model(side)
    stage.script(side, model, [REFUSED] * 3)
    for _ in range(3):
        check_refusal(side, await stage.gateway.call(side, side.request(model)), UPSTREAM)
    reply = await stage.gateway.call(side, side.request(model))
    check_refusal(side, reply, NO_CHANNEL)
    assert 0 < float(reply.header("retry-after") or "0") <= 2
    assert len(stage.upstream.requests(f"{side.tag}-A", model)) == 3
    row = await stage.gateway.row(model, count=4)
    assert (row["status"], row["attempts"]) == (503, [])


async def test_cooldown_holds_for_one_upstream_model_only(stage: Stage) -> None:
    model, other = stage.model(CHAT), stage.model(CHAT)
    stage.script(CHAT, model, [REFUSED] * 3)
    stage.script(CHAT, other, [good(CHAT)])
    for _ in range(3):
        await stage.gateway.call(CHAT, CHAT.request(model))
    assert (await stage.gateway.call(CHAT, CHAT.request(other))).status == 200


@every_side
async def test_what_is_not_the_channels_fault_is_not_held_against_it(stage: Stage, side: Side) -> None:
    """The request's own errors, and 409 and 425, never cool it down; a success resets the count."""

    async def harmless(status: int, *, moves_on: bool) -> None:
        model = stage.model(side, "ab")
        stage.script(side, model, [body(b"{}", status)] * 5, [good(side)] * 5)
        for _ in range(5):
            await stage.gateway.call(side, side.request(model))
        assert len(stage.upstream.requests(f"{side.tag}-A", model)) == 5
        assert len(stage.upstream.requests(f"{side.tag}-B", model)) == (5 if moves_on else 0)

    async def count_starts_anew() -> None:
        model = stage.model(side, "ab")
        mixed = [REFUSED, REFUSED, good(side), REFUSED, REFUSED, good(side)]
        stage.script(side, model, mixed, [good(side)] * 4)
        for _ in mixed:
            await stage.gateway.call(side, side.request(model))
        assert len(stage.upstream.requests(f"{side.tag}-A", model)) == 6

    await together(
        {
            "400": harmless(400, moves_on=False),
            "413": harmless(413, moves_on=False),
            "422": harmless(422, moves_on=False),
            "409": harmless(409, moves_on=True),
            "425": harmless(425, moves_on=True),
            "success": count_starts_anew(),
        }
    )


@every_side
async def test_b090_failures_in_mid_stream_count_too(stage: Stage, side: Side) -> None:
    model = stage.model(side, "ab")
    script = side.script()
    cut = stream(script.opening, script.deltas, CUT)
    stage.script(side, model, [cut] * 3, [good(side)])
    for _ in range(3):
        await stage.gateway.call(side, side.request(model))
    reply = await stage.gateway.call(side, side.request(model))
    assert reply.status == 200
    assert len(stage.upstream.requests(f"{side.tag}-A", model)) == 3
    assert len(stage.upstream.requests(f"{side.tag}-B", model)) == 1


@all_sides_at_once
async def test_half_open_sends_one_probe(stage: Stage, side: Side) -> None:
    """Of many requests at the end of the cooldown only one tries the channel; the others do without."""
    model = stage.model(side, "ab")
    slow = Answer((b"{}",), 500, JSON, Framing.LENGTH, before=(Pause(0.5),))
    stage.script(side, model, [*[REFUSED] * 3, *[slow] * 8], [good(side)] * 20)
    for _ in range(3):
        await stage.gateway.call(side, side.request(model))
    await asyncio.sleep(1.7)
    calls = [stage.gateway.call(side, side.request(model)) for _ in range(8)]
    assert {reply.status for reply in await asyncio.gather(*calls)} == {200}
    assert len(stage.upstream.requests(f"{side.tag}-A", model)) == 4


@every_side
async def test_odd_retry_after_values_do_no_harm(stage: Stage, side: Side) -> None:
    async def told(value: str) -> None:
        played = await stage.play(side, body(b"{}", 429, [*JSON, ("retry-after", value)]))
        check_refusal(side, played.reply, RATE_LIMIT)

    values = ("soon", "-5", "1e9", "99999999999", "0", "0.5", "Wed, 21 Oct 2099 07:28:00 GMT", "\u00e9")
    await together({value: told(value) for value in values})


@all_sides_at_once
async def test_b101_an_upstreams_retry_after_is_kept(stage: Stage, side: Side) -> None:
    """One 429 with retry-after is enough for that channel to be left alone that long."""

    async def alone() -> None:
        model = stage.model(side)
        limited = body(b"{}", 429, [*JSON, ("retry-after", "17")])
        stage.script(side, model, [limited])
        await stage.gateway.call(side, side.request(model))
        reply = await stage.gateway.call(side, side.request(model))
        check_refusal(side, reply, NO_CHANNEL)
        assert 15 <= float(reply.header("retry-after") or "0") <= 17
        assert len(stage.upstream.requests(f"{side.tag}-A", model)) == 1

    async def two() -> None:
        model = stage.model(side, "ab")
        limited = body(b"{}", 503, [*JSON, ("retry-after", "1")])
        stage.script(side, model, [limited, good(side)], [good(side)] * 2)
        for _ in range(2):
            assert (await stage.gateway.call(side, side.request(model))).status == 200
        assert len(stage.upstream.requests(f"{side.tag}-A", model)) == 1
        await asyncio.sleep(1.2)
        await stage.gateway.call(side, side.request(model))
        assert len(stage.upstream.requests(f"{side.tag}-A", model)) == 2

    await together({"alone": alone(), "two": two()})


@pytest.fixture(scope="module")
def wide(upstream: ScriptedUpstream, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gateway]:
    """A gateway with six equal channels for `many`, weighted ones for `w-*`, and mapped names."""
    folder = tmp_path_factory.mktemp("wide")
    config = settings.server(free_port(), str(folder))
    config["channels"] = [
        settings.channel(f"many-{number}", "chat", upstream.base(f"many-{number}"), ["many", "many-*"])
        for number in range(6)
    ]
    config["channels"] += [
        settings.channel("light", "chat", upstream.base("light"), ["w-*"], weight=1),
        settings.channel("heavy", "chat", upstream.base("heavy"), ["w-*"], weight=4),
        settings.channel("mapped-A", "chat", upstream.base("mapped-A"), [], priority=2),
        settings.channel("mapped-B", "chat", upstream.base("mapped-B"), [], priority=1),
        settings.channel("only-msgs", "msgs", upstream.base("only-msgs"), ["elsewhere"]),
    ]
    config["channels"][8]["models"] = {"alias": "up-a"}
    config["channels"][9]["models"] = {"alias": "up-b"}
    config["models"] = [{"name": name} for name in ("many", "many-*", "w-*", "alias", "elsewhere")]
    gateway = Gateway(config, Path(folder))
    try:
        yield gateway.wait_ready()
    finally:
        gateway.stop()


async def test_no_more_than_max_attempts(wide: Gateway, upstream: ScriptedUpstream) -> None:
    for number in range(6):
        upstream.script(f"many-{number}", "many", REFUSED)
    check_refusal(CHAT, await wide.call(CHAT, CHAT.request("many")), UPSTREAM)
    row = await wide.row("many")
    assert len(row["attempts"]) == 4
    assert len({attempt["channel"] for attempt in row["attempts"]}) == 4
    assert sum(len(upstream.requests(f"many-{number}", "many")) for number in range(6)) == 4


async def test_weights_share_the_requests(wide: Gateway, upstream: ScriptedUpstream) -> None:
    model = "w-1"
    for channel in ("light", "heavy"):
        upstream.always(channel, model, body(json.dumps(CHAT.whole()).encode()))

    async def ask() -> None:
        assert (await wide.call(CHAT, CHAT.request(model, stream=False))).status == 200

    await together({str(number): ask() for number in range(100)})
    light, heavy = len(upstream.requests("light", model)), len(upstream.requests("heavy", model))
    assert light + heavy == 100
    assert 3 <= light <= 45, f"{light} of 100 on the channel with a fifth of the weight"


async def test_b169_the_row_tells_the_name_asked_for_and_each_upstream_name(
    wide: Gateway, upstream: ScriptedUpstream
) -> None:
    upstream.script("mapped-A", "up-a", REFUSED)
    upstream.script("mapped-B", "up-b", stream(CHAT.script("up-b-2026-11-01").all))
    reply = await wide.call(CHAT, CHAT.request("alias"))
    assert b'"model":"alias"' in reply.body
    assert b"up-b" not in reply.body
    row = await wide.row("alias")
    assert (row["model"], row["channel"]) == ("alias", "mapped-B")
    attempts = [(attempt["channel"], attempt["upstream_model"]) for attempt in row["attempts"]]
    assert attempts == [("mapped-A", "up-a"), ("mapped-B", "up-b")]


@pytest.mark.parametrize("side", [CHAT, RESPONSES], ids=lambda side: side.name)
async def test_a_model_without_a_channel_of_the_callers_protocol_is_served(
    wide: Gateway, upstream: ScriptedUpstream, side: Side
) -> None:
    upstream.script("only-msgs", "elsewhere", stream(MESSAGES.script("elsewhere").all))
    reply = await wide.call(side, side.request("elsewhere"))
    assert side.text(sse.read(reply.body)) == "Hello"


async def test_names_are_no_patterns_of_the_caller(wide: Gateway, stage: Stage) -> None:
    """A caller's `*` is a character like others."""
    assert (await wide.call(CHAT, CHAT.request("man*"))).status == 404
    assert (await wide.call(MESSAGES, MESSAGES.request("*"))).status == 404
