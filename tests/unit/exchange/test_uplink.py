"""What of a caller's headers goes up."""

from itertools import permutations

import pytest
from tests.unit.exchange.scene import Scene, channel

from tidegate.core.protocol import Protocol
from tidegate.core.secret import Secret
from tidegate.exchange.uplink import headers_up, idempotency_key

OWN = Secret("own")
CAME = {
    "authorization": "Bearer sk-tg-caller",
    "x-api-key": "sk-tg-caller",
    "cookie": "c=1",
    "x-goog-api-key": "g",
    "proxy-authorization": "p",
    "x-forwarded-for": "10.0.0.1",
    "content-type": "text/plain",
    "content-encoding": "gzip",
    "accept": "*/*",
    "anthropic-version": "2023-06-01",
    "anthropic-beta": "a, b",
    "openai-beta": "x=1",
    "openai-organization": "org",
    "user-agent": "sdk/1",
    "x-stainless-lang": "python",
    "x-codex": "lite",
}


def up(
    protocol: Protocol, *forward: str, stream: bool = False, to: Protocol | None = None, **more: str
) -> list[tuple[str, str]]:
    headers = {**CAME, **{name.replace("_", "-"): value for name, value in more.items()}}
    incoming = Scene().incoming(protocol, **headers)
    target = channel(protocol=to or protocol, forward_headers=forward)
    return list(headers_up(incoming, "acme", target, OWN, stream=stream))


JSON = ("content-type", "application/json")


@pytest.mark.parametrize(
    ("protocol", "allowed"),
    [
        (Protocol.CHAT, [("openai-beta", "x=1"), ("user-agent", "sdk/1")]),
        (Protocol.RESPONSES, [("openai-beta", "x=1"), ("user-agent", "sdk/1")]),
        (
            Protocol.MESSAGES,
            [("anthropic-version", "2023-06-01"), ("anthropic-beta", "a, b"), ("user-agent", "sdk/1")],
        ),
    ],
)
async def test_only_the_list_goes_up(protocol: Protocol, allowed: list[tuple[str, str]]) -> None:
    assert up(protocol) == [JSON, ("accept", "application/json"), *allowed]
    assert up(protocol, stream=True)[1] == ("accept", "text/event-stream")


async def test_a_channel_may_let_more_through_but_nothing_twice() -> None:
    forward = ("x-codex", "x-missing", "user-agent", "content-type", "accept", "idempotency-key")
    headers = up(Protocol.CHAT, *forward, idempotency_key="k")
    names = [name for name, _ in headers]
    assert ("x-codex", "lite") in headers
    assert len(names) == len(set(names))
    assert JSON in headers
    assert dict(headers)["idempotency-key"] != "k"


@pytest.mark.parametrize(("client", "upstream"), list(permutations(Protocol, 2)))
async def test_nothing_of_the_caller_s_goes_to_another_protocol(client: Protocol, upstream: Protocol) -> None:
    headers = up(client, "x-codex", to=upstream, stream=True, idempotency_key="k")
    assert headers == [JSON, ("accept", "text/event-stream")]


async def test_an_idempotency_key_goes_up_as_a_hash_bound_to_the_account() -> None:
    [(_, sent)] = [pair for pair in up(Protocol.CHAT, idempotency_key="k") if pair[0] == "idempotency-key"]
    assert sent == idempotency_key("k", "acme", OWN)
    assert "k" not in sent.removeprefix("tg-")
    others = {
        idempotency_key("k", "other", OWN),
        idempotency_key("k2", "acme", OWN),
        idempotency_key("k", "acme", Secret("another")),
        idempotency_key("e\0k", "acm", OWN),
    }
    assert sent not in others
    assert len(others) == 4
    assert sent.isascii()
    assert idempotency_key("\udcff", "acme", OWN).isascii(), "bytes that are no text are a key too"
