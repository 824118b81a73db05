"""A caller's request as it goes up on each of its channels."""

import json
from typing import Any

import pytest
from msgspec import structs
from tests.unit.exchange.said import ASK, MESSAGES, RESPONSES
from tests.unit.exchange.scene import KEY, channel

from tidegate.core.capability import Capabilities, Conversion, UnsupportedTools
from tidegate.core.events import Opaque
from tidegate.core.failure import Failure, Kind
from tidegate.core.protocol import Protocol
from tidegate.exchange import prepared
from tidegate.exchange.prepared import LONG_ANSWER, Prepared, Preparer
from tidegate.protocols import pairs, warnings
from tidegate.protocols.base import Asked, Repair
from tidegate.protocols.carrier import sealer
from tidegate.protocols.registry import dialect_of
from tidegate.routing.catalog import Candidate, Catalog, Key, Model, UpstreamStream

C, R, M = Protocol.CHAT, Protocol.RESPONSES, Protocol.MESSAGES
BODIES: dict[Protocol, dict[str, Any]] = {C: ASK, R: RESPONSES, M: MESSAGES}
SECRET = b"own"
STRICT = structs.replace(KEY, conversion=Conversion.STRICT)
FUNCTION = {"type": "function", "name": "f", "parameters": {"type": "object", "properties": {}}}


def preparer(protocol: Protocol, key: Key = KEY, models: tuple[Model, ...] = (), **members: Any) -> Preparer:
    dialect = dialect_of(protocol)
    asked = dialect.read_request(json.dumps({**BODIES[protocol], **members}).encode())
    assert isinstance(asked, Asked), asked
    return Preparer(dialect, asked, key, Catalog([channel()], models), SECRET)


def to(protocol: Protocol, name: str = "a", model: str = "up", **members: Any) -> Candidate:
    return Candidate(channel(name, protocol, **members), model)


def made(one: Preparer, candidate: Candidate) -> Prepared:
    found = one.prepare(candidate)
    assert isinstance(found, Prepared), found
    return found


def refused(one: Preparer, candidate: Candidate) -> tuple[Kind, str | None]:
    found = one.prepare(candidate)
    assert isinstance(found, Failure), found
    return found.kind, found.param


def body_of(ready: Prepared) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(ready.body)
    return found


CROSS = [(client, upstream) for client in Protocol for upstream in Protocol if client is not upstream]


@pytest.mark.parametrize("protocol", Protocol)
def test_on_the_same_protocol_only_the_model_changes(protocol: Protocol) -> None:
    ready = made(preparer(protocol, unknown_member=1.50), to(protocol))
    assert body_of(ready) == {**BODIES[protocol], "unknown_member": 1.5, "model": "up"}
    assert (ready.crossing, ready.losses, ready.dialect) == (None, (), dialect_of(protocol))
    assert ready.asked.model == "m", "the caller's own request is what the answer goes by"


@pytest.mark.parametrize(("client", "upstream"), CROSS)
def test_across_the_request_is_written_in_the_channel_s_protocol(
    client: Protocol, upstream: Protocol
) -> None:
    ready = made(preparer(client, stream=True), to(upstream))
    assert (ready.dialect, ready.asked.protocol) == (dialect_of(upstream), upstream)
    assert (ready.asked.model, ready.asked.stream) == ("up", True)
    assert ready.asked.body == ready.body
    assert "one two three" in json.dumps(body_of(ready))
    assert ready.crossing is not None
    if upstream is C:
        assert body_of(ready)["stream_options"]["include_usage"] is True
    whole = made(preparer(client), to(upstream))
    assert not whole.asked.stream


def test_the_conversation_is_read_once_and_only_when_it_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    reads: list[Asked] = []
    chat = pairs.halves_of(C)

    def read(asked: Asked, open_carrier: Any) -> Any:
        reads.append(asked)
        return chat.read_conversation(asked, open_carrier)

    counted = structs.replace(chat, read_conversation=read)
    monkeypatch.setattr(
        prepared, "halves_of", lambda protocol: counted if protocol is C else pairs.halves_of(protocol)
    )
    one = preparer(C)
    made(one, to(C))
    assert reads == []
    for upstream in (M, R, M):
        made(one, to(upstream))
    assert len(reads) == 1


