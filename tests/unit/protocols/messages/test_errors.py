"""Errors as callers of Messages see them."""

import json
from typing import Any

import anthropic
import pytest
from tests.unit.protocols.answers import anthropic_client
from tests.unit.protocols.table import rows

from tidegate.core.failure import Failure, Kind
from tidegate.core.protocol import Protocol
from tidegate.protocols.failures import error_headers, failed
from tidegate.protocols.messages.errors import error_answer, error_event, form, read_error_event, read_refusal


@pytest.mark.parametrize(("failure", "status", "body", "headers"), rows("messages"))
def test_the_table(failure: Failure, status: int, body: Any, headers: dict[str, str]) -> None:
    answered, written = error_answer(failure, "req_1")
    assert (answered, json.loads(written)) == (status, body)
    assert headers.items() <= dict(error_headers(failure)).items()


@pytest.mark.parametrize("kind", Kind)
def test_every_kind_has_a_form(kind: Kind) -> None:
    status, body = error_answer(failed(kind), "req_1")
    told = json.loads(body)
    assert list(told) == ["type", "error", "request_id"]
    assert (status, told["error"]["type"]) == (form(kind).status, form(kind).type)


def test_interrupted_is_told_word_for_word() -> None:
    assert error_event(failed(Kind.INTERRUPTED)) == (
        b'event: error\ndata: {"type":"error","error":{"type":"api_error",'
        b'"message":"upstream failed after the response had started"}}\n\n'
    )


def test_an_event_of_the_same_protocol_keeps_its_type() -> None:
    told = read_error_event({"type": "error", "error": {"type": "odd_error", "message": "m"}})
    assert b'"type":"odd_error"' in error_event(told)


def test_another_familys_event_gets_the_nearest_type() -> None:
    told = read_error_event(
        {"error": {"type": "server_error", "code": "rate_limit_exceeded", "message": "m"}}
    )
    assert b'"type":"rate_limit_error"' in error_event(told)


@pytest.mark.parametrize(
    ("message", "spoken"),
    [
        ("prompt is too long: 3 tokens > 2 maximum", "prompt is too long: 3 tokens > 2 maximum"),
        ("It exceeds the context window.", "prompt is too long: It exceeds the context window."),
        (
            "This model's maximum context length is 128 tokens. However, you resulted in 130 tokens.",
            "prompt is too long: 130 tokens > 128 maximum",
        ),
        (
            "maximum context length is 128 tokens, no more",
            "prompt is too long: maximum context length is 128 tokens, no more",
        ),
    ],
)  # fmt: skip
def test_a_full_context_is_told_in_the_phrase_that_clients_match(message: str, spoken: str) -> None:
    failure = Failure(kind=Kind.CONTEXT_LENGTH, message=message, status=400, origin=Protocol.RESPONSES)
    assert json.loads(error_answer(failure, "r")[1])["error"]["message"] == spoken


def test_an_upstream_of_the_same_protocol_keeps_its_own_phrase() -> None:
    message = "input length and `max_tokens` exceed context limit: 5 + 1 > 4"
    failure = Failure(kind=Kind.CONTEXT_LENGTH, message=message, status=400, origin=Protocol.MESSAGES)
    assert json.loads(error_answer(failure, "r")[1])["error"]["message"] == message


def test_a_foreign_404_is_not_found() -> None:
    failure = Failure(
        kind=Kind.INVALID_REQUEST, message="m", status=404, type="invalid_request_error", origin=Protocol.CHAT
    )
    status, body = error_answer(failure, "r")
    assert (status, json.loads(body)["error"]["type"]) == (404, "not_found_error")


def test_a_refusal_with_an_own_type_keeps_it() -> None:
    failure = read_refusal(413, {}, b'{"type":"error","error":{"type":"request_too_large","message":"m"}}', 0)
    status, body = error_answer(failure, "r")
    assert (status, json.loads(body)["error"]) == (413, {"type": "request_too_large", "message": "m"})


@pytest.mark.parametrize(
    ("kind", "error"),
    [
        (Kind.CLIENT_AUTH, anthropic.AuthenticationError),
        (Kind.BILLING, anthropic.APIStatusError),
        (Kind.MODEL_NOT_FOUND, anthropic.NotFoundError),
        (Kind.BODY_TOO_LARGE, anthropic.APIStatusError),
        (Kind.RATE_LIMIT, anthropic.RateLimitError),
        (Kind.OVERLOADED, anthropic.InternalServerError),
        (Kind.TIMEOUT, anthropic.InternalServerError),
    ],
)
def test_the_sdk_raises_its_own_error(kind: Kind, error: type[anthropic.APIStatusError]) -> None:
    status, body = error_answer(failed(kind), "req_1")
    client = anthropic_client(body, status, "application/json")
    with pytest.raises(error) as raised:
        client.messages.create(model="m", max_tokens=9, messages=[{"role": "user", "content": "x"}])
    assert raised.value.status_code == status


def test_the_sdk_raises_on_an_event() -> None:
    client = anthropic_client(error_event(failed(Kind.INTERRUPTED)))
    with pytest.raises(anthropic.APIStatusError, match="after the response had started"):
        list(
            client.messages.create(
                model="m", max_tokens=9, messages=[{"role": "user", "content": "x"}], stream=True
            )
        )


def refused_with(details: Any) -> Any:
    error = {"type": "invalid_request_error", "message": "m", "details": details}
    told = read_refusal(400, {}, json.dumps({"type": "error", "error": error}).encode(), 0)
    return json.loads(error_answer(told, "req_1")[1])["error"].get("details")


@pytest.mark.parametrize(
    ("details", "kept"),
    [
        ({"error_code": "thread_not_found"}, {"error_code": "thread_not_found"}),
        ({"error_code": "x", "unsupported": ["a", 1]}, {"error_code": "x", "unsupported": ["a"]}),
        ({"error_code": "x", "limit": 3, "retry": True}, {"error_code": "x", "limit": 3, "retry": True}),
        ({"error_code": "x", "by": "sk-ant-api03-abcdefgh"}, {"error_code": "x"}),
        ({"error_code": "x", "at": "https://a.example.com"}, {"error_code": "x"}),
        ({"error_code": "x", "nested": {"a": 1}, "none": None}, {"error_code": "x"}),
        ("text", None),
        ({}, None),
    ],
)  # fmt: skip
def test_words_for_programs_are_kept_where_they_tell_no_secret(details: Any, kept: Any) -> None:
    """SDKs choose their exception by `error_code`, and some begin a thread anew on it."""
    assert refused_with(details) == kept


def test_no_other_familys_details_are_shown() -> None:
    body = {
        "error": {
            "type": "invalid_request_error",
            "message": "m",
            "code": "c",
            "details": {"error_code": "x"},
        }
    }
    told = read_refusal(400, {}, json.dumps(body).encode(), 0)
    assert "details" not in json.loads(error_answer(told, "req_1")[1])["error"]


def test_a_thread_that_no_channel_keeps_is_told_as_sdks_know_it() -> None:
    failure = Failure(kind=Kind.UNSUPPORTED_PARAMETER, message="`thread` is not supported.", param="thread")
    status, body = error_answer(failure, "req_1")
    client = anthropic_client(body, status, "application/json")
    with pytest.raises(anthropic.BadRequestError) as raised:
        client.messages.create(model="m", max_tokens=1, messages=[])
    assert type(raised.value).__name__ == "ThreadUnsupportedRequestError"
