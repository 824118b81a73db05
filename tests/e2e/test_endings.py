"""How streams end well or badly: end marks, finish reasons, what is told when the end mark is missing."""

import json
from collections.abc import Sequence

import pytest
from tests.harness import notation as n
from tests.harness.dialects import CHAT, MESSAGES, RESPONSES, SIDES, TIMED_OUT, Side
from tests.harness.invariants import check_stream
from tests.harness.script import CUT, EOF, HOLD, TRUNCATE, End, Pause, Step, body, stream
from tests.harness.sse import Event
from tests.harness.stage import Played, Stage
from tests.harness.together import all_sides_at_once, together

every_side = pytest.mark.parametrize("side", SIDES, ids=lambda side: side.name)


async def _interrupted(
    stage: Stage, side: Side, model: str, steps: Sequence[Step], sent: bytes, message: str | None = None
) -> Played:
    """After output, the failure is told with one error event behind the whole events, and B is not asked."""
    played = await stage.play(side, stream(steps), b=[], model=model)
    last = played.stream.events[-1]
    assert played.stream.bytes() == sent + last.raw
    side.check_interrupted(played.stream, *([message] if message else []))
    assert played.at_b == []
    row = await played.row()
    assert (row["status"], row["outcome"]) == (200, "interrupted")
    assert [attempt["outcome"] for attempt in row["attempts"]] == ["failed"]
    return played


@every_side
@pytest.mark.parametrize("end", [EOF, CUT, TRUNCATE], ids=lambda end: end.value)
async def test_b062_b095_s008_a_stream_without_its_end_mark_is_a_failure(
    stage: Stage, side: Side, end: End
) -> None:
    """At every place after the first word, also inside an event: what was whole goes out, then the error."""

    async def after(count: int, half: bytes = b"") -> None:
        model = stage.model(side, "ab")
        events = side.script(model, ("a", "b", "c")).all[:count]
        steps: list[Step] = [*events, half, end] if half else [*events, end]
        await _interrupted(stage, side, model, steps, b"".join(events))

    script = side.script()
    first = len(script.opening) + 1
    unfinished = len(script.opening) + 3 + _harmless_closing(side)
    scenarios = {f"{count} events": after(count) for count in range(first, unfinished + 1)}
    scenarios["half an event"] = after(first, script.deltas[0][:30])
    scenarios["half a field name"] = after(first, b"da")
    await together(scenarios)


def _harmless_closing(side: Side) -> int:
    """How many events of the closing part may be there without the answer being whole."""
    return 0 if side.name == "chat" else len(side.script().closing) - 1


async def test_b062_done_without_a_finish_reason_is_a_failure(stage: Stage) -> None:
    model = stage.model(CHAT, "ab")
    script = CHAT.script(model)
    events = [*script.opening, *script.deltas]
    await _interrupted(stage, CHAT, model, [*events, n.DONE], b"".join(events))


@pytest.mark.parametrize("end", [EOF, CUT, TRUNCATE, HOLD], ids=lambda end: end.value)
async def test_b062_b192_after_the_finish_a_missing_end_mark_is_supplied(stage: Stage, end: End) -> None:
    """Also when the upstream leaves the connection open: after 5 s at most."""

    async def finished(*, usage: bool) -> None:
        model = stage.model(CHAT)
        script = CHAT.script(model)
        closing = script.closing[:2] if usage else script.closing[:1]
        played = await stage.play(CHAT, stream(script.opening, script.deltas, closing, end), model=model)
        check_stream(CHAT, played.stream)
        sent = b"".join([*script.opening, *script.deltas, *closing])
        assert played.stream.bytes().startswith(sent)
        assert played.text == "Hello"
        assert sum(bool(value.get("usage")) for value in played.stream.json()) == 1
        assert played.reply.arrivals[-1][0] < 20
        row = await played.row()
        source = "upstream" if usage else "estimated"
        assert (row["outcome"], row["finish_reason"], row["usage_source"]) == ("completed", "stop", source)

    await together({"with usage": finished(usage=True), "without": finished(usage=False)})


