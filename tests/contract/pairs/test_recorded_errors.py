"""Errors before the stream must read as recorded in every pair."""

import json
from collections.abc import Sequence
from typing import Any

import pytest
from tests.contract.pairs.recordings import FOLDER
from tests.harness import settings
from tests.harness.client import Reply
from tests.harness.dialects import CHAT, MESSAGES, RESPONSES, SIDES, Side
from tests.harness.pairs import NINE, Pair
from tests.harness.script import Answer, body, silence
from tests.harness.stage import Stage
from tests.harness.together import together

RECORDED: list[Any] = json.loads((FOLDER / "errors.json").read_text())
OWN_MESSAGE = "messages: at least one message is required"
every_pair = pytest.mark.parametrize("pair", NINE, ids=lambda pair: pair.name)


def _recorded(words: str) -> Any:
    """The one entry whose description begins so."""
    (entry,) = [entry for entry in RECORDED if entry["upstream"].startswith(words)]
    return entry


def _check(client: Side, reply: Reply, entry: Any, model: str, *, message: str | None = None) -> None:
    """Status and body as recorded, with `message` in place of the recorded one if it is told."""
    expected = entry[client.name]
    assert reply.status == expected["status"], reply.body
    got = reply.json()
    wanted = json.loads(json.dumps(expected["body"]).replace("MODEL_ID", model))
    if "request_id" in wanted:
        assert got.pop("request_id") == reply.header("request-id")
        del wanted["request_id"]
    if message is not None:
        wanted["error"]["message"] = message
    assert got == wanted
    for name in entry.get("headers", {}):
        assert reply.header(name)


def _told(side: Side, message: str, type: str, code: str | None = None, status: int = 400) -> Answer:
    return body(json.dumps(side.error_body(message, type, code)).encode(), status)


def _scenarios(channel: Side) -> dict[str, tuple[Answer, str]]:
    """What each channel says for a recorded error, and how its description begins."""
    long, too_long = (
        "This model's maximum context length is 200000 tokens, but the request has 210000.",
        ("prompt is too long: 210000 tokens > 200000 maximum"),
    )
    anthropic = channel is MESSAGES
    context = None if anthropic else "context_length_exceeded"
    policy = None if anthropic else "content_policy_violation"
    safety = "The request was rejected by the safety system."
    found = {
        "invalid": (_told(channel, OWN_MESSAGE, "invalid_request_error"), "400 invalid request"),
        "credential": (_told(channel, "bad key", "authentication_error", None, 401), "channel credential"),
        "context": (
            _told(channel, too_long if anthropic else long, "invalid_request_error", context),
            "context length",
        ),
        "server": (
            _told(channel, "The server had an error while processing your request.", "api_error", None, 500),
            "upstream 500",
        ),
        "overloaded": (
            _told(channel, "Overloaded", "overloaded_error", None, 529 if anthropic else 503),
            "overloaded",
        ),
        "limited": (
            _told(channel, "Rate limit reached for requests.", "rate_limit_error", None, 429),
            "rate limited",
        ),
    }
    if policy:
        found["policy"] = (_told(channel, safety, "invalid_request_error", policy), "content policy")
    return found


@every_pair
async def test_upstream_errors(crossing: Stage, pair: Pair) -> None:
    async def told(answer: Answer, words: str, *, streamed: bool) -> None:
        played = await crossing.play(pair.client, answer, channel=pair.channel, stream=streamed)
        entry = _recorded(words)
        got = played.reply.json()["error"]
        _check(pair.client, played.reply, _kept(entry, pair, words), played.model, message=got["message"])
        _check_message(pair, words, entry, got["message"])

    await together(
        {
            f"{name}, stream {streamed}": told(answer, words, streamed=streamed)
            for name, (answer, words) in _scenarios(pair.channel).items()
            for streamed in (True, False)
        }
    )


def _kept(entry: Any, pair: Pair, words: str) -> Any:
    """The recording has `param` of an upstream that named one; here none does."""
    told = json.loads(json.dumps(entry))
    error = told[pair.client.name]["body"]["error"]
    if words == "context length" and "param" in error:
        error["param"] = None
    return told


def _check_message(pair: Pair, words: str, entry: Any, message: str) -> None:
    """The upstream's own words, where they are not about the channel itself."""
    match words:
        case "context length" if pair.client is MESSAGES:
            assert message.startswith("prompt is too long: ")
        case "400 invalid request" | "content policy" | "upstream 500" | "overloaded" | "rate limited":
            assert message
        case _:
            assert message
    if words in ("400 invalid request", "content policy"):
        assert message == entry[pair.client.name]["body"]["error"]["message"]


async def test_time_out(crossing: Stage) -> None:
    async def silent(pair: Pair, *, streamed: bool) -> None:
        played = await crossing.play(pair.client, silence(), channel=pair.channel, kind="qa", stream=streamed)
        _check(pair.client, played.reply, _recorded("upstream timed out"), played.model)

    await together(
        {
            f"{pair.name}, stream {streamed}": silent(pair, streamed=streamed)
            for pair in NINE
            for streamed in (True, False)
        }
    )


@pytest.mark.parametrize("client", SIDES, ids=lambda side: side.name)
async def test_the_gateways_own_refusals(crossing: Stage, client: Side) -> None:
    other = RESPONSES if client is not RESPONSES else CHAT
    unknown, model = "nothing-of-that-name", crossing.model(other)
    for words, name, key in (
        ("client key unknown", model, "sk-tg-wrong"),
        ("client key lacks", model, settings.NARROW_KEY),
        ("unknown model", unknown, settings.KEY),
    ):
        reply = await crossing.gateway.call(client, client.request(name), key=key)
        _check(client, reply, _recorded(words), name)


@pytest.mark.parametrize("channel", [RESPONSES, MESSAGES], ids=lambda side: side.name)
async def test_what_cannot_be_converted(crossing: Stage, channel: Side) -> None:
    played = await crossing.play(CHAT, channel=channel, members={"n": 2})
    _check(CHAT, played.reply, _recorded("request cannot be converted"), played.model)
    assert played.at_a == []


def test_every_recorded_error_has_its_test() -> None:
    """Balance and body size are tested with the gateway's own routes."""
    tested: Sequence[str] = (
        *(words for _, words in _scenarios(CHAT).values()),
        *("upstream timed out", "client key unknown", "client key lacks", "unknown model"),
        *("request cannot be converted", "client balance", "body too large", "no channel available"),
    )
    assert all(entry["upstream"].startswith(tuple(tested)) for entry in RECORDED)
