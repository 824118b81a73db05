"""A request from its first byte to its row: who is let in, and that no end goes unnoted."""

import asyncio
import json
from typing import Any

import pytest
from tests.unit.exchange.said import ASK, DONE, HELLO, RESPONSES, STOP, STREAM, WHOLE, answers, says
from tests.unit.exchange.scene import KEY, SECRET, Scene, channel, turns

from tidegate.core.failure import Failure, Kind, TidegateError
from tidegate.core.protocol import Protocol
from tidegate.routing.catalog import Catalog, Key, digest

R = Protocol.RESPONSES


async def test_who_asks() -> None:
    scene = Scene()
    known = scene.incoming(authorization=f"Bearer {SECRET}")
    assert scene.exchange.identify(known) == KEY
    unknown = scene.exchange.identify(scene.incoming())
    assert isinstance(unknown, Failure)
    assert unknown.kind is Kind.CLIENT_AUTH
    scene.exchange.draining = True
    refused = scene.exchange.identify(known)
    assert isinstance(refused, Failure)
    assert refused.kind is Kind.DRAINING


@pytest.mark.parametrize("protocol", Protocol)
async def test_what_the_gateway_turns_away_is_told_and_noted(protocol: Protocol) -> None:
    scene = Scene()
    failure = Failure(kind=Kind.METHOD_NOT_ALLOWED, message="no", allow="POST")
    scene.exchange.reject(scene.incoming(protocol), None, failure, scene.pipe)
    assert (scene.pipe.status, scene.pipe.headers) == (405, {"allow": "POST"})
    row = scene.row
    assert (row.status, row.outcome, row.key, row.protocol) == (405, "rejected", None, protocol.value)
    assert (row.error_type, row.error_message) == ("invalid_request_error", "no")


async def test_a_client_that_goes_before_its_request_is_whole_is_noted() -> None:
    scene = Scene()
    scene.exchange.left_early(scene.incoming(), KEY)
    assert (scene.row.status, scene.row.outcome, scene.row.key) == (499, "client_closed", "laptop")


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        (b"", 400, "invalid_request"),
        (b"{", 400, "invalid_request"),
        ({"model": "m"}, 400, "invalid_request"),
        ({**ASK, "model": "x"}, 404, "model_not_found"),
        ({**ASK, "model": "locked"}, 403, "model_not_allowed"),
        ({**ASK, "n": 2, "model": "other"}, 400, "unsupported_parameter"),
    ],
)
async def test_requests_that_cannot_be_served(body: Any, status: int, code: str) -> None:
    scene = Scene(channel(models={"m": "up", "locked": "up"}), channel("b", R, models={"other": "x"}))
    key = Key(name="laptop", account="acme", models=("m", "other", "x"))
    snapshot = scene.exchange.snapshot
    catalog = Catalog(snapshot.catalog.channels, keys={digest(SECRET): key})
    scene.exchange.snapshot = type(snapshot)(catalog, snapshot.settings)
    text = body if isinstance(body, bytes) else json.dumps(body).encode()
    await scene.exchange.serve(scene.incoming(), key, text, scene.pipe)
    assert (scene.pipe.status, scene.pipe.error["code"]) == (status, code)
    assert (scene.row.status, scene.row.outcome, scene.row.error_code) == (status, "rejected", code)
    assert scene.upstream.calls == []
    scene.check_clean()


@pytest.mark.parametrize(
    ("body", "model", "stream"),
    [
        ({**ASK, "stream": True, "temperature": "1"}, "m", True),
        ({**ASK, "stream": "yes"}, "m", False),
        (json.dumps({**ASK, "stream": True})[:-1].encode() + b',"n":1,"n":2}', "m", True),
        ({"model": "m"}, "m", False),
        ({"model": "nobody's", "stream": True}, None, True),
        ({"model": ["m"]}, None, False),
        (b'{"model":"m"', None, False),
        (b"[" * 100_000, None, False),
    ],
)
async def test_the_row_of_a_malformed_request_tells_what_it_asked_for(
    body: Any, model: str | None, stream: bool
) -> None:
    """Of a model that nobody serves not even the name: callers can make up any."""
    scene = Scene(channel())
    text = body if isinstance(body, bytes) else json.dumps(body).encode()
    await scene.exchange.serve(scene.incoming(), KEY, text, scene.pipe)
    assert (scene.row.status, scene.row.outcome) == (400, "rejected")
    assert (scene.row.model, scene.row.stream) == (model, stream)


