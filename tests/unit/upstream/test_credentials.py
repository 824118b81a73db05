import pytest

from tidegate.core.protocol import Protocol
from tidegate.core.secret import Secret
from tidegate.upstream.credentials import credential, expected_headers


@pytest.mark.parametrize(
    ("protocol", "header"),
    [
        (Protocol.CHAT, ("authorization", "Bearer k")),
        (Protocol.RESPONSES, ("authorization", "Bearer k")),
        (Protocol.MESSAGES, ("x-api-key", "k")),
    ],
)
def test_each_protocol_signs_its_own_way(protocol: Protocol, header: tuple[str, str]) -> None:
    assert credential(protocol, Secret("k")) == header
    assert credential(protocol, Secret("")) is None


def test_only_messages_names_a_version() -> None:
    assert expected_headers(Protocol.MESSAGES) == (("anthropic-version", "2023-06-01"),)
    assert expected_headers(Protocol.CHAT) == expected_headers(Protocol.RESPONSES) == ()
