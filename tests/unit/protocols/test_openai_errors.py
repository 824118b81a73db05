"""The envelope of the OpenAI family, and whose words stand in it."""

import json

import pytest

from tidegate.core.failure import Failure, Kind
from tidegate.core.protocol import Protocol
from tidegate.protocols.openai_errors import error_answer, event_words, form
from tidegate.protocols.refusals import read_refusal

CHAT, RESPONSES, MESSAGES = Protocol.CHAT, Protocol.RESPONSES, Protocol.MESSAGES


def error(failure: Failure, protocol: Protocol) -> tuple[int, dict[str, object]]:
    status, body = error_answer(failure, protocol)
    [(name, told)] = json.loads(body).items()
    assert name == "error"
    assert list(told) == ["message", "type", "param", "code"]
    return status, told


@pytest.mark.parametrize("kind", Kind)
def test_every_kind_has_a_form_and_a_body(kind: Kind) -> None:
    status, told = error(Failure(kind=kind, message="m"), CHAT)
    assert (status, told["type"], told["code"]) == (form(kind).status, form(kind).type, form(kind).code)


@pytest.mark.parametrize(
    ("origin", "caller", "param", "shown"),
    [
        (CHAT, CHAT, "messages[0].content", "messages[0].content"),
        (CHAT, RESPONSES, "messages[0].content", "input[0].content"),
        (RESPONSES, CHAT, "input", "messages"),
        (RESPONSES, CHAT, "input.0", "messages.0"),
        (RESPONSES, CHAT, "inputs", "inputs"),
        (RESPONSES, CHAT, "tools[0]", "tools[0]"),
        (RESPONSES, RESPONSES, "input", "input"),
        (MESSAGES, CHAT, "messages", None),
        (CHAT, RESPONSES, None, None),
    ],
)
def test_the_param_is_renamed_only_across_the_family(
    origin: Protocol, caller: Protocol, param: str | None, shown: str | None
) -> None:
    failure = Failure(kind=Kind.INVALID_REQUEST, message="m", status=400, param=param, origin=origin)
    assert error(failure, caller)[1]["param"] == shown


def test_a_refusal_keeps_the_words_of_its_family() -> None:
    failure = Failure(
        kind=Kind.INVALID_REQUEST, message="m", status=422, type="t", code=None, param="x", origin=CHAT
    )
    assert error(failure, RESPONSES) == (422, {"message": "m", "type": "t", "param": "x", "code": None})


def test_a_refusal_of_the_other_family_has_no_code() -> None:
    failure = Failure(kind=Kind.INVALID_REQUEST, message="m", status=400, type="odd", origin=MESSAGES)
    assert error(failure, CHAT)[1] == {
        "message": "m", "type": "invalid_request_error", "param": None, "code": None,
    }  # fmt: skip


def test_a_full_context_gets_its_code_across_protocols_and_keeps_what_it_has_on_the_same() -> None:
    failure = Failure(kind=Kind.CONTEXT_LENGTH, message="m", status=400, origin=CHAT)
    assert error(failure, CHAT)[1]["code"] is None
    assert error(failure, RESPONSES)[1]["code"] == "context_length_exceeded"


@pytest.mark.parametrize("caller", [CHAT, RESPONSES])
def test_a_status_in_the_place_of_the_code_gives_way_to_what_is_known(caller: Protocol) -> None:
    told = Failure(kind=Kind.CONTEXT_LENGTH, message="m", status=400, type="t", code="400", origin=CHAT)
    assert error(told, caller)[1]["code"] == "context_length_exceeded"
    plain = Failure(kind=Kind.INVALID_REQUEST, message="m", status=400, type="t", code="400", origin=CHAT)
    assert error(plain, caller)[1]["code"] == "400"


def test_what_is_not_the_requests_own_fault_never_shows_an_upstreams_words() -> None:
    failure = Failure(kind=Kind.UPSTREAM, message="m", status=500, type="t", code="c", param="p", origin=CHAT)
    told = {"message": "m", "type": "api_error", "param": None, "code": "upstream_error"}
    assert error(failure, CHAT) == (502, told)


def test_an_unknown_model_is_about_the_model() -> None:
    assert error(Failure(kind=Kind.MODEL_NOT_FOUND, message="m"), CHAT)[1]["param"] == "model"


def test_inside_a_stream_the_same_protocol_keeps_its_words() -> None:
    failure = Failure(kind=Kind.OVERLOADED, message="m", type="server_error", code="x", origin=CHAT)
    assert event_words(failure, CHAT).type == "server_error"
    assert event_words(failure, RESPONSES).code == "overloaded"


@pytest.mark.parametrize("caller", [CHAT, RESPONSES])
def test_a_bare_413_has_the_code_of_the_table(caller: Protocol) -> None:
    """It is a proxy's, which knows no protocol; a server's own words stay as they are."""
    bare = read_refusal(CHAT, 413, {}, b"<html>413 Request Entity Too Large</html>", 0)
    assert error(bare, caller)[1]["code"] == "request_too_large"
    own = read_refusal(CHAT, 413, {}, b'{"error":{"message":"m","type":"t","param":null,"code":null}}', 0)
    assert (error(own, CHAT)[1]["type"], error(own, CHAT)[1]["code"]) == ("t", None)
