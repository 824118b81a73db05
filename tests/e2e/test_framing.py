"""Bytes and framing on the same-protocol pairs: what comes in as an event goes out as that event."""

import asyncio
import json

import pytest
from tests.harness import notation as n
from tests.harness import sse
from tests.harness.dialects import CACHED, CHAT, FRESH, MESSAGES, OUTPUT, RESPONSES, SIDES, Side
from tests.harness.invariants import check_stream
from tests.harness.script import CLOSE, EOF, HOLD, Answer, Framing, Gate, Pause, body, pieces, stream
from tests.harness.stage import Stage
from tests.harness.together import all_sides_at_once, together

every_side = pytest.mark.parametrize("side", SIDES, ids=lambda side: side.name)
TEXT = "北京 😀"


@every_side
async def test_a_clean_stream_keeps_every_byte(stage: Stage, side: Side) -> None:
    model = stage.model(side)
    script = side.script(model)
    played = await stage.play(side, stream(script.all), model=model)
    assert played.reply.said == script.bytes()
    check_stream(side, played.stream)


@every_side
async def test_odd_but_valid_json_keeps_every_byte(stage: Stage, side: Side) -> None:
    model = stage.model(side)
    script = side.script(model)
    odd = [
        event.replace(b'"', b' "', 1).replace(b"}\n\n", b' , "x_vendor" : [1.0e+2, 0.10, "\\u00e9\\/"] }\n\n')
        for event in script.deltas
    ]
    sent = b"".join([*script.opening, *odd, *script.closing])
    played = await stage.play(side, stream(script.opening, odd, script.closing), model=model)
    assert played.reply.said == sent


@every_side
async def test_the_model_name_is_the_callers_and_nothing_else_changes(stage: Stage, side: Side) -> None:
    script = side.script("up", ('the word "up" and "model":"up"', "!"))
    played = await stage.play(side, stream(script.all))
    for event, original in zip(played.stream.events, sse.read(script.bytes()).events, strict=True):
        if event.data == "[DONE]":
            continue
        got, wanted = event.json(), original.json()
        for holder in (wanted, wanted.get("message"), wanted.get("response")):
            if isinstance(holder, dict) and "model" in holder:
                holder["model"] = played.model
        assert got == wanted
        assert event.raw == original.raw or _renamed(original.raw, played.model) == event.raw


def _renamed(raw: bytes, model: str) -> bytes:
    return raw.replace(b'"model":"up"', b'"model":"%b"' % model.encode(), 1)


@every_side
async def test_b001_characters_split_over_two_reads_at_every_byte(stage: Stage, side: Side) -> None:
    async def cut_at(offset: int) -> None:
        model = stage.model(side)
        script = side.script(model, (TEXT, "."))
        event = script.deltas[0]
        at = event.index(TEXT.encode()) + offset
        halves = event[:at], Pause(0.02), event[at:]
        steps = stream(script.opening, *halves, script.deltas[1:], script.closing)
        played = await stage.play(side, steps, model=model)
        assert played.text == TEXT + "."
        assert played.reply.said == script.bytes()

    await together({f"cut at {offset}": cut_at(offset) for offset in range(len(TEXT.encode()) + 1)})


@every_side
async def test_any_chunking_gives_the_same_bytes(stage: Stage, side: Side) -> None:
    async def in_writes_of(size: int) -> None:
        model = stage.model(side)
        script = side.script(model, (TEXT, "and more"))
        answer = Answer(pieces(script.bytes(), size), gap=0.001 if size > 3 else 0.0)
        played = await stage.play(side, answer, model=model)
        assert played.reply.said == script.bytes()

    await together({f"{size} bytes a write": in_writes_of(size) for size in (1, 2, 3, 7, 64, 1000, 10**6)})


