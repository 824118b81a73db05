"""Failures in every pair: told in the caller's words, and hidden as long as nothing has been shown."""

import json
from collections.abc import Sequence

import pytest
from tests.harness import notation as n
from tests.harness.crossing import Crossed
from tests.harness.dialects import (
    CHANNEL_AUTH,
    CHAT,
    MESSAGES,
    OVERLOADED,
    RATE_LIMIT,
    RESPONSES,
    SIDES,
    TIMEOUT,
    UPSTREAM,
    Refusal,
    Side,
    check_error_form,
    check_refusal,
)
from tests.harness.notation import Json
from tests.harness.pairs import CROSS, NINE, Pair, over
from tests.harness.script import CUT, EOF, JSON, Answer, body, silence, stream
from tests.harness.stage import Stage
from tests.harness.together import together

every_cross_pair = pytest.mark.parametrize("pair", CROSS, ids=lambda pair: pair.name)
every_pair = pytest.mark.parametrize("pair", NINE, ids=lambda pair: pair.name)
HTML = (("content-type", "text/html"),)
OWN = (400, 413, 422)
KINDS: dict[int, Refusal] = {
    401: CHANNEL_AUTH,
    402: UPSTREAM,
    403: CHANNEL_AUTH,
    408: TIMEOUT,
    409: UPSTREAM,
    418: UPSTREAM,
    429: RATE_LIMIT,
    500: UPSTREAM,
    502: UPSTREAM,
    503: OVERLOADED,
    504: TIMEOUT,
    529: OVERLOADED,
}


def _told(client: Side, error: Json) -> tuple[object, object, str]:
    return error.get("type"), error.get("code"), str(error["message"])


EVENTS: dict[str, dict[str, tuple[list[bytes], str]]] = {
    "messages": {
        "overloaded": ([n.aerr("overloaded_error", "Overloaded")], "overloaded"),
        "limited": ([n.aerr("rate_limit_error", "slow down")], "limited"),
        "server": ([n.aerr("api_error", "boom")], "server"),
        "invalid": ([n.aerr("invalid_request_error", "no such thing")], "invalid"),
    },
    "chat": {
        "server": ([n.data({"error": {"message": "boom", "type": "server_error", "code": 500}})], "server"),
        "and DONE": (
            [n.data({"error": {"message": "boom", "type": "server_error", "code": 500}}), n.DONE],
            "server",
        ),
        "limited": (
            [n.data({"error": {"message": "slow down", "type": "x", "code": "rate_limit_exceeded"}})],
            "limited",
        ),
    },
    "responses": {
        "limited": (
            n.r(
                (
                    "response.failed",
                    n.response("failed", error={"code": "rate_limit_exceeded", "message": "slow down"}),
                ),
                start=5,
            ),
            "limited",
        ),
        "flat": (
            n.r(("error", {"code": "server_error", "message": "boom", "param": None}), start=5),
            "server",
        ),
        "nested": (
            n.r(("error", {"error": {"type": "server_error", "message": "boom"}}), start=5),
            "server",
        ),
    },
}
FORMS: dict[str, dict[str, tuple[object, object]]] = {
    "overloaded": {
        "chat": ("overloaded_error", "overloaded"),
        "responses": (None, "server_error"),
        "messages": ("overloaded_error", None),
    },
    "limited": {
        "chat": ("rate_limit_error", "rate_limit_exceeded"),
        "responses": (None, "rate_limit_exceeded"),
        "messages": ("rate_limit_error", None),
    },
    "server": {
        "chat": ("api_error", "upstream_error"),
        "responses": (None, "server_error"),
        "messages": ("api_error", None),
    },
    "invalid": {
        "chat": ("invalid_request_error", None),
        "responses": (None, "invalid_prompt"),
        "messages": ("invalid_request_error", None),
    },
}
WORDS = {"overloaded": "Overloaded", "limited": "slow down", "server": "boom", "invalid": "no such thing"}


