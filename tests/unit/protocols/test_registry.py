"""Each protocol finds its own dialect."""

import pytest
from tests.unit.protocols.frames import SEED, asked

from tidegate.core.failure import Failure, Kind
from tidegate.core.protocol import Protocol
from tidegate.protocols.base import Asked
from tidegate.protocols.registry import count_dialect, dialect_of

PATHS = {
    Protocol.CHAT: "/chat/completions",
    Protocol.RESPONSES: "/responses",
    Protocol.MESSAGES: "/v1/messages",
}


@pytest.mark.parametrize("protocol", Protocol)
def test_a_dialect_speaks_its_own_protocol_throughout(protocol: Protocol) -> None:
    dialect = dialect_of(protocol)
    assert (dialect.protocol, dialect.path) == (protocol, PATHS[protocol])
    parts = [dialect.read_request, dialect.write_request, dialect.repair, dialect.write_repaired]
    parts += [dialect.prompt_texts, dialect.watcher, dialect.read_whole, dialect.replay, dialect.assemble]
    parts += [dialect.read_refusal, dialect.error_answer]
    assert {part.__module__.split(".")[-2] for part in parts} == {protocol.value}
    assert dialect.watcher(asked(protocol), str, SEED).ids == []


def test_a_count_is_messages_without_a_limit() -> None:
    body = b'{"model":"m","messages":[{"role":"user","content":"x"}]}'
    assert isinstance(count_dialect().read_request(body), Asked)
    refused = dialect_of(Protocol.MESSAGES).read_request(body)
    assert isinstance(refused, Failure)
    assert refused.kind is Kind.INVALID_REQUEST
    assert count_dialect().path == "/v1/messages"