@every_side
async def test_b002_crlf_split_between_cr_and_lf(stage: Stage, side: Side) -> None:
    model = stage.model(side)
    script = side.script(model, ("a", "b"))
    opening, deltas, closing = (
        [event.replace(b"\n", b"\r\n") for event in part]
        for part in (script.opening, script.deltas, script.closing)
    )
    gate = Gate()
    steps = stream(opening, deltas[0][:-1], gate, b"\n", Pause(0.02), deltas[1], closing)
    stage.script(side, model, [steps])
    async with stage.gateway.open(side, side.request(model)) as reply:
        await reply.until(deltas[0][:-1])
        gate.open()
        await reply.finish()
    assert reply.said == b"".join([*opening, deltas[0][:-1], deltas[1], *closing])
    row = await stage.gateway.row(model)
    assert (row["input_tokens"], row["cache_read_tokens"], row["output_tokens"]) == (FRESH, CACHED, OUTPUT)


@every_side
@pytest.mark.parametrize("end", [b"\r\n", b"\r"], ids=["crlf", "cr"])
async def test_b002_other_line_ends_pass_and_are_read(stage: Stage, side: Side, end: bytes) -> None:
    model = stage.model(side)
    script = side.script(model)
    sent = script.bytes().replace(b"\n", end)
    played = await stage.play(side, stream([sent]), model=model)
    assert played.reply.said == sent
    row = await played.row()
    assert (row["outcome"], row["output_tokens"]) == ("completed", OUTPUT)


@every_side
async def test_b003_fields_without_the_optional_space(stage: Stage, side: Side) -> None:
    model = stage.model(side)
    script = side.script(model)
    sent = script.bytes().replace(b"data: ", b"data:").replace(b"event: ", b"event:")
    played = await stage.play(side, stream([sent]), model=model)
    assert played.reply.said == sent
    row = await played.row()
    assert (row["outcome"], row["output_tokens"]) == ("completed", OUTPUT)


@every_side
async def test_b005_data_on_several_lines_is_one_event(stage: Stage, side: Side) -> None:
    model = stage.model(side)
    script = side.script(model)
    split = [event.replace(b',"', b',\ndata: "', 1) for event in script.deltas]
    sent = b"".join([*script.opening, *split, *script.closing])
    played = await stage.play(side, stream([sent]), model=model)
    assert played.reply.said == sent
    assert played.text == "Hello"


@every_side
async def test_b006_b008_what_breaks_clients_is_dropped(stage: Stage, side: Side) -> None:
    model = stage.model(side)
    script = side.script(model)
    noise = [b": OPENROUTER PROCESSING\n\n"] * 3 + [b"retry: 3000\n\n", b"event: keepalive\n\n", b"id: 9\n\n"]
    inside = [b": x\n" + script.deltas[0], script.deltas[1][:-1] + b": y\nretry: 10\n\n"]
    steps = stream(noise, script.opening, noise, inside, noise, script.closing, noise)
    played = await stage.play(side, steps, model=model)
    assert played.reply.said == script.bytes()


@all_sides_at_once
async def test_b006_comments_are_no_first_token_and_do_not_commit(stage: Stage, side: Side) -> None:
    comments = [b": PROCESSING\n\n"] * 3

    async def then_the_end() -> None:
        played = await stage.play(side, stream(comments, EOF), b=[stream(side.script().all)])
        assert played.text == "Hello"
        row = await played.row()
        assert [attempt["outcome"] for attempt in row["attempts"]] == ["failed", "served"]

    async def then_more_of_them() -> None:
        steps = stream([step for _ in range(20) for step in (comments[0], Pause(0.1))], HOLD)
        played = await stage.play(side, steps, b=[stream(side.script().all)], kind="qab")
        assert played.text == "Hello"
        assert len(played.at_b) == 1

    async def then_the_answer() -> None:
        script = side.script()
        played = await stage.play(side, stream(comments, Pause(0.4), script.all))
        assert (await played.row())["first_token_ms"] >= 300

    await together({"end": then_the_end(), "comments": then_more_of_them(), "answer": then_the_answer()})