@every_side
@pytest.mark.parametrize("end", [HOLD, CUT, TRUNCATE], ids=lambda end: end.value)
async def test_the_stream_ends_with_the_end_mark_whatever_the_upstream_does_then(
    stage: Stage, side: Side, end: End
) -> None:
    model = stage.model(side)
    script = side.script(model)
    played = await stage.play(side, stream(script.all, end), model=model)
    assert played.reply.body == script.bytes()
    assert played.stream.events
    assert played.reply.arrivals[-1][0] < 3.8
    assert (await played.row())["outcome"] == "completed"


@every_side
async def test_nothing_follows_the_end_mark(stage: Stage, side: Side) -> None:
    """An upstream that answers twice, or talks on, is cut short."""
    model = stage.model(side)
    script = side.script(model)
    again = [*script.all, side.error_event(), b": bye\n\n"]

    async def in_one_write() -> None:
        played = await stage.play(side, stream([b"".join([*script.all, *again])]), model=model)
        assert played.reply.body == script.bytes()

    async def later() -> None:
        other = stage.model(side)
        mine = side.script(other)
        steps = stream(mine.all, Pause(0.05), again)
        played = await stage.play(side, steps, model=other)
        assert played.reply.body == mine.bytes()

    await together({"one write": in_one_write(), "later": later()})


@all_sides_at_once
async def test_b095_silence_after_output_is_a_time_out(stage: Stage, side: Side) -> None:
    async def silent(noise: list[bytes]) -> None:
        model = stage.model(side, "qab")
        script = side.script(model)
        events = [*script.opening, script.deltas[0]]
        steps: list[Step] = [*events]
        for _ in range(80 if noise else 0):
            steps += [*noise, Pause(0.1)]
        stage.script(side, model, [stream(steps, HOLD)], [])
        reply = await stage.gateway.call(side, side.request(model))
        played = Played(stage, side, model, reply)
        side.check_interrupted(played.stream, TIMED_OUT)
        assert 1.3 < played.reply.arrivals[-1][0] < 7
        assert played.at_b == []
        await played.at_a[0].closed(within=20)
        row = await played.row()
        assert (row["outcome"], row["status"]) == ("interrupted", 200)

    scenarios = {"silence": silent([]), "comments": silent([b": still here\n\n"])}
    if side.name == "messages":
        scenarios["pings"] = silent([n.ping])
    await together(scenarios)


@every_side
async def test_b096_a_broken_event_in_mid_answer_is_a_failure(stage: Stage, side: Side) -> None:
    async def broken_by(garbage: bytes) -> None:
        model = stage.model(side, "ab")
        script = side.script(model, ("a", "b"))
        good = [*script.opening, script.deltas[0]]
        steps = [*good, garbage, script.deltas[1], *script.closing]
        await _interrupted(stage, side, model, steps, b"".join(good))

    cut = side.script().deltas[0][:60].rstrip(b"\n") + b"\n\n"
    await together(
        {
            "cut": broken_by(cut),
            "no JSON": broken_by(b"data: <html>\n\n"),
            "not an object": broken_by(b"data: 17\n\n"),
        }
    )


def _errors(side: Side) -> dict[str, list[bytes]]:
    """Error events as providers send them after output, with what may follow."""
    match side.name:
        case "chat":
            plain = n.data({"error": {"message": "boom", "type": "server_error", "code": 500}})
            chunk = n.chunk([{"index": 0, "delta": {"content": ""}, "finish_reason": "error"}])
            return {
                "object": [plain],
                "then DONE": [plain, n.DONE],
                "text": [n.data({"error": "boom"})],
                "in a chunk": [n.data({**chunk, "error": {"message": "boom", "code": 502}}), n.DONE],
                "named": [b"event: error\n" + plain],
            }
        case "responses":
            failed = n.response("failed", error={"code": "rate_limit_exceeded", "message": "boom"})
            flat = {"code": "server_error", "message": "boom", "param": None}
            nested = {"error": {"type": "server_error", "code": None, "message": "boom", "param": None}}
            return {
                "failed": n.r(("response.failed", failed), start=5),
                "flat": n.r(("error", flat), start=5),
                "nested": n.r(("error", nested), start=5),
            }
        case _:
            error = n.aerr("overloaded_error", "boom")
            return {"error": [error], "unnamed": [error.split(b"\n", 1)[1]], "then an end": [error, n.me]}


