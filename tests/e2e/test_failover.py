"""Before the first useful event another channel takes over unseen; after it the channel never changes."""

import json

import pytest
from tests.harness import notation as n
from tests.harness.dialects import (
    CHAT,
    MESSAGES,
    OVERLOADED,
    RATE_LIMIT,
    RESPONSES,
    SIDES,
    UPSTREAM,
    Refusal,
    Side,
    check_refusal,
)
from tests.harness.invariants import check_stream
from tests.harness.script import (
    CLOSE,
    CUT,
    EOF,
    HOLD,
    TRUNCATE,
    Answer,
    End,
    Framing,
    Pause,
    Step,
    body,
    raw,
    silence,
    stream,
)
from tests.harness.stage import Played, Stage
from tests.harness.together import all_sides_at_once, together

every_side = pytest.mark.parametrize("side", SIDES, ids=lambda side: side.name)
HTML = (("content-type", "text/html"),)


async def _taken_over(stage: Stage, side: Side, *failing: Answer, kind: str = "ab") -> Played:
    """A fails, B answers: the caller sees B's stream alone, byte for byte."""
    model = stage.model(side, kind)
    script = side.script(model, ("from", " B"))
    played = await stage.play(side, *failing, b=[stream(script.all)], model=model)
    assert played.stream.bytes() == script.bytes()
    check_stream(side, played.stream)
    assert len(played.at_b) == 1
    row = await played.row()
    assert (row["outcome"], row["channel"]) == ("completed", f"{side.tag}-B")
    attempts = [(attempt["channel"], attempt["outcome"]) for attempt in row["attempts"]]
    assert attempts == [(f"{side.tag}-A", "failed"), (f"{side.tag}-B", "served")]
    assert row["attempts"][0]["error"]
    return played


def _no_answer(side: Side) -> dict[str, Answer]:
    """Everything that is neither the promised stream nor a whole answer of the protocol."""
    wrong = next(other for other in SIDES if other is not side)
    return {
        "reset at once": raw(CUT),
        "closed at once": raw(CLOSE),
        "reset after the head": stream(CUT),
        "no stream": stream(EOF),
        "no stream, no length": Answer((), framing=Framing.UNTIL_CLOSE),
        "only comments": stream(b": a\n\n", b": b\n\n"),
        "only DONE": stream(n.DONE),
        "HTML": body(b"<html><body>Bad gateway</body></html>", 200, HTML),
        "HTML said to be a stream": stream(b"<html>\n\n<body>\n\n"),
        "an empty object": body(b"{}"),
        "an error object": body(json.dumps(side.error_body("boom", "server_error")).encode()),
        "another protocol": body(json.dumps(wrong.whole()).encode()),
        "cut JSON": body(json.dumps(side.whole()).encode()[:60]),
        "no HTTP": raw(b"SSH-2.0-OpenSSH_9.2\r\n\r\n", CLOSE),
        "a broken event": stream(b"data: {nope\n\n", side.script().all),
    }


@every_side
async def test_b013_b015_b102_an_attempt_without_an_answer_moves_on(stage: Stage, side: Side) -> None:
    await together({what: _taken_over(stage, side, answer) for what, answer in _no_answer(side).items()})


@every_side
async def test_b015_without_another_channel_it_is_a_502(stage: Stage, side: Side) -> None:
    async def refused(answer: Answer) -> None:
        played = await stage.play(side, answer)
        check_refusal(side, played.reply, UPSTREAM)
        row = await played.row()
        assert (row["outcome"], row["status"], row["output_tokens"]) == ("failed", 502, 0)

    await together({what: refused(answer) for what, answer in _no_answer(side).items()})


@every_side
async def test_every_status_that_is_the_channels_moves_on(stage: Stage, side: Side) -> None:
    statuses = (301, 302, 401, 402, 403, 408, 409, 418, 425, 429, 451, 500, 502, 503, 504, 520, 529)
    content = json.dumps(side.error_body("no", "some_error")).encode()
    scenarios = {str(status): _taken_over(stage, side, body(content, status)) for status in statuses}
    scenarios["404 of the model"] = _taken_over(stage, side, body(_no_model(side), 404))
    scenarios["404 in HTML"] = _taken_over(stage, side, body(b"<h1>Not found</h1>", 404, HTML))
    scenarios["404 without a body"] = _taken_over(stage, side, body(b"", 404))
    quota = side.error_body("You exceeded your current quota", "insufficient_quota", "insufficient_quota")
    scenarios["quota"] = _taken_over(stage, side, body(json.dumps(quota).encode(), 429))
    await together(scenarios)


