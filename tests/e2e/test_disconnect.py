"""The client leaves: the upstream is told within a second, and the row says what happened."""

import asyncio
import contextlib
import json
from pathlib import Path

import pytest
from tests.conftest import Start
from tests.harness import settings
from tests.harness.client import Connection
from tests.harness.dialects import CHAT, FRESH, MESSAGES, SIDES, Side
from tests.harness.gateway import free_port
from tests.harness.script import HOLD, JSON, Answer, Framing, Pause, Step, body, silence, stream
from tests.harness.stage import Stage
from tests.harness.together import all_sides_at_once, together
from tests.harness.upstream import ScriptedUpstream

every_side = pytest.mark.parametrize("side", SIDES, ids=lambda side: side.name)
PROSE = "The river runs past the mill and on to the sea. "


async def _leave(connection: Connection, how: str) -> None:
    if how == "reset":
        connection.vanish()
    else:
        connection.close()


@all_sides_at_once
async def test_b160_after_output(stage: Stage, side: Side) -> None:
    async def leaves(how: str) -> None:
        model = stage.model(side)
        script = side.script(model, tuple([PROSE] * 5))
        stage.script(side, model, [stream(script.opening, script.deltas, HOLD)])
        connection = await Connection.open(stage.gateway.port)
        await connection.send(stage.gateway.request(side, side.request(model)))
        reply = await connection.reply()
        await reply.until(script.deltas[-1])
        left_at = asyncio.get_running_loop().time()
        await _leave(connection, how)
        closed_at = await stage.upstream.only(f"{side.tag}-A", model).closed(within=3)
        assert closed_at - left_at < 3
        row = await stage.gateway.row(model)
        assert (row["outcome"], row["status"]) == ("client_closed", 200)
        assert row["input_tokens"] > 0
        assert 20 <= row["output_tokens"] <= 200
        if side is MESSAGES:
            assert row["input_tokens"] == FRESH
        assert [attempt["outcome"] for attempt in row["attempts"]] == ["abandoned"]

    await together({how: leaves(how) for how in ("reset", "close")})


@all_sides_at_once
async def test_b160_before_output(stage: Stage, side: Side) -> None:
    """While the upstream has not answered, and while it has sent only its opening."""

    async def leaves(answer: Answer, *, accepted: bool, streamed: bool = True) -> None:
        model = stage.model(side, "ab")
        stage.script(side, model, [answer])
        connection = await Connection.open(stage.gateway.port)
        await connection.send(stage.gateway.request(side, side.request(model, stream=streamed)))
        seen = await stage.upstream.arrived(f"{side.tag}-A", model)
        await asyncio.sleep(0.2)
        left_at = asyncio.get_running_loop().time()
        connection.vanish()
        assert await seen.closed(within=3) - left_at < 3
        row = await stage.gateway.row(model)
        assert (row["outcome"], row["status"]) == ("client_closed", 499)
        assert (row["input_tokens"] > 0) == accepted
        assert row["output_tokens"] == 0
        assert stage.upstream.requests(f"{side.tag}-B", model) == []

    opening: list[Step] = [*side.script().opening]
    await together(
        {
            "no head": leaves(silence(), accepted=False),
            "head": leaves(stream(HOLD), accepted=True),
            "opening": leaves(stream(opening, HOLD), accepted=True),
            "b163 whole": leaves(silence(), accepted=False, streamed=False),
            "whole, head": leaves(Answer((b"{", HOLD), 200, JSON), accepted=True, streamed=False),
        }
    )


@all_sides_at_once
async def test_b160_after_a_keepalive(stage: Stage, side: Side) -> None:
    model = stage.model(side)
    stage.script(side, model, [silence()])
    connection = await Connection.open(stage.gateway.port)
    await connection.send(stage.gateway.request(side, side.request(model)))
    reply = await connection.reply()
    assert reply.status == 200
    connection.vanish()
    await stage.upstream.only(f"{side.tag}-A", model).closed(within=3)
    row = await stage.gateway.row(model)
    assert (row["outcome"], row["status"], row["output_tokens"]) == ("client_closed", 200, 0)


@every_side
async def test_before_the_request_was_whole(stage: Stage, side: Side) -> None:
    """Half a head, half a body: nothing goes upstream and the gateway lives on."""
    model = stage.model(side)
    whole = stage.gateway.request(side, side.request(model))
    for length in (10, whole.index(b"\r\n\r\n") + 2, len(whole) - 5):
        for how in ("reset", "close"):
            connection = await Connection.open(stage.gateway.port)
            await connection.send(whole[:length])
            await asyncio.sleep(0.02)
            await _leave(connection, how)
    stage.script(side, model, [stream(side.script().all)])
    assert (await stage.gateway.call(side, side.request(model))).status == 200
    assert len(stage.upstream.requests(f"{side.tag}-A", model)) == 1


