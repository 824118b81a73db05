"""Carriers come back whole to the account that got them, and to nobody else."""

import base64
from typing import Any

import msgspec
import pytest

from tidegate.core.events import Opaque
from tidegate.core.protocol import Protocol
from tidegate.protocols import carrier as module
from tidegate.protocols.carrier import MAX_CARRIER, MAX_DEPTH, last_group, opener, sealer
from tidegate.protocols.conversion import Carried

SECRET = b"secret of the server"
THINKING = {"type": "thinking", "thinking": "hm", "signature": "sig=="}
REDACTED = {"type": "redacted_thinking", "data": "ENC"}
ITEM = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "e", "extra": [None, 1.5]}
HELD = [
    Opaque(Protocol.MESSAGES, [THINKING, REDACTED]),
    Opaque(Protocol.RESPONSES, ITEM),
    Opaque(Protocol.CHAT, "I think, \u2028 therefore 😀"),
    Opaque(Protocol.CHAT, ""),
]
SEAL = sealer(SECRET, "acme", "group")
OPEN = opener(SECRET, "acme")


def forged(payload: bytes) -> str:
    """What only one who has the key could make."""
    sealed = module._cipher(SECRET, "acme").encrypt(payload, module._BOUND)
    return "tgr1." + base64.urlsafe_b64encode(sealed).rstrip(b"=").decode()


def carrying(**members: Any) -> str:
    return forged(msgspec.json.encode({"o": "m", "k": "group", "d": [THINKING], **members}))


@pytest.mark.parametrize("opaque", HELD)
def test_a_carrier_brings_back_what_it_holds_and_who_made_it(opaque: Opaque) -> None:
    assert OPEN(SEAL(opaque)) == Carried(opaque, "group")


@pytest.mark.parametrize("opaque", HELD)
def test_a_carrier_is_always_the_same_and_plain_in_any_json(opaque: Opaque) -> None:
    sealed = SEAL(opaque)
    assert sealed == sealer(SECRET, "acme", "group")(opaque)
    assert sealed.startswith("tgr1.")
    assert set(sealed[5:]) <= set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")


def test_a_carrier_does_not_show_what_it_holds() -> None:
    sealed = SEAL(HELD[0])
    raw = base64.urlsafe_b64decode(sealed[5:] + "=" * (-len(sealed[5:]) % 4))
    assert b"thinking" not in raw
    assert b"group" not in raw


def test_a_carrier_of_another_account_or_server_does_not_open() -> None:
    sealed = SEAL(HELD[0])
    assert opener(SECRET, "other")(sealed) is None
    assert opener(b"other", "acme")(sealed) is None


@pytest.mark.parametrize(
    "text",
    [
        "",
        "tgr1.",
        "tgr1.A",
        "tgr1.AAAA",
        "tgr1." + "A" * 100,
        "tgr1.\u00e9\u00e9\u00e9\u00e9",
        "tgr1.AA AA",
        "tgr1.AAAA=",
        "tgr2." + SEAL(HELD[0])[5:],
        SEAL(HELD[0])[5:],
        SEAL(HELD[0])[:-1],
        SEAL(HELD[0]) + "A",
        "tgr1." + SEAL(HELD[0])[6:],
        "tgr1." + "A" * MAX_CARRIER,
        '{"o":"m","k":"group","d":[]}',
        "\ud800",
        "tgr1.\ud800",
    ],
)
def test_what_was_not_made_here_does_not_open(text: str) -> None:
    assert OPEN(text) is None


def test_the_forger_of_these_tests_makes_real_ones() -> None:
    assert OPEN(carrying()) == Carried(Opaque(Protocol.MESSAGES, [THINKING]), "group")


@pytest.mark.parametrize(
    "held",
    [
        carrying(o="x"),
        carrying(o=""),
        carrying(o=1),
        carrying(k=None),
        carrying(d=None),
        carrying(d=[]),
        carrying(d={}),
        carrying(d=[[]]),
        carrying(d=[THINKING, {"type": "text", "text": "x"}]),
        carrying(d=[{"type": "tool_use", "id": "a", "name": "f", "input": {}}]),
        carrying(d=[{"type": "thinking", "thinking": "hm"}]),
        carrying(d=[{"type": "thinking", "thinking": 7, "signature": "s"}]),
        carrying(d=[{"type": "redacted_thinking", "data": None}]),
        carrying(o="r", d=[THINKING]),
        carrying(o="r", d={"type": "message"}),
        carrying(o="c", d=["x"]),
        forged(b"no json"),
        forged(b"[]"),
        forged(b"\xff"),
        forged(b""),
        forged(b'{"o":"r","k":"g","d":' + b"[" * 5000 + b"]" * 5000 + b"}"),
    ],
)
def test_what_is_no_reasoning_does_not_come_out(held: str) -> None:
    assert OPEN(held) is None


def nested(depth: int) -> Any:
    value: Any = "x"
    for _ in range(depth):
        value = [value]
    return value


def test_depth_is_limited_on_both_ways() -> None:
    fits = Opaque(Protocol.RESPONSES, {**ITEM, "extra": nested(MAX_DEPTH - 2)})
    deeper = Opaque(Protocol.RESPONSES, {**ITEM, "extra": nested(MAX_DEPTH - 1)})
    assert OPEN(SEAL(fits)) == Carried(fits, "group")
    assert OPEN(SEAL(deeper)) is None
    assert OPEN(carrying(o="r", d=deeper.value)) is None


def test_what_is_too_long_to_come_back_is_not_sent_out() -> None:
    long = Opaque(Protocol.CHAT, "x" * MAX_CARRIER)
    assert len(SEAL(long)) < 100
    assert OPEN(SEAL(long)) is None


def test_a_long_carrier_that_fits_comes_back() -> None:
    long = Opaque(Protocol.CHAT, "x" * (MAX_CARRIER * 3 // 4 - 100))
    assert OPEN(SEAL(long)) == Carried(long, "group")


def test_the_last_carrier_of_a_request_tells_who_thought() -> None:
    first, last = sealer(SECRET, "acme", "one")(HELD[0]), sealer(SECRET, "acme", "two")(HELD[1])
    body = msgspec.json.encode({"messages": [{"data": first}, {"data": last}], "user": "tgr1"})
    assert last_group(body, OPEN) == "two"
    assert last_group(body, opener(SECRET, "globex")) is None
    assert last_group(body.replace(b'"tgr1"', b'"tgr1.x"'), OPEN) is None
    assert last_group(b'{"data":"tgr1.', OPEN) is None
    assert last_group(b"{}", OPEN) is None
