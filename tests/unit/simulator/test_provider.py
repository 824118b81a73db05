import json
from typing import Any

import msgspec
import pytest

from tidegate.core.protocol import Protocol
from tidegate.core.secret import Secret
from tidegate.simulator.compression import squeezer
from tidegate.simulator.parameters import Coding
from tidegate.simulator.provider import MODELS, Provider, Received, Tally

from .reading import PATHS, body, head, received, request


def provider(key: str | None = None) -> Provider:
    return Provider(Tally(), None if key is None else Secret(key))


def answer(request: Received, by: Provider | None = None) -> tuple[int, Any]:
    steps = list((by or provider()).answer(request))
    text = body(steps)
    return head(steps).status, json.loads(text) if text else None


ANTHROPIC = (("anthropic-version", "2023-06-01"),)


def test_models_in_both_forms() -> None:
    _, listed = answer(received("/v1/models", method="GET"))
    assert [model["id"] for model in listed["data"]] == list(MODELS)
    assert (listed["object"], listed["data"][0]["object"]) == ("list", "model")
    _, listed = answer(received("/v1/models", method="GET", headers=ANTHROPIC))
    assert (listed["has_more"], listed["first_id"]) == (False, "sim")
    assert listed["data"][0]["display_name"] == "sim"


def test_one_model_by_its_name() -> None:
    name = "/v1/models/sim%3Brate%3D20"
    assert answer(received(name, method="GET"))[1]["id"] == "sim;rate=20"
    assert answer(received(name, method="GET", headers=ANTHROPIC))[1]["type"] == "model"


@pytest.mark.parametrize("path", ["/", "/v1/models", "/sim/state"])
def test_a_head_request_gets_no_body(path: str) -> None:
    assert answer(received(path, method="HEAD")) == (200, None)


def test_the_state_counts_requests() -> None:
    by = provider()
    answer(received("/", method="GET"), by)
    assert answer(received("/sim/state", method="GET"), by)[1] == {
        "requests": 2,
        "open_streams": 0,
        "abandoned": 0,
    }


@pytest.mark.parametrize(
    ("path", "method", "status", "allow"),
    [
        ("/v1/messages", "GET", 405, "POST"),
        ("/v1/chat/completions/", "PUT", 405, "POST"),
        ("/v1/models", "POST", 405, "GET, HEAD"),
        ("/v2/models", "GET", 404, None),
        ("/v1/messages/batches", "POST", 404, None),
    ],
)
def test_routes_and_methods_that_do_not_exist(path: str, method: str, status: int, allow: str | None) -> None:
    opened = head(provider().answer(received(path, method=method)))
    assert (opened.status, dict(opened.headers).get("allow")) == (status, allow)


@pytest.mark.parametrize("headers", [(("authorization", "Bearer right"),), (("x-api-key", "right"),)])
def test_the_right_key_in_either_header(headers: tuple[tuple[str, str], ...]) -> None:
    body_ = request(Protocol.CHAT, stream=False)
    assert answer(received(PATHS[Protocol.CHAT], body_, headers=headers), provider("right"))[0] == 200


@pytest.mark.parametrize("protocol", list(Protocol))
def test_a_wrong_key_is_refused_in_the_protocols_form(protocol: Protocol) -> None:
    bad = (("authorization", "Bearer wrong"),)
    status, told = answer(received(PATHS[protocol], request(protocol), headers=bad), provider("right"))
    assert status == 401
    assert ("request_id" in told) == (protocol is Protocol.MESSAGES)
    assert answer(received("/v1/models", method="GET"), provider("right"))[0] == 401


@pytest.mark.parametrize("raw", [b"", b"{", b"[]", b"\xff", b"{}", b'{"model":7}', b'{"model":""}'])
def test_a_body_that_is_no_request(raw: bytes) -> None:
    assert answer(received(PATHS[Protocol.CHAT], raw))[0] == 400


@pytest.mark.parametrize("protocol", list(Protocol))
def test_a_parameter_that_is_not_known_is_named(protocol: Protocol) -> None:
    status, told = answer(received(PATHS[protocol], request(protocol, "sim;ttfb=2s")))
    assert status == 400
    assert "'ttfb'" in told["error"]["message"]


def test_a_compressed_request() -> None:
    press = squeezer(Coding.ZSTD)
    packed = press.piece(msgspec.json.encode(request(Protocol.CHAT, stream=False))) + press.end()
    given = received(PATHS[Protocol.CHAT], packed, headers=(("content-encoding", "zstd"),))
    assert answer(given)[0] == 200
    assert answer(received(PATHS[Protocol.CHAT], b"no", headers=(("content-encoding", "br"),)))[0] == 400


def test_counting_tells_what_an_answer_would_report() -> None:
    asked = request(Protocol.MESSAGES, stream=False)
    _, whole = answer(received(PATHS[Protocol.MESSAGES], asked))
    _, counted = answer(received("/v1/messages/count_tokens", {k: asked[k] for k in ("model", "messages")}))
    assert counted == {"input_tokens": whole["usage"]["input_tokens"]}
    refused = {"model": "sim;status=529", "messages": asked["messages"]}
    assert answer(received("/v1/messages/count_tokens", refused))[0] == 529


def test_requests_are_counted_for_each_model_name() -> None:
    by = provider()

    def status(model: str) -> int:
        return answer(received(PATHS[Protocol.CHAT], request(Protocol.CHAT, model, stream=False)), by)[0]

    assert [status("a;fail_rate=1/2;status=503") for _ in range(4)] == [503, 200, 503, 200]
    assert status("b;fail_rate=1/2;status=503") == 503


def test_equal_requests_have_equal_answers_unless_told_otherwise() -> None:
    by = provider()

    def told(model: str) -> Any:
        return answer(received(PATHS[Protocol.CHAT], request(Protocol.CHAT, model, stream=False)), by)[1]

    assert told("sim") == told("sim")
    assert told("sim;unique_ids")["id"] != told("sim;unique_ids")["id"]


def test_a_request_does_not_show_its_credential() -> None:
    given = received("/v1/messages", b"body", headers=(("x-api-key", "sk-secret"),))
    assert repr(given) == "Received(POST /v1/messages, 4 bytes)"