@every_side
async def test_after_the_end(stage: Stage, side: Side) -> None:
    """A client that has its end mark and leaves at once got the whole answer."""
    model = stage.model(side)
    script = side.script(model)
    stage.script(side, model, [stream(script.all, HOLD)])
    connection = await Connection.open(stage.gateway.port)
    await connection.send(stage.gateway.request(side, side.request(model)))
    await (await connection.reply()).until(script.closing[-1])
    connection.vanish()
    row = await stage.gateway.row(model)
    assert (row["outcome"], row["output_tokens"]) == ("completed", 7)


@every_side
async def test_a_client_that_half_closes_still_gets_its_answer(stage: Stage, side: Side) -> None:
    """Some clients shut their sending side down; if the gateway takes that as leaving, the row says so."""
    model = stage.model(side)
    script = side.script(model)
    stage.script(side, model, [stream(Pause(0.3), script.all)])
    connection = await Connection.open(stage.gateway.port)
    await connection.send(stage.gateway.request(side, side.request(model)))
    connection.writer.write_eof()
    await asyncio.sleep(0.6)
    row = await stage.gateway.row(model)
    assert row["outcome"] in ("completed", "client_closed")
    connection.close()


async def test_a_slow_reader_costs_bounded_memory_and_disturbs_nobody(stage: Stage) -> None:
    """60 MB for a client that reads nothing; a neighbour on the same channel streams at full speed."""
    slow_model, quick_model = stage.model(CHAT), stage.model(CHAT)
    big = CHAT.script(slow_model, ("x" * 100_000,))
    steps = [*big.opening, *big.deltas * 600, *big.closing]
    stage.script(CHAT, slow_model, [stream(steps)])
    before = stage.gateway.resident_bytes()
    slow = await Connection.open(stage.gateway.port, receive_buffer=4096)
    await slow.send(stage.gateway.request(CHAT, CHAT.request(slow_model)))
    await stage.upstream.arrived("chat-A", slow_model)
    script = CHAT.script(quick_model, tuple(str(number) for number in range(100)))
    paced = [step for event in script.all for step in (event, Pause(0.01))]
    played = await stage.play(CHAT, stream(paced), model=quick_model)
    assert played.reply.body == script.bytes()
    assert played.reply.arrivals[-1][0] < 15
    assert stage.gateway.resident_bytes() - before < 24 * 1024 * 1024
    assert stage.upstream.only("chat-A", slow_model).played_at is None, "the upstream is held back"
    slow.vanish()
    await stage.upstream.only("chat-A", slow_model).closed(within=3)
    row = await stage.gateway.row(slow_model)
    assert row["outcome"] == "client_closed"


async def test_a_slow_reader_that_goes_on_gets_every_byte(stage: Stage) -> None:
    model = stage.model(CHAT)
    script = CHAT.script(model, tuple(f"{number}:" + "y" * 50_000 for number in range(100)))
    stage.script(CHAT, model, [stream(script.all)])
    connection = await Connection.open(stage.gateway.port, receive_buffer=4096)
    await connection.send(stage.gateway.request(CHAT, CHAT.request(model)))
    await stage.upstream.arrived("chat-A", model)
    await asyncio.sleep(1.0)
    received = bytearray()
    async with asyncio.timeout(20):
        while b"0\r\n\r\n" not in received[-5:]:
            received += await connection.reader.read(65536)
    connection.close()
    content = _unchunked(bytes(received).split(b"\r\n\r\n", 1)[1])
    assert content.replace(b": tidegate-keepalive\n", b"") == script.bytes()


