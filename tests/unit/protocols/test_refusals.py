"""Whose fault an upstream's error is, and what of it the caller reads."""

import json

import pytest

from tidegate.core.failure import Kind
from tidegate.core.protocol import Protocol
from tidegate.protocols.failures import default_message
from tidegate.protocols.refusals import read_error_event, read_refusal

CHAT, RESPONSES, MESSAGES = Protocol.CHAT, Protocol.RESPONSES, Protocol.MESSAGES
OPENAI = {"error": {"message": "it is so", "type": "invalid_request_error", "param": "x", "code": "c"}}
ANTHROPIC = {"type": "error", "error": {"type": "invalid_request_error", "message": "it is so"}}
HTML = b"<html><head><title>502 Bad Gateway</title></head></html>"

STATUSES = [
    (400, Kind.INVALID_REQUEST, 400),
    (401, Kind.CHANNEL_AUTH, None),
    (402, Kind.UPSTREAM, None),
    (403, Kind.CHANNEL_AUTH, None),
    (408, Kind.TIMEOUT, None),
    (409, Kind.UPSTREAM, None),
    (413, Kind.BODY_TOO_LARGE, 413),
    (418, Kind.UPSTREAM, None),
    (422, Kind.INVALID_REQUEST, 422),
    (425, Kind.UPSTREAM, None),
    (429, Kind.RATE_LIMIT, None),
    (500, Kind.UPSTREAM, None),
    (502, Kind.UPSTREAM, None),
    (503, Kind.OVERLOADED, None),
    (504, Kind.TIMEOUT, None),
    (529, Kind.OVERLOADED, None),
    (301, Kind.UPSTREAM, None),
    (307, Kind.UPSTREAM, None),
    (204, Kind.UPSTREAM, None),
]


@pytest.mark.parametrize("channel", Protocol)
@pytest.mark.parametrize("body", [json.dumps(OPENAI).encode(), json.dumps(ANTHROPIC).encode(), HTML, b""])
@pytest.mark.parametrize(("status", "kind", "kept"), STATUSES)
def test_each_status_means_the_same_in_every_shape(
    channel: Protocol, body: bytes, status: int, kind: Kind, kept: int | None
) -> None:
    failure = read_refusal(channel, status, {}, body, 0)
    assert (failure.kind, failure.status) == (kind, kept)
    assert "<" not in failure.message
    assert str(status) in (failure.detail or "")
    if kept is not None and body.startswith(b"{"):
        assert failure.message == "it is so"
        assert failure.type == "invalid_request_error"


def refused(status: int, error: object, channel: Protocol = CHAT) -> Kind:
    return read_refusal(channel, status, {}, json.dumps(error).encode(), 0).kind


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        ({"error": {"message": "no", "code": "model_not_found"}}, Kind.UPSTREAM),
        ({"error": {"message": "no", "code": "DeploymentNotFound"}}, Kind.UPSTREAM),
        ({"error": {"message": "The model `x` does not exist.", "param": "model"}}, Kind.UPSTREAM),
        ({"type": "error", "error": {"type": "not_found_error", "message": "model: x"}}, Kind.UPSTREAM),
        ({"object": "error", "type": "NotFoundError", "message": "The model `x` is gone."}, Kind.UPSTREAM),
        ({"detail": "Not Found"}, Kind.UPSTREAM),
        ({}, Kind.UPSTREAM),
        ({"error": {"message": "Item 'rs_1' not found", "param": "input"}}, Kind.INVALID_REQUEST),
        ({"type": "error", "error": {"type": "not_found_error", "message": "file: x"}}, Kind.INVALID_REQUEST),
    ],
)
def test_a_404_is_the_channels_own_only_about_the_model_or_without_an_error(
    error: object, kind: Kind
) -> None:
    failure = read_refusal(CHAT, 404, {}, json.dumps(error).encode(), 0)
    assert failure.kind is kind
    assert failure.status == (404 if kind is Kind.INVALID_REQUEST else None)
    if kind is Kind.UPSTREAM:
        assert failure.message == default_message(Kind.UPSTREAM)


@pytest.mark.parametrize("status", [400, 402, 403, 429, 500])
@pytest.mark.parametrize("word", ["insufficient_quota", "billing_error", "organization_spend_limit_exceeded"])
def test_the_operators_bill_is_no_matter_of_the_caller(status: int, word: str) -> None:
    body = json.dumps({"error": {"message": "pay at once", "type": word, "code": word}}).encode()
    failure = read_refusal(CHAT, status, {}, body, 0)
    assert failure.kind is Kind.UPSTREAM
    assert "pay" not in failure.message
    assert "pay at once" in (failure.detail or "")


