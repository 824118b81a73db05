"""What the fuzzing starts from: recorded requests and answers, and some requests that the recordings lack."""

import json
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.unit.protocols.asking import target

from tidegate.core.conversation import Conversation
from tidegate.core.events import Opaque
from tidegate.core.protocol import Protocol
from tidegate.protocols.base import Asked
from tidegate.protocols.carrier import sealer
from tidegate.protocols.conversion import Written
from tidegate.protocols.pairs import halves_of
from tidegate.protocols.registry import dialect_of

FIXTURES = Path(__file__).parents[1] / "fixtures"
SECRET = b"a secret of the fuzz target"
_ORIGINS = {"messages": Protocol.MESSAGES, "responses": Protocol.RESPONSES, "chat": Protocol.CHAT}
_WEATHER = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
_HI = [{"role": "user", "content": "hi"}]
_MORE: list[tuple[Protocol, dict[str, Any]]] = [
    (Protocol.CHAT, {"messages": _HI, "stop": ["Hel", "lo wor"], "stream_options": {"include_usage": True}}),
    (Protocol.CHAT, {"messages": _HI, "functions": [{"name": "get_weather", "parameters": _WEATHER}]}),
    (Protocol.CHAT, {"messages": _HI, "tools": [{"type": "custom", "custom": {"name": "get_weather"}}]}),
    (Protocol.CHAT, {"messages": _HI, "reasoning_effort": "low", "logprobs": False}),
    (Protocol.RESPONSES, {"input": "hi", "reasoning": {"summary": "auto", "effort": "low"}}),
    (Protocol.RESPONSES, {"input": "hi", "tools": [{"type": "custom", "name": "get_weather"}]}),
    (
        Protocol.RESPONSES,
        {
            "input": "hi",
            "tools": [
                {
                    "type": "namespace",
                    "name": "get",
                    "description": "Gets things.",
                    "tools": [{"type": "function", "name": "weather", "parameters": _WEATHER}],
                }
            ],
        },
    ),
    (Protocol.RESPONSES, {"input": "hi", "text": {"format": {"type": "json_object"}}, "include": []}),
    (
        Protocol.MESSAGES,
        {"messages": _HI, "max_tokens": 9, "stop_sequences": ["Hel", "o", "a", "b", "c", "1"]},
    ),
    (
        Protocol.MESSAGES,
        {"messages": _HI, "max_tokens": 2048, "thinking": {"type": "enabled", "budget_tokens": 1024}},
    ),
    (Protocol.MESSAGES, {"messages": _HI, "max_tokens": 9, "system": [{"type": "text", "text": "s"}]}),
]


def requests() -> dict[Protocol, list[bytes]]:
    """Requests per client, all with a stream."""
    found: dict[Protocol, list[bytes]] = defaultdict(list)
    for client, body in [*_recorded(), *_MORE]:
        text = json.dumps({**body, "model": "public", "stream": True}).encode()
        if text not in found[client]:
            found[client].append(text)
    return found


def crossings() -> dict[tuple[Protocol, Protocol], list[bytes]]:
    """Requests per client and channel that the channel can be told."""
    return {
        (client, channel): [body for body in bodies if _crosses(client, channel, body)]
        for client, bodies in requests().items()
        for channel in Protocol
        if channel is not client
    }


def answers(suffix: str) -> dict[Protocol, list[bytes]]:
    """Answers per upstream: streams (`sse`) or whole (`json`)."""
    found: dict[Protocol, list[bytes]] = {protocol: [] for protocol in Protocol}
    for path in sorted(FIXTURES.rglob(f"*.{suffix}")):
        if path.name == "requests.json":
            continue
        body = path.read_bytes()
        for protocol in Protocol:
            spoken = path.stem in (f"upstream.{protocol.value}", protocol.value)
            spoken = spoken or path.stem.endswith(f"_to_{protocol.value}")
            if (spoken or path.stem.startswith(f"{protocol.value}-")) and body not in found[protocol]:
                found[protocol].append(body)
    return found


def _recorded() -> Iterator[tuple[Protocol, dict[str, Any]]]:
    seal = sealer(SECRET, "default", "up")
    for path in sorted((FIXTURES / "pairs").glob("*/requests.json")):
        text = path.read_text()
        for name, carrier in json.loads(text).get("carriers", {}).items():
            text = text.replace(name, seal(Opaque(_ORIGINS[carrier["origin"]], carrier["payload"])))
        for client, body in json.loads(text).get("client", {}).items():
            yield Protocol(client.partition(".")[0]), body


def _crosses(client: Protocol, channel: Protocol, body: bytes) -> bool:
    asked = dialect_of(client).read_request(body)
    if not isinstance(asked, Asked):
        return False
    conversation = halves_of(client).read_conversation(asked, lambda _: None)
    if not isinstance(conversation, Conversation):
        return False
    return isinstance(halves_of(channel).write_conversation(conversation, target(channel)), Written)