@all_sides_at_once
async def test_b009_a_keepalive_never_lands_inside_an_event(stage: Stage, side: Side) -> None:
    async def before_the_first_word() -> None:
        model = stage.model(side)
        script = side.script(model)
        half = script.deltas[0][:20]
        rest = [script.deltas[0][20:], *script.deltas[1:], *script.closing]
        played = await stage.play(side, stream(script.opening, half, Pause(2.6), rest), model=model)
        assert len(played.stream.keepalives) >= 2
        assert set(played.stream.keepalives) == {0}
        assert played.text == "Hello"

    async def in_mid_stream() -> None:
        model = stage.model(side)
        script = side.script(model)
        first, second = script.deltas
        steps = stream(script.opening, first + second[:20], Pause(2.6), second[20:], script.closing)
        played = await stage.play(side, steps, model=model)
        assert len(played.stream.keepalives) >= 2
        assert set(played.stream.keepalives) == {len(script.opening) + 1}
        assert played.stream.bytes() == script.bytes()

    await together({"before": before_the_first_word(), "within": in_mid_stream()})


@every_side
@pytest.mark.parametrize("label", ["application/json", "text/plain", None])
async def test_b012_a_wrongly_labelled_stream_is_known_by_its_content(
    stage: Stage, side: Side, label: str | None
) -> None:
    headers = () if label is None else (("content-type", label),)

    async def begins_with(first: list[bytes], *, streamed: bool) -> None:
        model = stage.model(side)
        script = side.script(model)
        whole = script.bytes()
        steps: list[bytes | Pause] = []
        for part in [*first, whole[:2], whole[2:]]:
            steps += [part, Pause(0.02)]
        answer = Answer(steps, headers=headers)
        played = await stage.play(side, answer, model=model, stream=streamed)
        if streamed:
            assert played.reply.said == whole
        else:
            assert played.reply.status == 200, played.reply.body
            assert side.whole_text(played.reply.json()) == "Hello"
        row = await played.row()
        assert (row["outcome"], row["output_tokens"]) == ("completed", OUTPUT)

    starts = {"at once": [], "blank lines": [b"\n\n"], "a comment": [b": pi", b"ng\n\n"]}
    await together(
        {
            f"{what}, stream {streamed}": begins_with(first, streamed=streamed)
            for what, first in starts.items()
            for streamed in (True, False)
        }
    )


@every_side
async def test_b013_a_whole_answer_where_a_stream_was_asked(stage: Stage, side: Side) -> None:
    content = json.dumps(side.whole("up", "ok")).encode()
    answer = Answer([content], headers=[("content-type", "application/json")], framing=Framing.LENGTH)
    played = await stage.play(side, answer)
    check_stream(side, played.stream)
    assert played.text == "ok"
    row = await played.row()
    assert (row["outcome"], row["input_tokens"], row["output_tokens"]) == ("completed", FRESH, OUTPUT)


@every_side
async def test_c044_frames_that_break_sdks_come_out_clean(stage: Stage, side: Side) -> None:
    async def mended(model: str, steps: list[bytes], expected: bytes) -> None:
        played = await stage.play(side, stream(steps, CLOSE), model=model)
        assert played.reply.said == expected
        assert (await played.row())["outcome"] == "completed"

    scenarios = {}
    for what in (
        "bom",
        "bom in pieces",
        "names",
        "utf-8",
        "no blank line",
        "no line end",
        "done",
        "named done",
    ):
        model = stage.model(side)
        script = side.script(model)
        steps, expected = _fault(side, what, script.all)
        scenarios[what] = mended(model, steps, expected)
    await together(scenarios)


