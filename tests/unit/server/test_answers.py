"""Small fixed answers."""

import json

import pytest

from tidegate.core.failure import Failure, Kind
from tidegate.core.protocol import Protocol
from tidegate.server import answers


@pytest.mark.parametrize(
    ("path", "anthropic", "protocol"),
    [
        ("/v1/messages", False, Protocol.MESSAGES),
        ("/v1/messages/batches", False, Protocol.MESSAGES),
        ("/v1/responses/resp_1", False, Protocol.RESPONSES),
        ("/v1/chat/completions", True, Protocol.CHAT),
        ("/v1/models", True, Protocol.MESSAGES),
        ("/v1/models/m", True, Protocol.MESSAGES),
        ("/v1/models", False, Protocol.CHAT),
        ("/nowhere", True, Protocol.CHAT),
        ("", False, Protocol.CHAT),
    ],
)
def test_whose_form_a_path_gets(path: str, anthropic: bool, protocol: Protocol) -> None:
    assert answers.protocol_of(path, anthropic=anthropic) is protocol


def test_an_error_has_its_form_its_id_and_its_headers() -> None:
    failure = Failure(kind=Kind.METHOD_NOT_ALLOWED, message="no", allow="GET")
    told = answers.error(failure, Protocol.MESSAGES, "req_1", [("vary", "origin")])
    assert (told.status, told.content_type) == (405, "application/json")
    headers = told.headers
    assert (headers["x-request-id"], headers["request-id"], headers["allow"]) == ("req_1", "req_1", "GET")
    assert (headers["vary"], headers["server"]) == ("origin", "tidegate")
    assert isinstance(told.body, bytes)
    assert json.loads(told.body)["request_id"] == "req_1"
    plain = answers.error(failure, Protocol.CHAT, "req_1", [])
    assert "request-id" not in plain.headers


def test_no_answer_tells_what_the_server_is_made_of() -> None:
    empty = answers.empty([("a", "b")])
    for answer in (
        answers.whole(b"{}", 200, []),
        answers.state(503, {"a": 1}, []),
        empty,
    ):
        assert answer.headers["server"] == "tidegate"
    assert empty.headers["a"] == "b"


async def test_the_stand_in_writes_nothing_and_tells_if_the_connection_lives_on() -> None:
    for answer, lives_on in ((answers.KEPT, True), (answers.CLOSED, False)):
        assert answer.keep_alive is lives_on
        request: object = None
        assert await answer.prepare(request) is None  # type: ignore[arg-type]  # it is not looked at
        await answer.write_eof()


def test_operators_get_errors_as_problems() -> None:
    failure = Failure(kind=Kind.HEADERS_TOO_LARGE, message="too large")
    told = answers.problem(failure)
    assert (told.status, told.content_type) == (431, "application/problem+json")
    assert isinstance(told.body, bytes)
    assert json.loads(told.body)["detail"] == "too large"