async def test_a_client_that_accepts_nothing_holds_no_upstream_for_ever(
    tmp_path: Path, upstream: ScriptedUpstream, start: Start
) -> None:
    config = settings.standard(free_port(), str(tmp_path), upstream.base)
    stage = Stage(start(settings.merged(config, streaming={"client_timeout": "1s"})), upstream)
    model, other = stage.model(CHAT), stage.model(CHAT)
    big = CHAT.script(model, ("x" * 100_000,))
    stage.script(CHAT, model, [stream(big.opening, big.deltas * 100, HOLD)])

    async def reads_nothing() -> None:
        client = await Connection.open(stage.gateway.port, receive_buffer=4096)
        await client.send(stage.gateway.request(CHAT, CHAT.request(model)))
        await stage.upstream.arrived("chat-A", model)
        await stage.upstream.only("chat-A", model).closed(within=8)
        row = await stage.gateway.row(model)
        assert (row["outcome"], row["status"]) == ("client_closed", 200)
        assert (row["error"]["type"], row["error"]["code"]) == ("timeout_error", "client_timeout")
        assert [attempt["outcome"] for attempt in row["attempts"]] == ["abandoned"]
        client.close()

    async def reads_slowly() -> None:
        """A little now and then, for longer than a client may accept nothing."""
        script = CHAT.script(other, tuple("y" * 50_000 for _ in range(8)))
        stage.script(CHAT, other, [stream(script.all)])
        client = await Connection.open(stage.gateway.port, receive_buffer=4096)
        await client.send(stage.gateway.request(CHAT, CHAT.request(other)))
        received = bytearray()
        async with asyncio.timeout(40):
            while b"0\r\n\r\n" not in received[-5:]:
                received += await client.reader.read(65_536 if len(received) > 100_000 else 8_192)
                await asyncio.sleep(0 if len(received) > 100_000 else 0.2)
        client.close()
        content = _unchunked(bytes(received).split(b"\r\n\r\n", 1)[1])
        assert content.replace(b": tidegate-keepalive\n", b"") == script.bytes()

    async def leaves_a_whole_answer() -> None:
        """The request is over; its connection does not stay for ever."""
        whole_model = stage.model(CHAT)
        answer = json.dumps(CHAT.whole(text="z" * 4_000_000)).encode()
        stage.script(CHAT, whole_model, [body(answer)])
        client = await Connection.open(stage.gateway.port, receive_buffer=4096)
        await client.send(stage.gateway.request(CHAT, CHAT.request(whole_model, stream=False)))
        assert (await stage.gateway.row(whole_model))["outcome"] == "completed"
        await asyncio.sleep(2.5)
        received = b""
        with contextlib.suppress(ConnectionError):
            async with asyncio.timeout(20):
                while part := await client.reader.read(1 << 20):
                    received += part
        assert 0 < len(received) < len(answer), "it was cut off"
        client.close()

    await together({"nothing": reads_nothing(), "slowly": reads_slowly(), "whole": leaves_a_whole_answer()})


def _unchunked(content: bytes) -> bytes:
    parts: list[bytes] = []
    at = 0
    while True:
        end = content.index(b"\r\n", at)
        size = int(content[at:end], 16)
        if not size:
            return b"".join(parts)
        parts.append(content[end + 2 : end + 2 + size])
        at = end + 2 + size + 2


async def test_many_clients_leave_at_once(stage: Stage) -> None:
    """Every upstream call is cancelled and every row is there."""
    models = [stage.model(side) for side in SIDES for _ in range(20)]

    async def leave(side: Side, model: str, number: int) -> None:
        script = side.script(model)
        stage.script(side, model, [stream(script.opening, script.deltas, HOLD)])
        connection = await Connection.open(stage.gateway.port)
        await connection.send(stage.gateway.request(side, side.request(model)))
        await (await connection.reply()).until(script.deltas[0])
        await _leave(connection, "reset" if number % 2 else "close")
        await stage.upstream.only(f"{side.tag}-A", model).closed(within=3)
        assert (await stage.gateway.row(model))["outcome"] == "client_closed"

    sides = [side for side in SIDES for _ in range(20)]
    pairs = zip(sides, models, strict=True)
    await together({model: leave(side, model, n) for n, (side, model) in enumerate(pairs)})


@every_side
async def test_a_whole_answer_to_nobody(stage: Stage, side: Side) -> None:
    """The client leaves while the upstream is about to answer."""
    model = stage.model(side)
    content = json.dumps(side.whole()).encode()
    stage.script(
        side, model, [Answer((content,), 200, JSON, Framing.LENGTH, before=(Pause(5),)), body(content)]
    )
    connection = await Connection.open(stage.gateway.port)
    await connection.send(stage.gateway.request(side, side.request(model, stream=False)))
    seen = await stage.upstream.arrived(f"{side.tag}-A", model)
    connection.close()
    await seen.closed(within=3)
    row = await stage.gateway.row(model)
    assert (row["outcome"], row["status"], row["input_tokens"]) == ("client_closed", 499, 0)