def _fault(side: Side, what: str, events: list[bytes]) -> tuple[list[bytes], bytes]:
    """The faulty writes, and the bytes that must come out."""
    clean = b"".join(events)
    match what:
        case "bom":
            return [b"\xef\xbb\xbf", *events], clean
        case "bom in pieces":
            return [b"\xef", b"\xbb", b"\xbf" + events[0], *events[1:]], clean
        case "names" if side.name == "chat":
            return [b"event: message\n" + event for event in events], clean
        case "names":
            return [event.split(b"\n", 1)[1] for event in events], clean
        case "utf-8":
            return [clean.replace(b"Hel", b"H\xffl")], clean.replace(b"Hel", "H\ufffdl".encode())
        case "no blank line":
            return [clean[:-1]], clean
        case "no line end":
            return [clean[:-2]], clean
        case "done" if side.name != "chat":
            return [clean, n.DONE], clean
        case "named done" if side.name != "chat":
            return [clean, b"event: done\n" + n.DONE], clean
        case _:
            return [clean], clean


@every_side
async def test_c044_malformed_characters_in_a_whole_answer(stage: Stage, side: Side) -> None:
    content = json.dumps(side.whole(text="Hel.")).encode().replace(b"Hel.", b"Hel\xe5\x8c")
    whole = await stage.play(side, body(content), stream=False)
    assert side.whole_text(whole.reply.json()) == "Hel\ufffd"
    assert (await stage.play(side, body(content))).text == "Hel\ufffd"


@every_side
async def test_c044_only_the_faulty_event_is_re_framed(stage: Stage, side: Side) -> None:
    model = stage.model(side)
    script = side.script(model)
    odd = script.deltas[0].replace(b"}\n\n", b' , "x" : 1.50 }\n\n')
    faulty = b": note\n" + script.deltas[1].replace(b"}\n\n", b' , "x" : 2.50 }\n\n')
    steps = stream(script.opening, odd, faulty, script.closing)
    played = await stage.play(side, steps, model=model)
    expected = [*script.opening, odd, faulty.removeprefix(b": note\n"), *script.closing]
    assert played.reply.said == b"".join(expected)


@pytest.mark.parametrize("side", [RESPONSES, MESSAGES, CHAT], ids=lambda side: side.name)
async def test_s011_id_lines_stay_with_their_events(stage: Stage, side: Side) -> None:
    model = stage.model(side)
    events = [b"id: %d\n%b" % (number, event) for number, event in enumerate(side.script(model).all)]
    played = await stage.play(side, stream(events), model=model)
    assert played.reply.said == b"".join(events)


@all_sides_at_once
async def test_b188_each_event_is_flushed_as_it_was_written(stage: Stage, side: Side) -> None:
    model = stage.model(side)
    script = side.script(model, tuple("abcdef"))
    gates = [Gate() for _ in script.deltas]
    told = [step for pair in zip(script.deltas, gates, strict=True) for step in pair]
    stage.script(side, model, [stream(script.opening, told, script.closing)])
    async with stage.gateway.open(side, side.request(model)) as reply:
        for delta, gate in zip(script.deltas, gates, strict=True):
            await reply.until(delta)
            gate.open()  # the upstream says no more before
        await reply.finish()
    assert reply.said == script.bytes()
    assert reply.header("content-length") is None
    assert reply.header("x-accel-buffering") == "no"
    assert reply.header("cache-control") == "no-cache, no-transform"
    assert reply.header("content-type") == "text/event-stream; charset=utf-8"


async def test_streams_do_not_mix(stage: Stage) -> None:
    """Many streams at once, each with a text of its own, each whole."""

    async def one(side: Side, number: int) -> None:
        model = stage.model(side)
        script = side.script(model, tuple(f"<{number}:{piece}>" for piece in range(20)))
        steps = [step for event in script.all for step in (event, Pause(0.005))]
        played = await stage.play(side, stream(steps), model=model)
        assert played.reply.said == script.bytes()

    async with asyncio.timeout(90):
        await together({f"{side.name} {number}": one(side, number) for side in SIDES for number in range(20)})
