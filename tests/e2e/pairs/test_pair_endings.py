"""How answers end in every pair: finish reasons in the caller's words, end marks, cuts and silence."""

from collections.abc import Sequence

import pytest
from tests.harness import notation as n
from tests.harness.crossing import MODES, Crossed, cross
from tests.harness.dialects import CHAT, FAILED, MESSAGES, RESPONSES, TIMED_OUT, Side
from tests.harness.notation import Json
from tests.harness.pairs import CROSS, Pair, finish, over
from tests.harness.script import CUT, EOF, HOLD, TRUNCATE, End, Pause, Step, stream
from tests.harness.stage import Played, Stage
from tests.harness.together import together

every_cross_pair = pytest.mark.parametrize("pair", CROSS, ids=lambda pair: pair.name)
clients_of_chat = pytest.mark.parametrize("client", [MESSAGES, RESPONSES], ids=lambda side: side.name)
clients_of_messages = pytest.mark.parametrize("client", [CHAT, RESPONSES], ids=lambda side: side.name)
CALL = n.k(n.t(0, "a", "f", "{}"))


def _message(reason: str, *blocks: bytes, usage: Json | None = None, **delta: object) -> list[bytes]:
    said = blocks or (n.bs(0, "text"), n.bd(0, n.text("a")), n.be(0))
    return [n.ms(), *said, n.md(reason, usage, **delta), n.me]


@clients_of_chat
@pytest.mark.parametrize("mode", MODES)
async def test_b055_stop_although_there_were_calls(crossing: Stage, client: Side, mode: str) -> None:
    stopped = await cross(crossing, Pair(client, CHAT), [CALL, n.k({}, "stop"), n.DONE], mode=mode)
    assert len(stopped.heard.calls) == 1
    assert stopped.heard.finish == finish(client, "calls")
    cut = await cross(crossing, Pair(client, CHAT), [CALL, n.k({}, "length"), n.DONE], mode=mode)
    assert cut.heard.finish == finish(client, "limit")
    assert (await cut.played.row())["outcome"] == "incomplete"


@clients_of_messages
@pytest.mark.parametrize("mode", MODES)
async def test_b057_a_refusal_of_a_messages_channel(crossing: Stage, client: Side, mode: str) -> None:
    thinking = (n.bs(0, "thinking"), n.bd(0, n.think("hm")), n.bd(0, n.sig("S")), n.be(0))
    details = {"type": "refusal", "category": "cyber", "explanation": "Not this."}
    usage = {"input_tokens": 10, "output_tokens": 126}
    steps = _message("refusal", *thinking, usage=usage, stop_details=details)
    crossed = await cross(crossing, Pair(client, MESSAGES), steps, mode=mode)
    heard = crossed.heard
    assert heard.finish == finish(client, "filter")
    assert heard.refusal == "Not this."
    assert heard.counts is not None
    assert heard.counts.output == 126


@pytest.mark.parametrize("mode", MODES)
async def test_b058_refusal_text_can_be_read(crossing: Stage, mode: str) -> None:
    chat = [n.k({"role": "assistant", "refusal": "I can't"}), n.k({}, "stop"), n.DONE]
    part = {"type": "refusal", "refusal": "I can't"}
    item: Json = {"id": "msg_1", "type": "message", "status": "completed", "role": "assistant"}
    place = {"item_id": "msg_1", "output_index": 0, "content_index": 0}
    responses = n.r(
        n.created(),
        n.added({**item, "content": []}),
        ("response.content_part.added", {**place, "part": {**part, "refusal": ""}}),
        ("response.refusal.delta", {**place, "delta": "I can't"}),
        ("response.refusal.done", {**place, "refusal": "I can't"}),
        ("response.content_part.done", {**place, "part": part}),
        n.item_done({**item, "content": [part]}),
        ("response.completed", n.response("completed", output=[{**item, "content": [part]}])),
    )
    for channel, steps in ((CHAT, chat), (RESPONSES, responses)):
        heard = (await cross(crossing, Pair(MESSAGES, channel), steps, mode=mode)).heard
        assert (heard.text, heard.finish) == ("I can't", "refusal")
        other = RESPONSES if channel is CHAT else CHAT
        heard = (await cross(crossing, Pair(other, channel), steps, mode=mode)).heard
        assert (heard.refusal, heard.finish) == ("I can't", finish(other, "refusal"))


@pytest.mark.parametrize("mode", MODES)
async def test_b059_a_stop_sequence_that_the_upstream_found(crossing: Stage, mode: str) -> None:
    for stop, wanted in (("</b>", ["</b>"]), (["a", "b"], ["a", "b"])):
        steps = _message("stop_sequence", stop_sequence="</b>")
        crossed = await cross(crossing, Pair(CHAT, MESSAGES), steps, mode=mode, members={"stop": stop})
        assert crossed.asked["stop_sequences"] == wanted
        assert crossed.heard.finish == "stop"
        responses = await cross(crossing, Pair(RESPONSES, MESSAGES), steps, mode=mode)
        assert responses.heard.finish == "completed"