@every_cross_pair
async def test_b041_b090_b091_error_events_after_output(crossing: Stage, pair: Pair) -> None:
    async def told(events: list[bytes], kind: str) -> None:
        script = pair.channel.script()
        answer = stream(script.opening, script.deltas[:1], events, EOF)
        played = await crossing.play(pair.client, answer, channel=pair.channel, b=[])
        last = played.stream.events[-1]
        error = pair.client.error_of(last)
        assert error is not None
        assert _told(pair.client, error) == (*FORMS[kind][pair.client.name], WORDS[kind])
        assert played.text == "Hel"
        assert not any(pair.client.is_end(event) for event in played.stream.events)
        if pair.client is RESPONSES:
            numbers = [value["sequence_number"] for value in played.stream.json()]
            assert numbers == list(range(len(numbers)))
        assert played.at_b == []
        row = await played.row()
        assert (row["status"], row["outcome"]) == (200, "interrupted")
        assert [attempt["outcome"] for attempt in row["attempts"]] == ["failed"]

    events = EVENTS[pair.channel.name]
    await together({name: told(steps, kind) for name, (steps, kind) in events.items()})


def _early(channel: Side) -> dict[str, list[bytes]]:
    """Failures before anything useful."""
    match channel.name:
        case "chat":
            error = n.data({"error": {"message": "Overloaded", "code": "server_is_overloaded"}})
            return {"first": [error], "after the role": [n.k({"role": "assistant", "content": ""}), error]}
        case "messages":
            error = n.aerr("overloaded_error", "Overloaded")
            return {
                "first": [error],
                "after ping": [n.ms(), n.ping, error],
                "in a block": [n.ms(), n.bs(0, "text"), error],
            }
        case _:
            failed = n.response("failed", error={"code": "server_is_overloaded", "message": "Overloaded"})
            opening = [n.created(), n.in_progress()]
            return {
                "first": n.r(("response.failed", failed)),
                "after the opening": n.r(*opening, ("response.failed", failed)),
                "in an item": n.r(*opening, n.added(n.message_item()), ("response.failed", failed)),
            }


@every_cross_pair
async def test_b092_an_error_before_output_moves_on(crossing: Stage, pair: Pair) -> None:
    async def moved(steps: list[bytes]) -> None:
        good = stream(pair.channel.script(pieces=("from", " B")).all)
        played = await crossing.play(pair.client, stream(steps), channel=pair.channel, b=[good])
        heard = Crossed(played, {}).heard
        assert heard.text == "from B"
        row = await played.row()
        assert (row["outcome"], row["output_tokens"]) == ("completed", 7)
        assert [attempt["outcome"] for attempt in row["attempts"]] == ["failed", "served"]

    async def refused(steps: list[bytes]) -> None:
        played = await crossing.play(pair.client, stream(steps), channel=pair.channel)
        check_refusal(pair.client, played.reply, OVERLOADED)

    scenarios = {f"{name}, B": moved(steps) for name, steps in _early(pair.channel).items()}
    scenarios |= {f"{name}, alone": refused(steps) for name, steps in _early(pair.channel).items()}
    await together(scenarios)


@every_cross_pair
async def test_b098_a_cut_before_output_moves_on(crossing: Stage, pair: Pair) -> None:
    """Wherever it comes in the opening: one opening only, and B's text alone."""
    opening = pair.channel.script().opening

    async def moved(count: int) -> None:
        good = stream(pair.channel.script(pieces=("from", " B")).all)
        bad = stream(opening[:count], CUT)
        played = await crossing.play(pair.client, bad, channel=pair.channel, b=[good])
        assert Crossed(played, {}).heard.text == "from B"
        assert len(played.at_b) == 1

    await together({f"{count} events": moved(count) for count in range(len(opening) + 1)})


def _useful(channel: Side) -> dict[str, list[bytes]]:
    """What shows that the model is at work."""
    call: Json = {"type": "function_call", "id": "fc_1", "call_id": "a", "name": "f", "arguments": ""}
    match channel.name:
        case "chat":
            return {
                "a call": [n.k(n.t(0, "a", "f", ""))],
                "reasoning": [n.k({"reasoning_content": "x"})],
                "a refusal": [n.k({"refusal": "x"})],
            }
        case "messages":
            tool: Json = {"type": "tool_use", "id": "a", "name": "f", "input": {}}
            return {
                "a call": [n.ms(), n.bs(0, tool)],
                "thinking": [n.ms(), n.bs(0, "thinking"), n.bd(0, n.think("x"))],
                "text": [n.ms(), n.bs(0, "text"), n.bd(0, n.text("x"))],
            }
        case _:
            return {
                "a call": n.r(n.created(), n.added(call)),
                "text": n.r(n.created(), n.added(n.message_item()), n.text_delta("x")),
            }