def test_what_is_no_conversation_is_refused_by_all_but_the_same_protocol() -> None:
    one = preparer(C, messages=[{"role": "user", "content": [{"type": "hologram"}]}])
    for upstream in (M, R, M):
        kind, param = refused(one, to(upstream))
        assert kind in (Kind.UNSUPPORTED_VALUE, Kind.INVALID_REQUEST)
        assert param is not None
        assert param.startswith("messages[0].content[0]")
    made(one, to(C))


def test_what_one_channel_cannot_be_told_another_may() -> None:
    one = preparer(C, logprobs=True)
    assert refused(one, to(M)) == (Kind.UNSUPPORTED_PARAMETER, "logprobs")
    made(one, to(R))
    made(one, to(C))


def test_losses_are_told_in_the_caller_s_terms() -> None:
    ready = made(preparer(C, seed=7, temperature=1.5), to(M))
    assert set(warnings.row(ready.losses)) == {"dropped:seed", "clamped:temperature"}


def test_a_strict_key_is_refused_what_would_be_lost() -> None:
    one = preparer(C, STRICT, seed=7)
    assert refused(one, to(M)) == (Kind.UNSUPPORTED_PARAMETER, "seed")
    made(one, to(C))
    made(preparer(C, STRICT, temperature=0.5), to(M))


def test_a_strict_key_may_lose_reasoning_of_the_history() -> None:
    thought = {"type": "thinking", "thinking": "hm", "signature": "s"}
    turns = [
        {"role": "user", "content": "a"},
        {"role": "assistant", "content": [thought, {"type": "text", "text": "b"}]},
        {"role": "user", "content": "c"},
    ]
    ready = made(preparer(M, STRICT, messages=turns), to(C))
    assert ready.losses
    assert all(loss.silent for loss in ready.losses)


SEARCH = {"type": "file_search", "vector_store_ids": ["v"]}


@pytest.mark.parametrize(
    ("key", "upstream", "passes"),
    [
        (KEY, to(M), True),
        (structs.replace(KEY, unsupported_tools=UnsupportedTools.REJECT), to(M), False),
        (KEY, to(M, unsupported_tools=UnsupportedTools.REJECT), False),
        (KEY, to(M, capabilities=Capabilities(unsupported_tools=UnsupportedTools.REJECT)), False),
        (STRICT, to(M), False),
    ],
)
def test_the_strictest_word_on_hosted_tools_holds(key: Key, upstream: Candidate, passes: bool) -> None:
    one = preparer(R, key, tools=[FUNCTION, SEARCH])
    if passes:
        assert [tool["name"] for tool in body_of(made(one, upstream))["tools"]] == ["f"]
    else:
        assert refused(one, upstream)[1] in ("tools[1]", "tools[1].type")


@pytest.mark.parametrize(
    ("models", "sent"),
    [((), 32_000), ((Model(name="m", first_event_timeout=1, idle_timeout=1, max_output_tokens=77),), 77)],
)
def test_a_limit_that_the_protocol_demands_is_the_model_s(models: tuple[Model, ...], sent: int) -> None:
    assert body_of(made(preparer(C, KEY, models), to(M)))["max_tokens"] == sent
    assert body_of(made(preparer(C, KEY, models, max_tokens=5), to(M)))["max_tokens"] == 5


def test_capabilities_of_model_and_channel_say_what_is_sent() -> None:
    system = [{"role": "developer", "content": "be brief"}, *ASK["messages"]]
    channel_s = to(C, capabilities=Capabilities(developer_role=True))
    assert body_of(made(preparer(R, input=system), channel_s))["messages"][0]["role"] == "developer"
    model = Model(
        name="m",
        first_event_timeout=1,
        idle_timeout=1,
        capabilities=Capabilities(developer_role=False),
    )
    assert (
        body_of(made(preparer(R, KEY, (model,), input=system), channel_s))["messages"][0]["role"] == "system"
    )


