"""Errors as callers of Chat Completions see them."""

import json
from typing import Any

import openai
import pytest
from tests.unit.protocols.answers import openai_client
from tests.unit.protocols.table import rows

from tidegate.core.failure import Failure, Kind
from tidegate.core.protocol import Protocol
from tidegate.protocols.chat.errors import error_answer, error_event, read_error_event, read_refusal
from tidegate.protocols.failures import error_headers, failed


@pytest.mark.parametrize(("failure", "status", "body", "headers"), rows("chat"))
def test_the_table(failure: Failure, status: int, body: Any, headers: dict[str, str]) -> None:
    answered, written = error_answer(failure, "req_1")
    assert (answered, json.loads(written)) == (status, body)
    assert headers.items() <= dict(error_headers(failure)).items()


def test_interrupted_is_told_word_for_word() -> None:
    assert error_event(failed(Kind.INTERRUPTED)) == (
        b'data: {"error":{"message":"upstream failed after the response had started",'
        b'"type":"api_error","code":"stream_interrupted"}}\n\n'
    )


def test_another_protocols_event_gets_the_nearest_words() -> None:
    told = read_error_event({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}})
    assert error_event(told) == (
        b'data: {"error":{"message":"Overloaded","type":"overloaded_error","code":"overloaded"}}\n\n'
    )


def test_an_event_of_the_same_protocol_keeps_its_words() -> None:
    told = read_error_event({"error": {"message": "boom", "type": "server_error", "code": None}})
    assert error_event(told) == b'data: {"error":{"message":"boom","type":"server_error","code":null}}\n\n'


@pytest.mark.parametrize(
    ("kind", "error"),
    [
        (Kind.INVALID_REQUEST, openai.BadRequestError),
        (Kind.CLIENT_AUTH, openai.AuthenticationError),
        (Kind.PERMISSION, openai.PermissionDeniedError),
        (Kind.MODEL_NOT_FOUND, openai.NotFoundError),
        (Kind.RATE_LIMIT, openai.RateLimitError),
        (Kind.OVERLOADED, openai.InternalServerError),
        (Kind.UPSTREAM, openai.InternalServerError),
    ],
)
def test_the_sdk_raises_its_own_error(kind: Kind, error: type[openai.APIStatusError]) -> None:
    status, body = error_answer(failed(kind), "req_1")
    with pytest.raises(error) as raised:
        openai_client(body, status, "application/json").chat.completions.create(model="m", messages=[])
    assert raised.value.code == json.loads(body)["error"]["code"]


def test_the_sdk_raises_on_an_event() -> None:
    with pytest.raises(openai.APIError, match="after the response had started"):
        list(
            openai_client(error_event(failed(Kind.INTERRUPTED))).chat.completions.create(
                model="m", messages=[], stream=True
            )
        )


def test_refusals_are_read_as_chats() -> None:
    failure = read_refusal(400, {}, b'{"error":{"message":"m","code":"c"}}', 0)
    assert (failure.origin, failure.code) == (Protocol.CHAT, "c")


def test_an_event_tells_the_member_that_is_at_fault_in_this_protocols_words() -> None:
    failure = Failure(
        kind=Kind.CONTEXT_LENGTH,
        message="Too long.",
        type="invalid_request_error",
        code="context_length_exceeded",
        param="input[0]",
        origin=Protocol.RESPONSES,
    )
    assert error_event(failure) == (
        b'data: {"error":{"message":"Too long.","type":"invalid_request_error",'
        b'"param":"messages[0]","code":"context_length_exceeded"}}\n\n'
    )