@pytest.mark.parametrize(
    "error",
    [
        {"error": {"message": "m", "code": "context_length_exceeded"}},
        {"error": {"message": "This model's maximum context length is 5 tokens"}},
        {"error": {"message": "Your input exceeds the context window of this model"}},
        {"type": "error", "error": {"type": "invalid_request_error", "message": "prompt is too long: 2 > 1"}},
        {"error": {"message": "input length and `max_tokens` exceed context limit: 2 + 1 > 1"}},
    ],
)
def test_a_full_context(error: object) -> None:
    assert refused(400, error) is Kind.CONTEXT_LENGTH
    assert refused(500, error) is Kind.UPSTREAM
    assert read_error_event(CHAT, error).kind is Kind.CONTEXT_LENGTH


@pytest.mark.parametrize(
    "code", ["content_policy_violation", "content_filter", "invalid_prompt", "bio_policy", "cyber_policy"]
)
def test_content_policy(code: str) -> None:
    assert refused(400, {"error": {"message": "m", "code": code}}) is Kind.CONTENT_POLICY
    assert read_error_event(RESPONSES, {"error": {"message": "m", "code": code}}).kind is Kind.CONTENT_POLICY


def test_an_overload_in_a_500_is_an_overload() -> None:
    assert refused(500, {"error": {"message": "m", "type": "overloaded_error"}}) is Kind.OVERLOADED
    assert refused(500, {"error": {"message": "m", "code": "server_is_overloaded"}}) is Kind.OVERLOADED


def test_a_key_in_the_message_is_not_shown_and_the_credentials_words_are_ours() -> None:
    body = {"error": {"message": "Incorrect API key provided: sk-abc***", "code": "invalid_api_key"}}
    failure = read_refusal(CHAT, 401, {}, json.dumps(body).encode(), 0)
    assert failure.message == "Upstream rejected the channel credentials."
    assert failure.detail == "HTTP 401 invalid_api_key: Incorrect API key provided: [redacted]"


def test_hints_go_along() -> None:
    headers = {"retry-after": "17", "retry-after-ms": "17000", "x-should-retry": "true"}
    failure = read_refusal(MESSAGES, 429, headers, b"", 0)
    assert (failure.retry_after, failure.retry_after_ms, failure.should_retry) == (17, "17000", "true")


def anthropic(kind: str) -> object:
    return {"type": "error", "error": {"type": kind, "message": "boom"}}


@pytest.mark.parametrize(
    ("payload", "kind", "message"),
    [
        ({"error": {"message": "boom", "type": "server_error", "code": 500}}, Kind.UPSTREAM, "boom"),
        ({"error": {"message": "boom", "code": 429}}, Kind.RATE_LIMIT, "boom"),
        ({"error": {"message": "boom", "code": 400}}, Kind.INVALID_REQUEST, "boom"),
        ({"error": {"message": "boom", "code": "404"}}, Kind.UPSTREAM, "boom"),
        ({"error": "boom"}, Kind.UPSTREAM, "boom"),
        ({"choices": [{}], "error": {"code": 502, "message": "boom"}}, Kind.UPSTREAM, "boom"),
        (anthropic("overloaded_error"), Kind.OVERLOADED, "boom"),
        (anthropic("rate_limit_error"), Kind.RATE_LIMIT, "boom"),
        (anthropic("timeout_error"), Kind.TIMEOUT, "boom"),
        (anthropic("request_too_large"), Kind.BODY_TOO_LARGE, "boom"),
        (anthropic("authentication_error"), Kind.CHANNEL_AUTH, default_message(Kind.CHANNEL_AUTH)),
        ({"type": "error", "code": "slow_down", "message": "boom"}, Kind.RATE_LIMIT, "boom"),
        ({"type": "error", "code": "invalid_image", "message": "boom"}, Kind.INVALID_REQUEST, "boom"),
        (
            {"type": "response.failed", "response": {"error": {"code": "slow_down", "message": "boom"}}},
            Kind.RATE_LIMIT,
            "boom",
        ),
        ({"response": {"error": None}}, Kind.UPSTREAM, default_message(Kind.UPSTREAM)),
        ({}, Kind.UPSTREAM, default_message(Kind.UPSTREAM)),
        (None, Kind.UPSTREAM, default_message(Kind.UPSTREAM)),
    ],
)
def test_errors_inside_a_stream(payload: object, kind: Kind, message: str) -> None:
    failure = read_error_event(RESPONSES, payload)
    assert (failure.kind, failure.message, failure.status) == (kind, message, None)


def test_an_event_keeps_its_words_for_the_same_protocol() -> None:
    failure = read_error_event(CHAT, {"error": {"message": "boom", "type": "server_error", "code": 500}})
    assert (failure.type, failure.code, failure.origin) == ("server_error", "500", CHAT)
