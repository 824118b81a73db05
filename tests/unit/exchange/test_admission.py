"""Who asks, and may they."""

from typing import Any

import pytest
from msgspec import structs
from tests.unit.exchange.scene import KEY, SECRET, channel

from tidegate.core.failure import Failure, Kind
from tidegate.core.protocol import Protocol
from tidegate.exchange.admission import NO_KEY, admit, identify
from tidegate.protocols.base import Asked
from tidegate.routing.catalog import Candidate, Catalog, Key, digest

OTHER = Key(name="other", account="b", models=("m", "sim*"))
KEYS = {digest(SECRET): KEY, digest("other"): OTHER, digest("\udcff"): OTHER}
CATALOG = Catalog(
    [channel("a"), channel("b", Protocol.MESSAGES, models={"m": "up", "claude*": "claude*"})], keys=KEYS
)


@pytest.mark.parametrize(
    ("headers", "key"),
    [
        ({"authorization": f"Bearer {SECRET}"}, KEY),
        ({"authorization": f"bearer   {SECRET} "}, KEY),
        ({"x-api-key": f" {SECRET} "}, KEY),
        ({"authorization": "Bearer nobody", "x-api-key": SECRET}, KEY),
        ({"authorization": f"Bearer {SECRET}", "x-api-key": "other"}, KEY),
        ({"authorization": "Basic abc", "x-api-key": "other"}, OTHER),
        ({"authorization": "Bearer \udcff"}, OTHER),
        ({"authorization": f"Basic {SECRET}"}, NO_KEY),
        ({"authorization": SECRET}, NO_KEY),
        ({"authorization": "Bearer", "x-api-key": ""}, NO_KEY),
        ({"authorization": f"Bearer {SECRET}, Bearer {SECRET}"}, NO_KEY),
        ({}, NO_KEY),
    ],
)
def test_who(headers: dict[str, str], key: Key | Failure) -> None:
    assert identify(CATALOG, headers) == key


def asked(model: str, protocol: Protocol = Protocol.CHAT) -> Asked:
    return Asked(protocol=protocol, body=b"", members={}, model=model)


def refused(key: Key, model: str, protocol: Protocol = Protocol.CHAT) -> tuple[Kind, str]:
    found = admit(CATALOG, key, asked(model, protocol), counts=False)
    assert isinstance(found, Failure)
    return found.kind, found.message


def names(found: tuple[Candidate, ...] | Failure) -> list[str]:
    assert isinstance(found, tuple)
    return [candidate.channel.name for candidate in found]


@pytest.mark.parametrize("protocol", Protocol)
def test_channels_of_every_protocol_may_serve(protocol: Protocol) -> None:
    assert set(names(admit(CATALOG, KEY, asked("m", protocol), counts=False))) == {"a", "b"}
    assert names(admit(CATALOG, KEY, asked("claude-3", protocol), counts=False)) == ["b"]


@pytest.mark.parametrize("state", [{"response_ids": ("resp_1",)}, {"item_ids": ("msg_1",)}])
def test_what_an_upstream_has_stored_exists_only_in_its_protocol(state: Any) -> None:
    request = structs.replace(asked("m", Protocol.RESPONSES), **state)
    assert names(admit(CATALOG, KEY, request, counts=False)) == []
    stored = Catalog([channel("a"), channel("c", Protocol.RESPONSES)], keys=KEYS)
    assert names(admit(stored, KEY, request, counts=False)) == ["c"]


def test_refusals_in_the_caller_s_words() -> None:
    assert refused(KEY, "x") == (Kind.MODEL_NOT_FOUND, "The model `x` does not exist.")
    assert refused(KEY, "x", Protocol.MESSAGES) == (Kind.MODEL_NOT_FOUND, "model: x")
    assert refused(OTHER, "claude-3")[0] is Kind.PERMISSION
    assert refused(OTHER, "x")[0] is Kind.MODEL_NOT_FOUND, "what nobody serves is unknown, not forbidden"


def test_a_count_needs_no_channel_of_its_protocol() -> None:
    assert admit(CATALOG, KEY, asked("m", Protocol.RESPONSES), counts=True) == ()
    assert names(admit(CATALOG, KEY, asked("m", Protocol.MESSAGES), counts=True)) == ["b"]
    assert isinstance(admit(CATALOG, KEY, asked("x"), counts=True), Failure)