def _no_model(side: Side) -> bytes:
    if side.name == "messages":
        return json.dumps(side.error_body("model: claude-none", "not_found_error")).encode()
    error = side.error_body("The model `x` does not exist", "invalid_request_error", "model_not_found")
    return json.dumps(error).encode()


@every_side
async def test_redirects_are_not_followed(stage: Stage, side: Side) -> None:
    location = (("location", f"{stage.upstream.base(side.tag + '-B')}{side.upstream_path}"),)
    played = await stage.play(side, body(b"", 307, location))
    check_refusal(side, played.reply, UPSTREAM)
    assert played.at_b == []


def _first_errors(side: Side) -> dict[str, tuple[list[bytes], Refusal]]:
    """Error events that come before anything useful, and what the caller is told without a second channel."""
    match side.name:
        case "chat":
            return {
                "server": ([side.error_event()], UPSTREAM),
                "overloaded": (
                    [n.data(side.error_body("Overloaded", "overloaded_error", "overloaded"))],
                    OVERLOADED,
                ),
                "rate": (
                    [n.data(side.error_body("slow down", "rate_limit_error", "rate_limit_exceeded"))],
                    RATE_LIMIT,
                ),
                "after the role": ([*side.script().opening, side.error_event(), n.DONE], UPSTREAM),
                "text": ([n.data({"error": "boom"})], UPSTREAM),
            }
        case "responses":
            limit = {"code": "rate_limit_exceeded", "message": "slow down"}
            broken = {"code": "server_error", "message": "boom"}
            flat = {"code": "server_error", "message": "boom", "param": None}
            opened = (n.created(), n.in_progress())
            return {
                "failed": (
                    n.r(*opened, ("response.failed", n.response("failed", error=broken))),
                    UPSTREAM,
                ),
                "rate": (
                    n.r(*opened, ("response.failed", n.response("failed", error=limit))),
                    RATE_LIMIT,
                ),
                "flat first": (n.r(("error", flat)), UPSTREAM),
                "nested": (
                    n.r(n.created(), ("error", {"error": {**flat, "type": "server_error"}})),
                    UPSTREAM,
                ),
            }
        case _:
            overloaded = n.aerr("overloaded_error", "Overloaded")
            return {
                "overloaded": ([n.ms(), n.ping, overloaded], OVERLOADED),
                "at once": ([n.aerr("api_error", "boom")], UPSTREAM),
                "rate": ([n.ms(), n.bs(0, "text"), n.aerr("rate_limit_error", "slow")], RATE_LIMIT),
            }


@every_side
async def test_b092_an_error_event_before_output_is_a_failed_attempt(stage: Stage, side: Side) -> None:
    async def alone(events: list[bytes], refusal: Refusal) -> None:
        played = await stage.play(side, stream(events))
        check_refusal(side, played.reply, refusal)
        assert (await played.row())["outcome"] == "failed"

    scenarios = {}
    for what, (events, refusal) in _first_errors(side).items():
        scenarios[what] = alone(events, refusal)
        scenarios[f"{what}, with B"] = _alone_with_b(stage, side, events)
    await together(scenarios)


async def _alone_with_b(stage: Stage, side: Side, events: list[bytes]) -> None:
    await _taken_over(stage, side, stream(events))


@every_side
@pytest.mark.parametrize("end", [EOF, CUT, TRUNCATE], ids=lambda end: end.value)
async def test_b098_a_cut_after_the_opening_leaves_no_trace(stage: Stage, side: Side, end: End) -> None:
    opening = side.script("up").opening
    await together(
        {
            f"{count} events": _taken_over(stage, side, stream(opening[:count], end))
            for count in range(1, len(opening) + 1)
        }
    )


