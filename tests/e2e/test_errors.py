"""Errors before the stream: one status and form for each kind, whatever the upstream wrote."""

import json
from collections.abc import Sequence

import pytest
from tests.harness.dialects import (
    BAD_REQUEST,
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
from tests.harness.script import JSON, Answer, Framing, Pause, body, silence
from tests.harness.stage import Stage
from tests.harness.together import all_sides_at_once, together

every_side = pytest.mark.parametrize("side", SIDES, ids=lambda side: side.name)
HTML = (("content-type", "text/html"),)
OWN = (400, 413, 422)
"""The request's own faults: the upstream's status is the caller's."""
KINDS: dict[int, Refusal] = {
    401: CHANNEL_AUTH,
    402: UPSTREAM,
    403: CHANNEL_AUTH,
    408: TIMEOUT,
    409: UPSTREAM,
    418: UPSTREAM,
    425: UPSTREAM,
    429: RATE_LIMIT,
    500: UPSTREAM,
    502: UPSTREAM,
    503: OVERLOADED,
    504: TIMEOUT,
    529: OVERLOADED,
}


def _bodies(side: Side, message: str) -> dict[str, tuple[bytes, Sequence[tuple[str, str]]]]:
    """The same error in every dress."""
    other = MESSAGES if side is not MESSAGES else CHAT
    return {
        "own JSON": (json.dumps(side.error_body(message, "some_error", "some_code")).encode(), JSON),
        "another's JSON": (json.dumps(other.error_body(message, "some_error")).encode(), JSON),
        "flat JSON": (json.dumps({"detail": message}).encode(), JSON),
        "HTML": (f"<html><title>{message}</title></html>".encode(), HTML),
        "nothing": (b"", ()),
    }


@every_side
async def test_b100_every_status_in_every_dress(stage: Stage, side: Side) -> None:
    async def told(status: int, dress: str, *, streamed: bool) -> None:
        content, headers = _bodies(side, "the very message")[dress]
        played = await stage.play(side, body(content, status, headers), stream=streamed)
        reply = played.reply
        if status in OWN:
            assert reply.status == status
            error = check_error_form(side, reply)
            if dress in ("own JSON", "another's JSON"):
                assert "the very message" in error["message"]
            if dress == "own JSON":
                assert error["type"] == "some_error"
                assert error.get("code") == (None if side is MESSAGES else "some_code")
        else:
            check_refusal(side, reply, KINDS[status])
        assert b"<html" not in reply.body.lower()
        row = await played.row()
        assert (row["outcome"], row["status"]) == ("failed", reply.status)
        told = reply.json()["error"]
        assert (row["error"]["type"], row["error"]["message"]) == (told["type"], told["message"])
        assert [attempt["status"] for attempt in row["attempts"]] == [status]

    scenarios = {}
    for status in (*OWN, *KINDS):
        for dress in _bodies(side, ""):
            streamed = (status + len(dress)) % 2 == 0
            scenarios[f"{status}, {dress}, stream {streamed}"] = told(status, dress, streamed=streamed)
    await together(scenarios)


@every_side
async def test_b100_a_404_is_the_channels_or_the_requests(stage: Stage, side: Side) -> None:
    async def channels(content: bytes, headers: Sequence[tuple[str, str]]) -> None:
        played = await stage.play(side, body(content, 404, headers))
        check_refusal(side, played.reply, UPSTREAM)

    async def requests() -> None:
        error = side.error_body("Container cntr_1 not found.", "not_found_error", "container_not_found")
        played = await stage.play(side, body(json.dumps(error).encode(), 404), b=[])
        assert played.reply.status == 404
        assert check_error_form(side, played.reply)["message"] == "Container cntr_1 not found."
        assert played.at_b == []

    code = None if side is MESSAGES else "model_not_found"
    message = "model: up" if side is MESSAGES else "The model `up` does not exist"
    error = json.dumps(side.error_body(message, "not_found_error", code)).encode()
    await together(
        {
            "the model": channels(error, JSON),
            "HTML": channels(b"<html>404</html>", HTML),
            "nothing": channels(b"", ()),
            "something else": requests(),
        }
    )


@every_side
async def test_c030_the_requests_own_fault_is_told_clean_and_not_retried(stage: Stage, side: Side) -> None:
    async def told(status: int) -> None:
        credential = f"sk-upstream-{side.tag}-credential-77"
        message = f"Bad thing at {stage.upstream.base('A')}/v1/x with {credential}: fix field foo"
        content = json.dumps(side.error_body(message, "invalid_request_error", "odd_code"))
        content = content.replace('"param": null', '"param": "tools[0].name"')
        played = await stage.play(side, body(content.encode(), status), b=[])
        assert played.reply.status == status
        error = check_error_form(side, played.reply)
        assert error["type"] == "invalid_request_error"
        if side is not MESSAGES:
            assert (error["code"], error["param"]) == ("odd_code", "tools[0].name")
        assert "fix field foo" in error["message"]
        assert "credential" not in error["message"]
        assert str(stage.upstream.port) not in error["message"]
        assert played.at_b == []
        row = await played.row()
        assert row["outcome"] == "failed"
        assert credential not in json.dumps(row)

    await together({str(status): told(status) for status in OWN})


@every_side
async def test_b183_keys_and_hosts_never_reach_the_caller_or_the_row(stage: Stage, side: Side) -> None:
    async def clean(status: int, leak: str) -> None:
        error = side.error_body(f"Incorrect API key provided: {leak}. See the page.", "auth", None)
        played = await stage.play(side, body(json.dumps(error).encode(), status))
        assert leak not in played.reply.body.decode()
        row = await played.row()
        assert leak not in json.dumps(row["error"])

    leaks = [
        "sk-abc***************xyz9",
        "sk-ant-api03-AAAABBBBCCCCDDDD",
        "https://internal.example.net:8443/v1",
    ]
    leaks.append(f"sk-upstream-{side.tag}-credential-77")
    await together({f"{status} {leak}": clean(status, leak) for status in (400, 401, 500) for leak in leaks})


@every_side
async def test_b101_retry_after_and_its_kin_are_passed(stage: Stage, side: Side) -> None:
    headers = [
        *JSON,
        ("retry-after", "17"),
        ("retry-after-ms", "17000"),
        ("x-should-retry", "true"),
        ("anthropic-ratelimit-unified-status", "rejected"),
        ("x-ratelimit-remaining-requests", "987"),
    ]
    content = json.dumps(side.error_body("slow down", "rate_limit_error", "rate_limit_exceeded")).encode()
    played = await stage.play(side, body(content, 429, headers))
    check_refusal(side, played.reply, RATE_LIMIT)
    assert played.reply.header("retry-after") == "17"
    assert played.reply.header("retry-after-ms") == "17000"
    assert played.reply.header("x-should-retry") == "true"
    assert played.reply.header("anthropic-ratelimit-unified-status") is None
    assert played.reply.header("x-ratelimit-remaining-requests") != "987"


@every_side
async def test_b101_the_shortest_wait_of_all_channels_is_told(stage: Stage, side: Side) -> None:
    content = json.dumps(side.error_body("slow down", "rate_limit_error")).encode()
    first = body(content, 429, [*JSON, ("retry-after", "30")])
    second = body(content, 429, [*JSON, ("retry-after", "9")])
    played = await stage.play(side, first, b=[second])
    check_refusal(side, played.reply, RATE_LIMIT)
    assert played.reply.header("retry-after") in ("9", "8")


def _fail(side: Side, what: int | None) -> Answer:
    """An upstream's refusal with a status, or silence."""
    if what is None:
        return silence()
    return body(json.dumps(side.error_body(f"failure {what}", "some_error")).encode(), what)


COMBINATIONS: list[tuple[int | None, int | None, Refusal]] = [
    (500, 429, RATE_LIMIT),
    (529, 429, RATE_LIMIT),
    (500, 529, OVERLOADED),
    (None, 503, OVERLOADED),
    (401, None, TIMEOUT),
    (500, 401, CHANNEL_AUTH),
    (402, 500, UPSTREAM),
    (429, 400, BAD_REQUEST),
    (429, 500, RATE_LIMIT),
    (529, 500, OVERLOADED),
    (504, 500, TIMEOUT),
    (403, 402, CHANNEL_AUTH),
]


@all_sides_at_once
async def test_c031_of_different_failures_the_most_telling_is_the_answer(stage: Stage, side: Side) -> None:
    async def told(a: int | None, b: int | None, refusal: Refusal) -> None:
        played = await stage.play(side, _fail(side, a), b=[_fail(side, b)], kind="qab", stream=False)
        if refusal is BAD_REQUEST:
            assert played.reply.status == 400
            check_error_form(side, played.reply)
        else:
            check_refusal(side, played.reply, refusal)
        assert (len(played.at_a), len(played.at_b)) == (1, 1)
        row = await played.row()
        assert [attempt["outcome"] for attempt in row["attempts"]] == ["failed", "failed"]

    await together({f"{a} + {b}": told(a, b, refusal) for a, b, refusal in COMBINATIONS})


@every_side
async def test_b106_the_requests_own_400_wins(stage: Stage, side: Side) -> None:
    model = stage.model(side, "abc")
    message = "prompt is too long: 210000 tokens > 200000 maximum"
    long = side.error_body(message, "invalid_request_error", "context_length_exceeded")
    slow = body(b"{}", 429, [*JSON, ("retry-after", "3")])
    stage.script(side, model, [_fail(side, 500)], [slow], [body(json.dumps(long).encode(), 400)])
    reply = await stage.gateway.call(side, side.request(model))
    assert reply.status == 400
    error = check_error_form(side, reply)
    assert "too long" in error["message"]
    if side is not MESSAGES:
        assert error["code"] == "context_length_exceeded"
    row = await stage.gateway.row(model)
    assert [attempt["status"] for attempt in row["attempts"]] == [500, 429, 400]


@all_sides_at_once
async def test_after_status_200_the_error_goes_into_the_stream(stage: Stage, side: Side) -> None:
    """A keepalive has committed the status, then every channel fails."""

    async def told(what: int | None, refusal: Refusal) -> None:
        played = await stage.play(side, _slow(_fail(side, 500)), b=[_slow(_fail(side, what))])
        assert set(played.stream.keepalives) == {0}
        last = played.stream.events[-1]
        error = side.error_of(last)
        assert error is not None
        assert side.stream_error(refusal).items() <= error.items()
        assert error["message"]
        if side is RESPONSES:
            created, failed = played.stream.json()
            assert (created["type"], failed["type"]) == ("response.created", "response.failed")
            assert [created["sequence_number"], failed["sequence_number"]] == [0, 1]
            assert created["response"]["id"] == failed["response"]["id"]
            assert failed["response"]["status"] == "failed"
        else:
            assert len(played.stream.events) == 1
        assert not any(side.is_end(event) for event in played.stream.events)
        row = await played.row()
        assert (row["outcome"], row["status"]) == ("failed", 200)

    await together(
        {
            "time-out": told(None, TIMEOUT),
            "rate limit": told(429, RATE_LIMIT),
            "overloaded": told(529, OVERLOADED),
            "bad channel": told(401, CHANNEL_AUTH),
        }
    )


def _slow(answer: Answer) -> Answer:
    """The same answer after the keepalive has gone out."""
    if answer.framing is Framing.RAW:
        return answer
    return Answer(answer.steps, answer.status, answer.headers, answer.framing, before=(Pause(0.7),))