@pytest.mark.parametrize(
    ("limit", "setting", "streamed"),
    [
        (LONG_ANSWER + 1, UpstreamStream.AUTO, True),
        (LONG_ANSWER + 1, UpstreamStream.NEVER, False),
        (LONG_ANSWER, UpstreamStream.AUTO, False),
    ],
)
def test_a_long_whole_answer_is_fetched_as_a_stream(
    limit: int, setting: UpstreamStream, streamed: bool
) -> None:
    one = preparer(C, max_tokens=limit)
    for upstream in (M, R):
        ready = made(one, to(upstream, upstream_stream=setting))
        assert (ready.asked.stream, body_of(ready).get("stream", False)) == (streamed, streamed)
    assert "stream" not in body_of(made(one, to(C, upstream_stream=setting))), (
        "the same protocol is left alone"
    )
    assert made(preparer(C, stream=True), to(M, upstream_stream=UpstreamStream.NEVER)).asked.stream


THOUGHT = [{"type": "thinking", "thinking": "hm", "signature": "sig"}]


def with_carrier(seal_account: str, group: str) -> Preparer:
    """A chat caller who gives back what a Messages channel thought."""
    carrier = sealer(SECRET, seal_account, group)(Opaque(M, THOUGHT))
    details = [{"type": "reasoning.encrypted", "index": 0, "data": carrier}]
    said = {"role": "assistant", "content": "b", "reasoning_details": details}
    turns = [{"role": "user", "content": "a"}, said, {"role": "user", "content": "c"}]
    return preparer(C, messages=turns)


@pytest.mark.parametrize(
    ("account", "group", "returns"), [("acme", "g", True), ("acme", "other", False), ("bolt", "g", False)]
)
def test_reasoning_returns_to_the_group_that_made_it_and_to_the_account_that_saw_it(
    account: str, group: str, returns: bool
) -> None:
    ready = made(with_carrier(account, group), to(M, group="g"))
    assert (json.dumps(THOUGHT[0]) in json.dumps(body_of(ready)["messages"][1])) is returns
    assert bool(ready.losses) is not returns
    assert all(loss.silent for loss in ready.losses)


def test_carriers_that_a_channel_of_the_same_protocol_cannot_read_are_told_of() -> None:
    ready = made(with_carrier("acme", "g"), to(C, group="g"))
    assert b"tgr1." not in ready.body
    assert warnings.row(ready.losses) == ("dropped:messages[].reasoning_details",)
    assert warnings.header(ready.losses) is None
    assert made(preparer(C), to(C)).losses == ()


SIGNATURE = Failure(
    kind=Kind.INVALID_REQUEST, message="messages.1: Invalid `signature` in `thinking` block", status=400
)
LOST = Failure(kind=Kind.INVALID_REQUEST, message="Item 'rs_1' of type 'reasoning' not found", status=400)


def test_a_converted_request_is_repaired_in_the_channel_s_protocol() -> None:
    ready = made(with_carrier("acme", "g"), to(M, group="g"))
    found = ready.repair(SIGNATURE)
    assert found is not None
    mended, repair = found
    assert repair is Repair.THINKING
    assert b"thinking" in ready.body
    assert b"thinking" not in mended.body
    assert (mended.crossing, mended.candidate, mended.asked) == (ready.crossing, ready.candidate, ready.asked)
    assert ready.repair(LOST) is None


def test_options_that_a_conversion_put_in_can_be_taken_out() -> None:
    refusal = Failure(
        kind=Kind.INVALID_REQUEST, message="Unknown parameter: stream_options.include_usage", status=400
    )
    ready = made(preparer(M, stream=True), to(C))
    found = ready.repair(refusal)
    assert found is not None
    assert found[1] is Repair.STREAM_OPTIONS
    assert "stream_options" not in json.loads(found[0].body)
    assert made(preparer(M), to(C)).repair(refusal) is None


def test_a_converted_request_that_is_no_request_is_a_fault_of_the_gateway(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    broken = structs.replace(
        dialect_of(M), read_request=lambda _: Failure(kind=Kind.INVALID_REQUEST, message="no `max_tokens`")
    )
    monkeypatch.setattr(prepared, "dialect_of", lambda _: broken)
    found = preparer(C).prepare(to(M))
    assert isinstance(found, Failure)
    assert found.kind is Kind.INTERNAL
    assert "max_tokens" not in found.message
    assert "max_tokens" in (found.detail or "")
