"""What is read from a whole answer of Responses."""

import json

import pytest
from tests.unit.protocols.answers import asked, names, stream, whole

from tidegate.core.failure import Failure, Kind
from tidegate.core.protocol import Protocol
from tidegate.core.usage import Usage
from tidegate.protocols.base import Whole
from tidegate.protocols.responses.answer import read_whole

ASKED = asked(Protocol.RESPONSES, stores=True)


def read(answer: dict[str, object]) -> Whole:
    found = read_whole(ASKED, json.dumps(answer).encode())
    assert isinstance(found, Whole)
    return found


@pytest.mark.parametrize("name", names("responses"))
def test_recorded_answers_change_in_the_model_only(name: str) -> None:
    body = whole("responses", name)
    found = read_whole(ASKED, body)
    assert isinstance(found, Whole)
    assert found.body == body.replace(b'"up-responses-model"', b'"public"')
    assert found.text
    assert found.failure is None
    assert found.incomplete is (name == "max-tokens")
    assert found.finish_reason == ("max_output_tokens" if name == "max-tokens" else "completed")


def test_ids_are_those_of_the_response_and_its_items_if_the_upstream_keeps_them() -> None:
    body = whole("responses", "reasoning-tool")
    found = read_whole(ASKED, body)
    assert isinstance(found, Whole)
    assert found.ids == ("resp_up1", "rs_up1", "fc_up1")
    forgotten = read_whole(asked(Protocol.RESPONSES), body)
    assert isinstance(forgotten, Whole)
    assert forgotten.ids == ()


def test_cache_arithmetic_and_searches() -> None:
    answer = json.loads(whole("responses", "cache-hit"))
    answer["tool_usage"] = {"web_search": {"num_requests": 2}}
    assert read(answer).usage == Usage(
        input=76, cache_read=1024, cache_write=100, output=20, reasoning=0, web_searches=2
    )


def test_everything_said_counts() -> None:
    items = [
        {"type": "reasoning", "summary": [{"text": "s"}], "content": [{"text": "r"}]},
        {"type": "message", "content": [{"type": "output_text", "text": "a"}, {"refusal": "no"}]},
        {"type": "function_call", "name": "f", "arguments": "{}"},
        {"type": "custom_tool_call", "name": "g", "input": "y"},
        {"type": "web_search_call", "status": "completed"},
    ]
    assert read({"status": "completed", "output": items}).text == "sranof{}gy"


@pytest.mark.parametrize(
    ("status", "reason", "finish", "incomplete"),
    [
        ("incomplete", "max_output_tokens", "max_output_tokens", True),
        ("incomplete", "content_filter", "content_filter", False),
        ("incomplete", None, "incomplete", True),
        ("completed", None, "completed", False),
        (None, None, "completed", False),
    ],
)
def test_how_it_ended(status: str | None, reason: str | None, finish: str, incomplete: bool) -> None:
    found = read({"status": status, "incomplete_details": {"reason": reason}, "output": []})
    assert (found.finish_reason, found.incomplete) == (finish, incomplete)


def test_a_failed_response_is_an_answer_with_a_failure() -> None:
    error = {"code": "rate_limit_exceeded", "message": "slow"}
    found = read({"object": "response", "status": "failed", "error": error, "output": []})
    assert found.failure is not None
    assert (found.failure.kind, found.failure.message) == (Kind.RATE_LIMIT, "slow")
    assert read({"object": "response", "status": "failed", "error": error}).failure is not None
    cancelled = read({"status": "cancelled", "error": None, "output": []}).failure
    assert cancelled is not None
    assert cancelled.kind is Kind.UPSTREAM


def test_output_may_be_null() -> None:
    assert read({"status": "completed", "output": None}).text == ""


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (b"", Kind.UPSTREAM),
        (b'{"error":{"message":"m","code":"server_is_overloaded"}}', Kind.OVERLOADED),
        (b'{"status":"queued","output":[]}', Kind.UPSTREAM),
        (b'{"status":"in_progress","output":[]}', Kind.UPSTREAM),
        (whole("chat", "text"), Kind.UPSTREAM),
        (whole("messages", "text"), Kind.UPSTREAM),
        (stream("responses", "text"), Kind.UPSTREAM),
    ],
)
def test_what_is_no_answer(body: bytes, kind: Kind) -> None:
    found = read_whole(ASKED, body)
    assert isinstance(found, Failure)
    assert found.kind is kind
