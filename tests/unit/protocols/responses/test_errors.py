"""Errors as callers of Responses see them."""

import json
from typing import Any

import openai
import pytest
from openai.types.responses import Response
from tests.unit.protocols.answers import odd, openai_client
from tests.unit.protocols.table import rows

from tidegate.core.failure import Failure, Kind
from tidegate.core.protocol import Protocol
from tidegate.protocols.failures import error_headers, failed
from tidegate.protocols.responses.errors import (
    error_answer,
    failed_event,
    read_error_event,
    read_refusal,
    stream_code,
)


@pytest.mark.parametrize(("failure", "status", "body", "headers"), rows("responses"))
def test_the_table(failure: Failure, status: int, body: Any, headers: dict[str, str]) -> None:
    answered, written = error_answer(failure, "req_1")
    assert (answered, json.loads(written)) == (status, body)
    assert headers.items() <= dict(error_headers(failure)).items()


def event(failure: Failure, *, opened: bool = True, number: int = 6) -> bytes:
    return failed_event(
        failure,
        sequence_number=number,
        response_id="resp_up1",
        model="MODEL_ID",
        created_at=1750000002,
        opened=opened,
    )


def test_interrupted_is_told_byte_for_byte() -> None:
    assert event(failed(Kind.INTERRUPTED)) == odd("responses-failed-event")


def test_where_nothing_was_opened_it_is_opened_first() -> None:
    events = list(
        openai_client(event(failed(Kind.OVERLOADED), opened=False, number=0)).responses.create(
            model="m", input="x", stream=True
        )
    )
    assert [(each.type, each.sequence_number) for each in events] == [
        ("response.created", 0),
        ("response.failed", 1),
    ]
    for each in events:
        assert each.type in ("response.created", "response.failed")
        Response.model_validate(each.response.to_dict())


@pytest.mark.parametrize(
    ("failure", "code"),
    [
        (failed(Kind.INTERRUPTED), "server_error"),
        (failed(Kind.OVERLOADED), "server_error"),
        (failed(Kind.TIMEOUT), "server_error"),
        (failed(Kind.CHANNEL_AUTH), "server_error"),
        (failed(Kind.RATE_LIMIT), "rate_limit_exceeded"),
        (failed(Kind.CONTEXT_LENGTH), "context_length_exceeded"),
        (failed(Kind.CONTENT_POLICY), "invalid_prompt"),
        (failed(Kind.INVALID_REQUEST), "invalid_prompt"),
        (failed(Kind.BODY_TOO_LARGE), "invalid_prompt"),
        (read_error_event({"type": "error", "code": "slow_down", "message": "m"}), "slow_down"),
        (
            Failure(
                kind=Kind.INVALID_REQUEST, message="m", status=400, code="x", origin=Protocol.RESPONSES
            ),
            "invalid_prompt",
        ),
        (Failure(kind=Kind.OVERLOADED, message="m", code="x", origin=Protocol.CHAT), "server_error"),
    ],
)  # fmt: skip
def test_codes_inside_a_stream(failure: Failure, code: str) -> None:
    assert stream_code(failure) == code


def test_the_sdk_raises_its_own_error() -> None:
    status, body = error_answer(failed(Kind.RESPONSE_NOT_FOUND), "req_1")
    with pytest.raises(openai.BadRequestError) as raised:
        openai_client(body, status, "application/json").responses.create(model="m", input="x")
    assert raised.value.code == "previous_response_not_found"


def test_refusals_are_read_as_responses() -> None:
    failure = read_refusal(404, {}, b'{"error":{"message":"Item rs_1 not found","param":"input"}}', 0)
    assert (failure.origin, failure.status, failure.param) == (Protocol.RESPONSES, 404, "input")