def _not_useful(channel: Side) -> dict[str, list[bytes]]:
    match channel.name:
        case "chat":
            return {
                "a role": [n.k({"role": "assistant"})],
                "an empty delta": [n.k({"content": ""})],
                "unknown": [n.k({"vendor": 1})],
            }
        case "messages":
            unknown = n.named("mystery", {"type": "mystery"})
            return {
                "thinking opens": [n.ms(), n.bs(0, "thinking")],
                "ping": [n.ms(), n.ping],
                "an empty delta": [n.ms(), n.bs(0, "text"), n.bd(0, n.text(""))],
                "unknown": [n.ms(), unknown],
            }
        case _:
            reasoning: Json = {"type": "reasoning", "id": "rs_1", "summary": []}
            return {
                "reasoning opens": n.r(n.created(), n.added(reasoning)),
                "a message opens": n.r(n.created(), n.added(n.message_item()), n.part_added()),
                "unknown": n.r(n.created(), ("response.mystery", {})),
            }


@every_cross_pair
async def test_c037_what_commits_the_channel(crossing: Stage, pair: Pair) -> None:
    good = stream(pair.channel.script(pieces=("from", " B")).all)

    async def commits(steps: list[bytes]) -> None:
        played = await crossing.play(pair.client, stream(steps, CUT), channel=pair.channel, b=[])
        assert pair.client.error_of(played.stream.events[-1])
        assert played.at_b == []

    async def moves(steps: list[bytes]) -> None:
        played = await crossing.play(pair.client, stream(steps, CUT), channel=pair.channel, b=[good])
        assert Crossed(played, {}).heard.text == "from B"

    scenarios = {name: commits(steps) for name, steps in _useful(pair.channel).items()}
    scenarios |= {name: moves(steps) for name, steps in _not_useful(pair.channel).items()}
    await together(scenarios)


def _dresses(channel: Side, message: str) -> dict[str, tuple[bytes, Sequence[tuple[str, str]]]]:
    other = CHAT if channel is MESSAGES else MESSAGES
    return {
        "own JSON": (json.dumps(channel.error_body(message, "some_error", "some_code")).encode(), JSON),
        "another's JSON": (json.dumps(other.error_body(message, "some_error")).encode(), JSON),
        "HTML": (f"<html><title>{message}</title></html>".encode(), HTML),
        "nothing": (b"", ()),
    }


@every_cross_pair
async def test_b100_every_status_in_every_dress(crossing: Stage, pair: Pair) -> None:
    async def told(status: int, dress: str, *, streamed: bool) -> None:
        content, headers = _dresses(pair.channel, "the very message")[dress]
        answer = body(content, status, headers)
        played = await crossing.play(pair.client, answer, channel=pair.channel, stream=streamed)
        reply = played.reply
        if status in OWN:
            assert reply.status == status
            error = check_error_form(pair.client, reply)
            assert "JSON" not in dress or "the very message" in error["message"]
            assert error["type"] != "None"
        elif status == 404:
            check_refusal(pair.client, reply, UPSTREAM)
        else:
            check_refusal(pair.client, reply, KINDS[status])
        assert b"<html" not in reply.body.lower()

    scenarios = {}
    for status in (*OWN, *KINDS):
        for dress in _dresses(pair.channel, ""):
            streamed = (status + len(dress)) % 2 == 0
            scenarios[f"{status}, {dress}"] = told(status, dress, streamed=streamed)
    scenarios |= {f"404, {dress}": told(404, dress, streamed=True) for dress in ("HTML", "nothing")}
    await together(scenarios)


@every_pair
async def test_c030_the_requests_own_fault(crossing: Stage, pair: Pair) -> None:
    """Its status and its cleaned message; type, code and param between the two OpenAI protocols."""

    async def told(status: int) -> None:
        credential = f"sk-upstream-{pair.channel.tag}-credential-77"
        message = f"bad thing at http://127.0.0.1:{crossing.upstream.port}/x with {credential}"
        error = pair.channel.error_body(message, "some_error", "some_code")
        if pair.channel is not MESSAGES:
            error["error"]["param"] = "temperature"
        answer = body(json.dumps(error).encode(), status)
        played = await crossing.play(pair.client, answer, channel=pair.channel, b=[])
        assert played.reply.status == status
        got = check_error_form(pair.client, played.reply)
        assert "bad thing at" in got["message"]
        assert credential not in got["message"]
        assert str(crossing.upstream.port) not in got["message"]
        if MESSAGES not in (pair.client, pair.channel):
            assert (got["type"], got["code"], got["param"]) == ("some_error", "some_code", "temperature")
        assert played.at_b == []
        assert (await played.row())["outcome"] == "failed"

    await together({str(status): told(status) for status in OWN})


