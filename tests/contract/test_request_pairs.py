"""Every request of the corpus reaches a channel of every other protocol as the corpus says."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.unit.protocols.messages.conversing import SEAL, read, target

from tidegate.core.capability import ReplayReasoning
from tidegate.core.conversation import Conversation
from tidegate.core.events import Opaque
from tidegate.core.protocol import Protocol
from tidegate.protocols.chat.write_conversation import write_conversation as write_chat
from tidegate.protocols.conversion import Written
from tidegate.protocols.messages.write_conversation import write_conversation as write_messages
from tidegate.protocols.responses.write_conversation import write_conversation as write_responses

WRITE = {
    Protocol.CHAT: write_chat,
    Protocol.RESPONSES: write_responses,
    Protocol.MESSAGES: write_messages,
}
PAIRS = Path(__file__).parents[1] / "fixtures" / "pairs"
SCENARIOS = {path.parent.name: json.loads(path.read_text()) for path in sorted(PAIRS.glob("*/requests.json"))}
CASES = [
    (scenario, pair) for scenario, requests in SCENARIOS.items() for pair in requests.get("upstream", {})
]


def sealed(text: str, scenario: dict[str, Any]) -> str:
    """The requests with real carriers in place of the placeholders."""
    for placeholder, carrier in scenario.get("carriers", {}).items():
        opaque = Opaque(Protocol(carrier["origin"]), carrier["payload"])
        text = text.replace(placeholder, SEAL(opaque))
    return text


def without_null(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: without_null(each) for name, each in value.items() if each is not None}
    return [without_null(each) for each in value] if isinstance(value, list) else value


def same(found: Any, wanted: Any) -> bool:
    """Equal, but that a placeholder stands for any text that is not empty."""
    if wanted == "{{json_object_instruction}}":
        return isinstance(found, str) and found != ""
    if isinstance(wanted, dict) and isinstance(found, dict):
        return found.keys() == wanted.keys() and all(same(found[name], wanted[name]) for name in wanted)
    if isinstance(wanted, list) and isinstance(found, list):
        return len(found) == len(wanted) and all(map(same, found, wanted))
    return bool(found == wanted)


@pytest.mark.parametrize(("name", "pair"), CASES)
def test_the_channel_gets_what_the_corpus_says(name: str, pair: str) -> None:
    scenario = SCENARIOS[name]
    client, channel = pair.split("_to_")
    protocol, to = Protocol(client.partition(".")[0]), Protocol(channel)
    request = json.loads(sealed(json.dumps(scenario["client"][client]), scenario))
    conversation = read(protocol, request)
    assert isinstance(conversation, Conversation), conversation
    replay = (
        {"replay_reasoning": ReplayReasoning.TOOL_TURNS}
        if to is Protocol.CHAT and "carriers" in scenario
        else {}
    )
    written = WRITE[to](conversation, target(to, **replay))
    assert isinstance(written, Written), written
    found, wanted = without_null(json.loads(written.body)), without_null(scenario["upstream"][pair])
    assert same(found, wanted), f"\n{json.dumps(found)}\n{json.dumps(wanted)}"