@every_side
async def test_b041_b090_b091_an_error_event_of_the_upstream_is_told_and_ends_the_stream(
    stage: Stage, side: Side
) -> None:
    async def told(error: list[bytes]) -> None:
        model = stage.model(side, "ab")
        script = side.script(model)
        events = [*script.opening, script.deltas[0]]
        played = await stage.play(side, stream(events, error), b=[], model=model)
        assert played.stream.bytes().startswith(b"".join(events))
        told = played.stream.events[-1]
        assert len(played.stream.events) == len(events) + 1
        _check_told(side, told, "boom")
        assert played.at_b == []
        row = await played.row()
        assert (row["outcome"], row["status"]) == ("interrupted", 200)
        assert "boom" in json.dumps(row)

    await together({what: told(error) for what, error in _errors(side).items()})


def _check_told(side: Side, event: Event, message: str) -> None:
    if side.name == "chat":
        assert event.name is None
        assert message in json.dumps(event.json()["error"])
        return
    assert event.name == event.json()["type"]
    error = side.error_of(event)
    assert error is not None
    assert message in json.dumps(error)


async def test_b090_overloaded_in_mid_stream_keeps_its_type_and_bytes(stage: Stage) -> None:
    model = stage.model(MESSAGES)
    script = MESSAGES.script(model)
    error = n.aerr("overloaded_error", "Overloaded")
    sent = [*script.opening, script.deltas[0], error]
    played = await stage.play(MESSAGES, stream(sent), model=model)
    assert played.reply.body == b"".join(sent)


@every_side
async def test_b183_an_error_event_is_cleaned_of_keys_and_hosts(stage: Stage, side: Side) -> None:
    message = f"key sk-upstream-{side.tag}-credential-77 refused at {stage.upstream.base('x')}/v1/y, retry"
    model = stage.model(side)
    script = side.script(model)
    played = await stage.play(
        side, stream(script.opening, script.deltas, side.error_event(message)), model=model
    )
    text = played.reply.body.decode()
    assert "credential-77" not in text
    assert str(stage.upstream.port) not in text
    assert "retry" in json.dumps(side.error_of(played.stream.events[-1]))


async def test_b148_every_choice_must_finish(stage: Stage) -> None:
    def both(model: str) -> list[bytes]:
        return [
            n.k({"role": "assistant", "content": ""}, index=0, model=model),
            n.k({"role": "assistant", "content": ""}, index=1, model=model),
            n.k({"content": "x"}, index=1, model=model),
            n.k({"content": "y"}, index=0, model=model),
            n.k({}, "stop", index=1, model=model),
        ]

    async def finished() -> None:
        model = stage.model(CHAT)
        events = [*both(model), n.k({}, "length", index=0, model=model), n.DONE]
        played = await stage.play(
            CHAT, stream(events), model=model, members={"n": 2, "stream_options": None, "seed": 7}
        )
        assert played.reply.body == b"".join(events)
        assert (played.at_a[0].json()["n"], played.at_a[0].json()["seed"]) == (2, 7)

    async def one_open(seen: int) -> None:
        model = stage.model(CHAT, "ab")
        events = both(model) if seen == 2 else [both(model)[1], both(model)[2], both(model)[4]]
        played = await stage.play(CHAT, stream(events, n.DONE), b=[], model=model, members={"n": 2})
        CHAT.check_interrupted(played.stream)
        assert played.stream.bytes().startswith(b"".join(events))

    await together({"both": finished(), "one of two": one_open(2), "one never seen": one_open(1)})


