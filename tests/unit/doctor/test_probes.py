import json

import pytest

from tidegate.core.protocol import Protocol
from tidegate.doctor.probes import plain_stream


@pytest.mark.parametrize(
    ("protocol", "path", "members"),
    [
        (Protocol.CHAT, "/chat/completions", {"messages"}),
        (Protocol.RESPONSES, "/responses", {"input", "store"}),
        (Protocol.MESSAGES, "/v1/messages", {"messages", "max_tokens"}),
    ],
)
def test_the_plain_stream_asks_in_the_protocol_s_words(
    protocol: Protocol, path: str, members: set[str]
) -> None:
    probe = plain_stream(protocol, "m")
    body = json.loads(probe.body)
    assert probe.path == path
    assert set(body) == members | {"model", "stream"}
    assert (body["model"], body["stream"]) == ("m", True)