@pytest.mark.parametrize("client", SIDES, ids=lambda side: side.name)
async def test_c030_the_field_at_fault_is_named_in_the_callers_words(crossing: Stage, client: Side) -> None:
    for channel, told, wanted in ((CHAT, "messages", "input"), (RESPONSES, "input", "messages")):
        if client is channel or client is MESSAGES:
            continue
        error = channel.error_body("too long", "invalid_request_error", "context_length_exceeded")
        error["error"]["param"] = told
        played = await crossing.play(client, body(json.dumps(error).encode(), 400), channel=channel)
        assert played.reply.json()["error"]["param"] == wanted


MIXED: dict[str, tuple[int, int, Refusal]] = {
    "500 and 429": (500, 429, RATE_LIMIT),
    "529 and 429": (529, 429, RATE_LIMIT),
    "500 and 529": (500, 529, OVERLOADED),
    "503 and silence": (503, 0, OVERLOADED),
    "401 and silence": (401, 0, TIMEOUT),
    "500 and 401": (500, 401, CHANNEL_AUTH),
    "402 and 500": (402, 500, UPSTREAM),
}


async def test_c031_b106_different_failures_one_answer(crossing: Stage) -> None:
    def failing(channel: Side, status: int) -> Answer:
        if not status:
            return silence()
        return body(json.dumps(channel.error_body("boom", "some_error")).encode(), status)

    async def told(pair: Pair, first: int, second: int, refusal: Refusal) -> None:
        answers = [failing(pair.channel, status) for status in (first, second)]
        played = await crossing.play(
            pair.client, answers[0], channel=pair.channel, b=answers[1:], kind="qab", stream=False
        )
        check_refusal(pair.client, played.reply, refusal)
        row = await played.row()
        assert [attempt["outcome"] for attempt in row["attempts"]] == ["failed", "failed"]

    await together(
        {f"{pair.name}: {name}": told(pair, *statuses) for pair in CROSS for name, statuses in MIXED.items()}
    )


@every_cross_pair
async def test_b106_the_requests_own_fault_wins(crossing: Stage, pair: Pair) -> None:
    server = body(json.dumps(pair.channel.error_body("boom", "server_error")).encode(), 500)
    limited = body(
        json.dumps(pair.channel.error_body("slow", "rate_limit_error")).encode(),
        429,
        [*JSON, ("retry-after", "3")],
    )
    message = "prompt is too long: 210000 tokens > 200000 maximum"
    code = None if pair.channel is MESSAGES else "context_length_exceeded"
    context = body(json.dumps(pair.channel.error_body(message, "invalid_request_error", code)).encode(), 400)
    model = crossing.model(pair.channel, "abc")
    crossing.script(pair.channel, model, [server], [limited], [context])
    reply = await crossing.gateway.call(pair.client, pair.client.request(model, stream=False))
    assert reply.status == 400
    error = check_error_form(pair.client, reply)
    assert pair.client is MESSAGES or error["code"] == "context_length_exceeded"
    row = await crossing.gateway.row(model)
    assert [attempt["status"] for attempt in row["attempts"]] == [500, 429, 400]


@every_cross_pair
async def test_b101_retry_hints_reach_the_caller(crossing: Stage, pair: Pair) -> None:
    hints = [("retry-after", "17"), ("retry-after-ms", "17000"), ("x-should-retry", "true")]
    vendor = [("anthropic-ratelimit-unified-status", "rejected"), ("x-ratelimit-remaining-requests", "987")]
    error = json.dumps(pair.channel.error_body("slow", "rate_limit_error")).encode()
    played = await crossing.play(
        pair.client, body(error, 429, [*JSON, *hints, *vendor]), channel=pair.channel
    )
    check_refusal(pair.client, played.reply, RATE_LIMIT)
    assert [played.reply.header(name) for name, _ in hints] == [value for _, value in hints]
    assert [played.reply.header(name) for name, _ in vendor] == [None, None]


def test_every_channel_has_its_errors() -> None:
    assert all(EVENTS[pair.channel.name] for side in SIDES for pair in over(side))
