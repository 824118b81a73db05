"""Each protocol finds its own halves of a conversion."""

import pytest
from tests.unit.protocols.encoding import context

from tidegate.core.protocol import Protocol
from tidegate.protocols.pairs import halves_of


@pytest.mark.parametrize("protocol", Protocol)
def test_halves_are_of_one_protocol(protocol: Protocol) -> None:
    halves = halves_of(protocol)
    parts = [halves.read_conversation, halves.write_conversation, halves.decoder, halves.encoder]
    assert {part.__module__.split(".")[2] for part in parts} == {protocol.value}
    assert halves.decoder() is not halves.decoder(), "one for each attempt"
    client = Protocol.CHAT if protocol is not Protocol.CHAT else Protocol.MESSAGES
    assert halves.encoder(context(protocol, client)).finish_reason is None
