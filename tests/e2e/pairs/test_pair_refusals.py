"""Errors before the stream in every pair: one status and form for each kind, whatever the upstream wrote."""

import json
from collections.abc import Sequence

import pytest
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
from tests.harness.pairs import CROSS, NINE, Pair
from tests.harness.script import JSON, Answer, body, silence
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