async def test_b059_b135_stop_sequences_for_a_chat_channel(crossing: Stage) -> None:
    crossed = await cross(crossing, Pair(MESSAGES, CHAT), members={"stop_sequences": ["</b>"]})
    assert crossed.asked["stop"] == ["</b>"]
    assert crossed.warnings == []


CUTTERS = [
    Pair(CHAT, RESPONSES),
    Pair(MESSAGES, RESPONSES),
    Pair(MESSAGES, CHAT),
]


@pytest.mark.parametrize("pair", CUTTERS, ids=lambda pair: pair.name)
@pytest.mark.parametrize("mode", MODES)
async def test_b135_the_gateway_cuts_where_the_upstream_cannot(
    crossing: Stage, pair: Pair, mode: str
) -> None:
    """At the first match, also when it comes in pieces; nothing of it is shown."""
    stops = ["STOP"] if pair.channel is RESPONSES else ["1", "2", "3", "4", "STOP"]
    name = "stop" if pair.client is CHAT else "stop_sequences"
    script = pair.channel.script(pieces=("Hel", "lo S", "TO", "P you", " never"))
    crossed = await cross(crossing, pair, script.all, mode=mode, members={name: stops})
    assert crossed.heard.text == "Hello "
    assert len(crossed.asked.get("stop", [])) <= 4
    assert crossed.warnings == [f"approximated:{name}"]
    if pair.client is MESSAGES:
        assert crossed.heard.finish == "stop_sequence"
        assert crossed.heard.whole["stop_sequence"] == "STOP"
    else:
        assert crossed.heard.finish == "stop"
    assert (await crossed.played.row())["outcome"] == "completed"


async def test_b135_a_cut_answer_ends_at_once_and_cancels_the_upstream(crossing: Stage) -> None:
    pair = Pair(MESSAGES, RESPONSES)
    model = crossing.model(RESPONSES)
    script = RESPONSES.script(model, ("one ", "two ", "STO", "P", "later"))
    later = [*script.deltas[4:], *script.closing]
    crossing.script(RESPONSES, model, [stream(script.opening, script.deltas[:4], Pause(3), later)])
    body = MESSAGES.request(model, stop_sequences=["STOP"])
    reply = await crossing.gateway.call(pair.client, body)
    played = Played(crossing, MESSAGES, model, reply, RESPONSES)
    heard = Crossed(played, {}).heard
    assert (heard.text, heard.finish) == ("one two ", "stop_sequence")
    assert reply.arrivals[-1][0] < 2.9
    await played.at_a[0].closed(within=20)
    row = await played.row()
    assert (row["outcome"], row["usage_source"]) == ("completed", "estimated")
    assert heard.counts is not None
    assert heard.counts.output > 0


async def test_b135_a_match_that_does_not_come_holds_nothing_back(crossing: Stage) -> None:
    script = RESPONSES.script(pieces=("a ST", "ART of ", "it S"))
    crossed = await cross(crossing, Pair(CHAT, RESPONSES), script.all, members={"stop": ["STOP"]})
    assert crossed.heard.text == "a START of it S"


@clients_of_messages
@pytest.mark.parametrize("mode", MODES)
async def test_b060_pause_turn_is_a_normal_end(crossing: Stage, client: Side, mode: str) -> None:
    heard = (await cross(crossing, Pair(client, MESSAGES), _message("pause_turn"), mode=mode)).heard
    assert heard.finish == finish(client, "stop")


@clients_of_chat
async def test_b061_unknown_finish_reasons(crossing: Stage, client: Side) -> None:
    for reason in ("eos", "stop_token"):
        steps = [n.k({"content": "a"}), n.k({}, reason), n.DONE]
        heard = (await cross(crossing, Pair(client, CHAT), steps)).heard
        assert heard.finish == finish(client, "stop")
    steps = [n.k({"content": "a"}), n.k({}, "network_error"), n.DONE]
    played = (await cross(crossing, Pair(client, CHAT), steps)).played
    assert client.error_of(played.stream.events[-1])
    assert (await played.row())["outcome"] == "interrupted"


def _check_interrupted(played: Played, text: str, message: str = FAILED) -> None:
    """The contract's error event word for word, last; before it what had been said; no end mark."""
    side, events = played.side, played.stream.events
    assert played.text == text
    assert not any(side.is_end(event) for event in events)
    last = events[-1].json()
    match side.name:
        case "chat":
            error = {"message": message, "type": "api_error", "code": "stream_interrupted"}
            assert (events[-1].name, last) == (None, {"error": error})
        case "messages":
            error = {"type": "api_error", "message": message}
            assert (events[-1].name, last) == ("error", {"type": "error", "error": error})
        case _:
            _check_failed_response(played, text, message)


def _check_failed_response(played: Played, text: str, message: str) -> None:
    values = played.stream.json()
    assert [value["sequence_number"] for value in values] == list(range(len(values)))
    assert (played.stream.events[-1].name, values[-1]["type"]) == ("response.failed", "response.failed")
    response = values[-1]["response"]
    assert response["id"] == values[0]["response"]["id"]
    assert (response["object"], response["status"]) == ("response", "failed")
    assert response["error"] == {"code": "server_error", "message": message}
    said = [part["text"] for item in response["output"] for part in item["content"]]
    assert "".join(said) == text


