import json

import pytest

from tidegate.core.protocol import Protocol
from tidegate.simulator.trouble import Kind, Trouble, envelope, status_of, trouble_of, words_of


@pytest.mark.parametrize("protocol", list(Protocol))
@pytest.mark.parametrize("kind", list(Kind))
def test_every_kind_has_an_envelope_in_every_protocol(protocol: Protocol, kind: Kind) -> None:
    trouble = trouble_of(protocol, kind=kind, status=None)
    body = json.loads(envelope(protocol, trouble, "req_1"))
    if protocol is Protocol.MESSAGES:
        assert (body["type"], body["request_id"]) == ("error", "req_1")
        assert set(body["error"]) == {"type", "message"}
    else:
        assert set(body["error"]) == {"message", "type", "param", "code"}
    assert 400 <= trouble.status < 600


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, Kind.INVALID),
        (401, Kind.AUTH),
        (404, Kind.MODEL),
        (418, Kind.INVALID),
        (422, Kind.INVALID),
        (429, Kind.RATE_LIMIT),
        (500, Kind.SERVER),
        (502, Kind.SERVER),
        (503, Kind.OVERLOADED),
        (529, Kind.OVERLOADED),
    ],
)
def test_a_status_alone_names_the_kind(status: int, kind: Kind) -> None:
    found = trouble_of(Protocol.CHAT, kind=None, status=status)
    assert (found.kind, found.status) == (kind, status)


def test_status_and_kind_may_disagree() -> None:
    assert trouble_of(Protocol.CHAT, kind=Kind.QUOTA, status=403, message="m") == Trouble(
        Kind.QUOTA, 403, "m"
    )


def test_an_overload_is_529_at_anthropic_only() -> None:
    assert status_of(Protocol.MESSAGES, Kind.OVERLOADED) == 529
    assert status_of(Protocol.CHAT, Kind.OVERLOADED) == words_of(Kind.OVERLOADED).status == 503


def test_a_code_of_its_own() -> None:
    trouble = Trouble(Kind.INVALID, 400, "m", "p", "c")
    assert json.loads(envelope(Protocol.CHAT, trouble, "r"))["error"]["code"] == "c"
