"""Stored responses on shared upstream accounts: only their owner builds on them, where they are."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.harness import settings
from tests.harness.client import Reply
from tests.harness.dialects import (
    NO_RESPONSE,
    RESPONSES,
    UNSUPPORTED,
    UPSTREAM,
    check_error_form,
    check_refusal,
)
from tests.harness.gateway import Gateway, free_port
from tests.harness.notation import Json, created, dumps, in_progress, message_item, r, response, text_delta
from tests.harness.script import body, stream
from tests.harness.together import together
from tests.harness.upstream import ScriptedUpstream

CHANNELS = ("stored-A", "stored-A2", "stored-B")


@pytest.fixture(scope="module")
def stored(upstream: ScriptedUpstream, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gateway]:
    """Three equal channels; A and A2 share an upstream account."""
    folder = tmp_path_factory.mktemp("stored")
    config = settings.server(free_port(), str(folder))
    for name, group in zip(CHANNELS, ("one", "one", "two"), strict=True):
        config["channels"].append(settings.channel(name, "resp", upstream.base(name), ["s-*"], group=group))
    config["models"] = [{"name": "s-*"}]
    gateway = Gateway(config, Path(folder))
    try:
        yield gateway.wait_ready()
    finally:
        gateway.stop()


def _scripts(upstream: ScriptedUpstream, model: str) -> None:
    """Every channel answers with an id that tells which it is."""
    for name in CHANNELS:
        identity, item = f"resp_{name}_{model}", message_item("hi", "completed", f"msg_{name}_{model}")
        final = response("completed", id=identity, output=[item])
        events = r(
            created(id=identity),
            in_progress(id=identity),
            text_delta("hi", id=f"msg_{name}_{model}"),
            ("response.output_item.done", {"output_index": 0, "item": item}),
            ("response.completed", final),
        )
        upstream.always(name, model, stream(events))


async def _ask(gateway: Gateway, model: str, key: str = settings.KEY, **members: Any) -> Reply:
    return await gateway.call(RESPONSES, RESPONSES.request(model, **members), key=key)


def _served_by(upstream: ScriptedUpstream, model: str) -> dict[str, int]:
    return {name: len(upstream.requests(name, model)) for name in CHANNELS}


def _identity(upstream: ScriptedUpstream, model: str) -> tuple[str, str]:
    """Which channel served the only request so far."""
    (channel,) = [name for name, count in _served_by(upstream, model).items() if count]
    return channel, f"resp_{channel}_{model}"


async def test_b150_the_next_turn_goes_to_the_group_that_has_the_response(
    stored: Gateway, upstream: ScriptedUpstream
) -> None:
    async def conversation(number: int) -> None:
        model = f"s-{number}"
        _scripts(upstream, model)
        assert (await _ask(stored, model)).status == 200
        channel, identity = _identity(upstream, model)
        for _ in range(6):
            reply = await _ask(stored, model, previous_response_id=identity)
            assert reply.status == 200, reply.body
        served = _served_by(upstream, model)
        group = {"stored-A", "stored-A2"} if channel != "stored-B" else {"stored-B"}
        assert sum(served[name] for name in group) == 7
        sent = [seen.json() for name in group for seen in upstream.requests(name, model)]
        assert sum(content.get("previous_response_id") == identity for content in sent) == 6

    await together({str(number): conversation(number) for number in range(6)})


async def test_b150_what_is_unknown_or_another_accounts_is_refused(
    stored: Gateway, upstream: ScriptedUpstream
) -> None:
    model = "s-foreign"
    _scripts(upstream, model)
    await _ask(stored, model)
    _, identity = _identity(upstream, model)

    async def refused(key: str, previous: str) -> None:
        reply = await _ask(stored, model, key, previous_response_id=previous)
        check_refusal(RESPONSES, reply, NO_RESPONSE)

    await refused(settings.OTHER_KEY, identity)
    await refused(settings.KEY, "resp_nobody_knows")
    assert sum(_served_by(upstream, model).values()) == 1
    assert (await _ask(stored, model, previous_response_id=None)).status == 200


async def test_b150_a_broken_owner_is_not_replaced_by_a_stranger(
    stored: Gateway, upstream: ScriptedUpstream
) -> None:
    """Another upstream account does not have the history: an error is right, an answer would be wrong."""
    model = "s-down"
    _scripts(upstream, model)
    await _ask(stored, model)
    channel, identity = _identity(upstream, model)
    group = [name for name in CHANNELS if (name == "stored-B") == (channel == "stored-B")]
    for name in group:
        upstream.always(name, model, body(b"{}", 500))
    reply = await _ask(stored, model, previous_response_id=identity)
    check_refusal(RESPONSES, reply, UPSTREAM)
    assert all(not upstream.requests(name, model) for name in CHANNELS if name not in group)


async def test_b150_ids_are_learnt_from_whole_answers(stored: Gateway, upstream: ScriptedUpstream) -> None:
    model = "s-whole"
    for name in CHANNELS:
        answer = {**RESPONSES.whole(), "id": f"resp_{name}_{model}"}
        upstream.always(name, model, body(dumps(answer).encode()))
    await _ask(stored, model, stream=False)
    _, identity = _identity(upstream, model)
    reply = await _ask(stored, model, stream=False, previous_response_id=identity)
    assert reply.status == 200, reply.body


async def test_b151_an_item_reference_goes_only_into_an_owned_response(
    stored: Gateway, upstream: ScriptedUpstream
) -> None:
    model = "s-items"
    _scripts(upstream, model)
    await _ask(stored, model)
    channel, _ = _identity(upstream, model)

    async def refer(identity: str, key: str = settings.KEY, *, typed: bool = True) -> Reply:
        reference: Json = {"id": identity} | ({"type": "item_reference"} if typed else {})
        return await _ask(stored, model, key, input=[reference, {"role": "user", "content": "go on"}])

    owned = f"msg_{channel}_{model}"
    reply = await refer(owned)
    assert reply.status == 200, reply.body
    assert (await refer(owned, typed=False)).status == 200
    for refused in (await refer(owned, settings.OTHER_KEY), await refer("msg_nobody_knows")):
        assert refused.status == 400
        check_error_form(RESPONSES, refused)
    assert sum(_served_by(upstream, model).values()) == 3


@pytest.mark.parametrize(
    ("member", "value"),
    [("background", True), ("conversation", "conv_1"), ("conversation", {"id": "conv_1"})],
)
async def test_background_and_conversation_are_refused(
    stored: Gateway, upstream: ScriptedUpstream, member: str, value: Any
) -> None:
    members: dict[str, Any] = {member: value}
    reply = await _ask(stored, "s-refused", settings.KEY, **members)
    error = check_refusal(RESPONSES, reply, UNSUPPORTED)
    assert error["param"] == member
    assert sum(_served_by(upstream, "s-refused").values()) == 0


async def test_background_false_and_conversation_null_pass(
    stored: Gateway, upstream: ScriptedUpstream
) -> None:
    _scripts(upstream, "s-false")
    assert (await _ask(stored, "s-false", background=False, conversation=None)).status == 200