def owned(scene: Scene, *ids: str, group: str = "b") -> None:
    scene.ownership.remember(ids, "acme", group)


FOLLOWING = {**RESPONSES, "previous_response_id": "resp_1"}
RESPONSE = {"id": "resp_2", "object": "response", "model": "m", "status": "completed", "output": []}


async def test_a_request_that_builds_on_a_response_goes_to_its_group() -> None:
    scene = Scene(channel("a", R), channel("b", R))
    owned(scene, "resp_1")
    await scene.play(FOLLOWING, answers(RESPONSE), protocol=R)
    assert [call.channel.name for call in scene.upstream.calls] == ["b"]
    assert scene.pipe.status == 200


async def test_no_other_group_is_tried_for_it() -> None:
    scene = Scene(channel("a", R), channel("b", R))
    owned(scene, "resp_1")
    await scene.play(FOLLOWING, lambda call: call.fail(), protocol=R)
    assert scene.pipe.status == 502
    assert len(scene.upstream.calls) == 1


async def test_a_response_of_nobody_is_refused() -> None:
    scene = Scene(channel("a", R))
    scene.ownership.remember(["resp_1"], "another", "a")
    await scene.play(FOLLOWING, protocol=R)
    assert (scene.pipe.status, scene.pipe.error["code"]) == (400, "previous_response_not_found")
    assert (scene.row.outcome, scene.row.model) == ("rejected", "m")


async def test_an_owner_that_cannot_be_found_out_is_a_fault_of_the_gateway() -> None:
    scene = Scene(channel("a", R))
    scene.ownership.fault = TidegateError(Failure(kind=Kind.INTERNAL, message="no database"))
    await scene.play(FOLLOWING, protocol=R)
    assert (scene.pipe.status, scene.row.status, scene.row.outcome) == (500, 500, "rejected")


async def test_a_client_may_leave_while_the_owner_is_looked_up() -> None:
    scene = Scene(channel("a", R))
    scene.ownership.gate = asyncio.get_running_loop().create_future()
    await scene.start(FOLLOWING, R)
    assert scene.exchange.open_requests == 1
    await scene.leave()
    assert (scene.row.status, scene.row.outcome, scene.row.model) == (499, "client_closed", "m")


async def test_a_running_request_keeps_the_config_it_began_with() -> None:
    scene = Scene(channel("a"), channel("b"))
    await scene.start(STREAM)
    scene.exchange.snapshot = type(scene.exchange.snapshot)(Catalog([]), scene.exchange.snapshot.settings)
    scene.call.fail()
    await turns()
    says(HELLO, STOP, DONE)(scene.call)
    await scene.over()
    assert [name for name, _, _ in scene.tries] == ["a", "b"]
    assert scene.pipe.written == HELLO + STOP + DONE


async def test_requests_are_counted_while_they_are_open() -> None:
    scene = Scene()
    await scene.start(ASK)
    assert scene.exchange.open_requests == 1
    answers(WHOLE)(scene.call)
    await scene.over()
    assert scene.exchange.open_requests == 0


@pytest.mark.parametrize("body", [ASK, STREAM])
async def test_a_fault_of_the_gateway_is_told_noted_and_raised(body: Any) -> None:
    scene = Scene()
    scene.upstream.fault = RuntimeError("a fault")
    await scene.start(body)
    with pytest.raises(RuntimeError):
        await scene.over()
    assert (scene.pipe.status, scene.pipe.error["code"]) == (500, "internal_error")
    row = scene.row
    assert (row.status, row.outcome, row.error_code) == (500, "failed", "internal_error")
    assert "a fault" not in scene.pipe.written.decode()
    scene.check_clean()