def _uncommitting(side: Side) -> dict[str, list[bytes]]:
    """Events that say nothing yet."""
    match side.name:
        case "chat":
            filters = {"id": "", "object": "", "model": "", "prompt_filter_results": [], "choices": []}
            return {
                "role": [n.k({"role": "assistant"})],
                "empty text": [n.k({"content": ""})],
                "null text": [n.k({"content": None})],
                "empty delta": [n.k({})],
                "no calls": [n.k({"tool_calls": []})],
                "filter results": [n.data(filters)],
                "unknown": [n.data({"object": "vendor.status", "state": "thinking"})],
                "usage alone": [n.u({"prompt_tokens": 1, "completion_tokens": 0})],
            }
        case "responses":
            empty = n.r(n.created(), n.added(n.message_item()), n.part_added(), n.text_delta(""))
            queued = ("response.queued", n.response("queued"))
            reasoning = {"id": "rs_1", "type": "reasoning", "summary": []}
            return {
                "created": n.r(n.created(), queued, n.in_progress()),
                "empty message": empty[:2],
                "empty part": empty[:3],
                "empty delta": empty,
                "reasoning item": n.r(n.created(), n.added(reasoning)),
                "unknown": n.r(n.created(), ("response.vendor_note", {"note": "x"})),
            }
        case _:
            unknown = n.named("vendor_note", {"type": "vendor_note", "x": 1})
            return {
                "start": [n.ms()],
                "ping": [n.ms(), n.ping],
                "text block": [n.ms(), n.bs(0, "text")],
                "thinking block": [n.ms(), n.bs(0, "thinking")],
                "empty delta": [n.ms(), n.bs(0, "text"), n.bd(0, n.text(""))],
                "empty thinking": [n.ms(), n.bs(0, "thinking"), n.bd(0, n.think(""))],
                "unknown": [n.ms(), unknown],
            }


@every_side
async def test_c037_what_says_nothing_does_not_bind_the_request(stage: Stage, side: Side) -> None:
    cases = _uncommitting(side)
    await together({what: _taken_over(stage, side, stream(events, CUT)) for what, events in cases.items()})


def _committing(side: Side) -> dict[str, list[bytes]]:
    """Streams whose last event is useful."""
    match side.name:
        case "chat":
            role = n.k({"role": "assistant", "content": ""})
            citation = {"type": "url_citation", "url_citation": {"url": "u", "title": "t"}}
            return {
                "tool call": [role, n.k(n.t(0, "a", "f", ""))],
                "reasoning": [role, n.k({"reasoning_content": "hm"})],
                "reasoning by another name": [role, n.k({"reasoning": "hm"})],
                "refusal": [role, n.k({"refusal": "no"})],
                "annotation": [role, n.k({"annotations": [citation]})],
                "audio": [role, n.k({"audio": {"id": "a", "data": "AAAA"}})],
            }
        case "responses":
            return {what: n.r(n.created(), *events) for what, events in _useful_responses().items()}
        case _:
            tool = {"type": "tool_use", "id": "toolu_1", "name": "f", "input": {}}
            server = {**tool, "type": "server_tool_use", "id": "srvtoolu_1"}
            citation = {"type": "citations_delta", "citation": {"type": "char_location"}}
            text, thinking = [n.ms(), n.bs(0, "text")], [n.ms(), n.bs(0, "thinking")]
            return {
                "tool use": [n.ms(), n.bs(0, tool)],
                "server tool": [n.ms(), n.bs(0, server)],
                "redacted thinking": [n.ms(), n.bs(0, {"type": "redacted_thinking", "data": "E"})],
                "signature": [*thinking, n.bd(0, n.sig("S"))],
                "thinking": [*thinking, n.bd(0, n.think("hm"))],
                "citation": [*text, n.bd(0, citation)],
                "finish": [*text, n.be(0), n.md("end_turn")],
            }


def _useful_responses() -> dict[str, list[tuple[str, n.Json]]]:
    place = {"item_id": "i_1", "output_index": 0}
    url = {"type": "url_citation", "url": "u", "title": "t", "start_index": 0, "end_index": 1}
    function = {"id": "fc_1", "type": "function_call", "call_id": "c", "name": "f", "arguments": ""}
    custom = {"id": "ct_1", "type": "custom_tool_call", "call_id": "c", "name": "f", "input": ""}
    search = {"id": "ws_1", "type": "web_search_call", "status": "in_progress"}
    image = {"id": "ig_1", "type": "image_generation_call", "status": "in_progress"}
    reasoning = n.added({"id": "i_1", "type": "reasoning", "summary": []})
    message = n.added(n.message_item())
    part = {**place, "item_id": "msg_1", "content_index": 0}
    note = {**part, "annotation_index": 0, "annotation": url}
    preview = {**place, "partial_image_b64": "AAAA", "partial_image_index": 0}
    return {
        "function call": [n.added(function)],
        "custom call": [n.added(custom)],
        "web search": [n.added(search)],
        "image": [n.added(image)],
        "hosted event": [("response.web_search_call.searching", place)],
        "partial image": [("response.image_generation_call.partial_image", preview)],
        "annotation": [message, n.part_added(), ("response.output_text.annotation.added", note)],
        "refusal": [message, ("response.refusal.delta", {**part, "delta": "no"})],
        "summary": [reasoning, ("response.reasoning_summary_text.delta", {**place, "delta": "hm"})],
        "reasoning": [reasoning, ("response.reasoning_text.delta", {**place, "delta": "hm"})],
    }