@every_cross_pair
@pytest.mark.parametrize("end", [EOF, CUT, TRUNCATE], ids=lambda end: end.value)
async def test_b062_b095_b098_s008_a_cut_stream_is_told(crossing: Stage, pair: Pair, end: End) -> None:
    """After every delta, also inside an event; the other channel is left alone."""

    async def after(count: int, half: bytes = b"") -> None:
        script = pair.channel.script(pieces=("a", "b", "c"))
        steps: list[Step] = [*script.opening, *script.deltas[:count], half, end]
        played = await crossing.play(pair.client, stream(steps), channel=pair.channel, b=[])
        _check_interrupted(played, "abc"[:count])
        assert played.at_b == []
        row = await played.row()
        assert (row["status"], row["outcome"]) == (200, "interrupted")
        assert row["output_tokens"] > 0

    half = pair.channel.script().deltas[0][:30]
    scenarios = {f"{count} deltas": after(count) for count in (1, 2, 3)}
    scenarios["half an event"] = after(1, half)
    await together(scenarios)


@clients_of_chat
async def test_b062_done_without_a_finish_reason(crossing: Stage, client: Side) -> None:
    steps = [n.k({"role": "assistant", "content": "a"}), n.DONE]
    played = (await cross(crossing, Pair(client, CHAT), steps)).played
    _check_interrupted(played, "a")
    assert (await played.row())["outcome"] == "interrupted"


@pytest.mark.parametrize("end", [EOF, CUT, TRUNCATE, HOLD], ids=lambda end: end.value)
async def test_b062_b192_after_the_finish_the_answer_is_whole(crossing: Stage, end: End) -> None:
    """Whatever comes then: the end, a cut, or nothing for five seconds."""

    async def finished(client: Side, *, usage: bool) -> None:
        script = CHAT.script()
        closing = script.closing[:2] if usage else script.closing[:1]
        answer = stream(script.opening, script.deltas, closing, end)
        played = await crossing.play(client, answer, channel=CHAT)
        heard = Crossed(played, {}).heard
        assert (heard.text, heard.finish) == ("Hello", finish(client, "stop"))
        assert played.reply.arrivals[-1][0] < 20
        assert heard.counts is not None
        assert heard.counts.output > 0
        row = await played.row()
        assert (row["outcome"], row["usage_source"]) == ("completed", "upstream" if usage else "estimated")

    await together(
        {
            f"{client.name}, usage {usage}": finished(client, usage=usage)
            for client in (MESSAGES, RESPONSES)
            for usage in (True, False)
        }
    )


async def test_b095_silence_after_output_is_a_time_out(crossing: Stage) -> None:
    """Comments and pings are no sign of life."""

    async def silent(pair: Pair, noise: bytes) -> None:
        script = pair.channel.script()
        steps: list[Step] = [*script.opening, script.deltas[0]]
        for _ in range(80):
            steps += [noise, Pause(0.1)]
        answer = stream(steps, HOLD)
        played = await crossing.play(pair.client, answer, channel=pair.channel, kind="qab", b=[])
        _check_interrupted(played, "Hel", TIMED_OUT)
        assert 1.3 < played.reply.arrivals[-1][0] < 7
        assert played.at_b == []
        await played.at_a[0].closed(within=20)

    scenarios = {pair.name: silent(pair, b": still here\n\n") for pair in CROSS}
    scenarios |= {f"{pair.name}, pings": silent(pair, n.ping) for pair in over(MESSAGES)}
    await together(scenarios)


@every_cross_pair
async def test_b096_a_broken_event_in_mid_answer_is_a_failure(crossing: Stage, pair: Pair) -> None:
    script = pair.channel.script(pieces=("a", "b"))
    whole = script.deltas[1]
    broken = whole[: whole.index(b"data: ") + 20] + b"\n\n"
    steps = [*script.opening, script.deltas[0], broken, script.deltas[1], *script.closing]
    played = await crossing.play(pair.client, stream(steps), channel=pair.channel, b=[])
    assert played.text == "a"
    assert pair.client.error_of(played.stream.events[-1])
    assert not any(pair.client.is_end(event) for event in played.stream.events)
    assert played.at_b == []
    assert (await played.row())["outcome"] == "interrupted"


@every_cross_pair
@pytest.mark.parametrize("end", [HOLD, CUT], ids=lambda end: end.value)
async def test_the_end_mark_ends_the_stream_whatever_comes_then(
    crossing: Stage, pair: Pair, end: End
) -> None:
    more: Sequence[bytes] = [pair.channel.error_event(), *pair.channel.script().all]
    answer = stream(pair.channel.script().all, more, end)
    played = await crossing.play(pair.client, answer, channel=pair.channel)
    assert Crossed(played, {}).heard.text == "Hello"
    assert played.reply.arrivals[-1][0] < 3.8
    assert (await played.row())["outcome"] == "completed"