def _endings() -> list[tuple[Side, str, bytes, str]]:
    chat = [
        (CHAT, reason, n.k({}, reason), "incomplete" if reason == "length" else "completed")
        for reason in ("stop", "length", "tool_calls", "content_filter", "function_call")
    ]
    reasons = ("end_turn", "max_tokens", "stop_sequence", "tool_use", "pause_turn", "refusal")
    messages = [
        (MESSAGES, reason, n.md(reason), "incomplete" if reason == "max_tokens" else "completed")
        for reason in reasons
    ]
    return [*chat, *messages]


@pytest.mark.parametrize(
    ("side", "reason", "event", "outcome"),
    _endings(),
    ids=lambda value: str(getattr(value, "name", value))[:20],
)
async def test_b060_finish_reasons_pass_and_are_recorded(
    stage: Stage, side: Side, reason: str, event: bytes, outcome: str
) -> None:
    script = side.script()
    closing = [event, n.DONE] if side.name == "chat" else [n.be(0), event, n.me]
    played = await stage.play(side, stream(script.opening, script.deltas, closing))
    assert reason.encode() in played.reply.body
    row = await played.row()
    assert (row["finish_reason"], row["outcome"]) == (reason, outcome)


async def test_an_incomplete_response_is_a_normal_end(stage: Stage) -> None:
    script = RESPONSES.script()
    output = [n.message_item("Hello", "completed")]
    final = n.response("incomplete", output=output, incomplete_details={"reason": "max_output_tokens"})
    number = len(script.all) - 1
    end = n.r(("response.incomplete", final), start=number)
    played = await stage.play(RESPONSES, stream(script.all[:-1], end))
    check_stream(RESPONSES, played.stream)
    assert played.stream.events[-1].name == "response.incomplete"
    assert (await played.row())["outcome"] == "incomplete"


async def test_b032_b055_tool_calls_of_chat_pass_as_they_are(stage: Stage) -> None:
    async def passes(model: str, *events: bytes, reason: str) -> None:
        opening = n.k({"role": "assistant", "content": None}, model=model)
        sent = [opening, *events, n.u({"prompt_tokens": 1, "completion_tokens": 1}, model), n.DONE]
        played = await stage.play(CHAT, stream(sent), model=model)
        assert played.reply.body == b"".join(sent)
        assert (await played.row())["finish_reason"] == reason

    one, two, three = (stage.model(CHAT) for _ in range(3))
    await together(
        {
            "cut arguments": passes(
                one,
                n.k(n.t(0, "a", "f", '{"cmd":"ls'), model=one),
                n.k({}, "length", model=one),
                reason="length",
            ),
            "stop with calls": passes(
                two, n.k(n.t(0, "a", "f", "{}"), model=two), n.k({}, "stop", model=two), reason="stop"
            ),
            "interleaved": passes(
                three,
                n.k(n.t(0, "a", "f", ""), model=three),
                n.k(n.t(1, "b", "g", ""), model=three),
                n.k(n.t(0, None, None, "{}"), model=three),
                n.k(n.t(1, None, None, "{}"), model=three),
                n.k({}, "tool_calls", model=three),
                reason="tool_calls",
            ),
        }
    )


async def test_b036_a_finish_without_any_content_is_an_answer(stage: Stage) -> None:
    model = stage.model(CHAT)
    sent = [n.k({"role": "assistant"}, model=model), n.k({}, "stop", model=model), n.DONE]
    played = await stage.play(CHAT, stream(sent), model=model, members={"stream_options": None})
    assert played.reply.body == b"".join(sent)
    assert (await played.row())["outcome"] == "completed"


@every_side
async def test_a_whole_answer_passes_with_only_its_model_changed(stage: Stage, side: Side) -> None:
    whole = {**side.whole("up"), "vendor_x": [1.50, None]}
    played = await stage.play(side, body(json.dumps(whole).encode()), stream=False)
    assert played.reply.status == 200
    assert played.reply.json() == {**whole, "model": played.model}
    assert (played.reply.header("content-type") or "").startswith("application/json")
    row = await played.row()
    assert (row["outcome"], row["stream"], row["usage_source"]) == ("completed", False, "upstream")