@every_side
async def test_c037_what_says_something_binds_the_request(stage: Stage, side: Side) -> None:
    async def bound(events: list[bytes]) -> None:
        played = await stage.play(side, stream(events, CUT), b=[])
        side.check_interrupted(played.stream)
        assert len(played.stream.events) == len(events) + 1
        assert played.at_b == []
        assert (await played.row())["outcome"] == "interrupted"

    await together({what: bound(events) for what, events in _committing(side).items()})


@every_side
async def test_a_preamble_that_grows_too_large_commits(stage: Stage, side: Side) -> None:
    padding = "x" * 65536
    match side.name:
        case "chat":
            events = [n.data({"object": "vendor.note", "pad": padding})] * 20
        case "responses":
            events = n.r(n.created(), *[("response.vendor_note", {"pad": padding})] * 20)
        case _:
            events = [n.ms(), *[n.named("vendor_note", {"type": "vendor_note", "pad": padding})] * 20]
    played = await stage.play(side, stream(events, CUT), b=[])
    side.check_interrupted(played.stream)
    assert played.at_b == []


@all_sides_at_once
async def test_silence_before_the_first_word_moves_on(stage: Stage, side: Side) -> None:
    opening: list[Step] = list(side.script().opening)
    comments: list[Step] = [step for _ in range(30) for step in (b": busy\n\n", Pause(0.1))]
    thinking = side.name != "chat"
    scenarios = {
        "no head": _taken_over(stage, side, silence(), kind="qab"),
        "no event": _taken_over(stage, side, stream(HOLD), kind="qab"),
        "only the opening": _taken_over(stage, side, stream(opening, HOLD), kind="qab"),
        "only comments": _taken_over(stage, side, stream(comments, HOLD), kind="qab"),
        "a whole answer that never ends": _taken_over(
            stage,
            side,
            Answer((b'{"id":', HOLD), headers=(("content-type", "application/json"),)),
            kind="qab",
        ),
    }
    if thinking:
        scenarios["thinking for too long"] = _taken_over(
            stage, side, stream(_thinking(side), HOLD), kind="qab"
        )
    await together(scenarios)


def _thinking(side: Side) -> list[bytes]:
    if side is MESSAGES:
        return [n.ms(), n.bs(0, "thinking")]
    return n.r(n.created(), n.added({"id": "rs_1", "type": "reasoning", "summary": []}))


@pytest.mark.parametrize("side", [MESSAGES, RESPONSES], ids=lambda side: side.name)
async def test_an_opened_thinking_block_extends_the_deadline(stage: Stage, side: Side) -> None:
    """Silent for longer than the first-event time-out, but not than the idle time-out."""
    opening = _thinking(side)
    script = side.script()
    if side is MESSAGES:
        rest = [n.bd(0, n.think("hm")), n.be(0), n.bs(1, "text"), n.bd(1, n.text("Hello")), n.be(1)]
        rest += [n.md("end_turn"), n.me]
    else:
        rest = [n.r(n.text_delta("Hello"), start=2)[0], script.closing[-1].replace(b":9,", b":3,", 1)]
    played = await stage.play(side, stream(opening, Pause(1.0), rest), b=[], kind="qab")
    assert played.text == "Hello"
    assert played.at_b == []


async def test_abandoned_upstreams_are_closed(stage: Stage) -> None:
    async def closed(side: Side) -> None:
        played = await _taken_over(stage, side, stream(side.script().opening, HOLD), kind="qab")
        await played.at_a[0].closed(within=20)

    await together({side.name: closed(side) for side in (CHAT, RESPONSES, MESSAGES)})


async def test_b099_no_continuation_after_a_cut(stage: Stage) -> None:
    script = CHAT.script("up", ("The capital is",))
    played = await stage.play(CHAT, stream(script.opening, script.deltas, CUT), b=[])
    CHAT.check_interrupted(played.stream)
    assert (len(played.at_a), played.at_b) == (1, [])
