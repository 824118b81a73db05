"""Who asks, and may they."""

import pytest
from tests.unit.exchange.scene import KEY, SECRET, channel

from tidegate.core.failure import Failure, Kind
from tidegate.core.protocol import Protocol
from tidegate.exchange.admission import NO_KEY, admit, identify
from tidegate.protocols.base import Asked
from tidegate.routing.catalog import Catalog, Key, digest

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


def test_the_channels_of_the_caller_s_protocol() -> None:
    for protocol, name in ((Protocol.CHAT, "a"), (Protocol.MESSAGES, "b")):
        found = admit(CATALOG, KEY, asked("m", protocol), counts=False)
        assert isinstance(found, tuple)
        assert [candidate.channel.name for candidate in found] == [name]


def test_refusals_in_the_caller_s_words() -> None:
    assert refused(KEY, "x") == (Kind.MODEL_NOT_FOUND, "The model `x` does not exist.")
    assert refused(KEY, "x", Protocol.MESSAGES) == (Kind.MODEL_NOT_FOUND, "model: x")
    assert refused(OTHER, "claude-3")[0] is Kind.PERMISSION
    assert refused(OTHER, "x")[0] is Kind.MODEL_NOT_FOUND, "what nobody serves is unknown, not forbidden"
    kind, why = refused(KEY, "claude-3")
    assert kind is Kind.MODEL_NOT_FOUND
    assert why == "The model `claude-3` is not served over Chat Completions: its channels speak messages."
    assert "Responses" in refused(KEY, "m", Protocol.RESPONSES)[1]
    assert "chat, messages" in refused(KEY, "m", Protocol.RESPONSES)[1]


def test_a_count_needs_no_channel_of_its_protocol() -> None:
    assert admit(CATALOG, KEY, asked("m", Protocol.RESPONSES), counts=True) == ()
    assert isinstance(admit(CATALOG, KEY, asked("x"), counts=True), Failure)
