"""Every recorded request becomes what the recorded channel got, in all six cross pairs."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from tests.unit.protocols.asking import (
    PAIRS,
    READ,
    WRITE,
    asked,
    conversation_of,
    opener,
    said,
    target,
    told,
    without_nulls,
)

from tidegate.core.capability import ReplayReasoning
from tidegate.core.events import Opaque
from tidegate.core.protocol import Protocol
from tidegate.protocols.conversion import Written

ORIGINS = {"messages": Protocol.MESSAGES, "responses": Protocol.RESPONSES, "chat": Protocol.CHAT}
BUDGET = ["approximated:thinking.budget_tokens"]
WARNINGS = {
    ("05-reasoning-tool", "messages_to_chat"): BUDGET,
    ("05-reasoning-tool", "messages_to_responses"): BUDGET,
    ("12-multi-turn", "chat_to_messages"): [
        "clamped:temperature",
        "dropped:messages[1].content[1].image_url.detail",
    ],
    ("12-multi-turn", "messages_to_chat"): [
        "approximated:messages[2].content[1].is_error",
        "approximated:messages[2].content[1].content[1]",
    ],
    ("12-multi-turn", "messages_to_responses"): ["approximated:messages[2].content[1].is_error"],
    ("12-multi-turn", "responses_to_chat"): ["approximated:input[4].output[1]"],
    ("12-multi-turn", "responses_to_messages"): ["approximated:text.format", "dropped:text.verbosity"],
}


def scenario(name: str) -> dict[str, Any]:
    text = (PAIRS / name / "requests.json").read_text(encoding="utf-8")
    read: dict[str, Any] = json.loads(text.replace("{{carrier_", "tgr1.{{carrier_"))
    return read


def recorded() -> Iterator[tuple[str, str]]:
    for folder in sorted(PAIRS.iterdir()):
        if (folder / "requests.json").exists():
            yield from ((folder.name, pair) for pair in scenario(folder.name).get("upstream", {}))


def convert(name: str, pair: str) -> tuple[Written, Any]:
    read = scenario(name)
    client, _, channel = pair.partition("_to_")
    origin, goal = Protocol(client.partition(".")[0]), Protocol(channel)
    carriers = {
        sealed: Opaque(ORIGINS[carrier["origin"]], carrier["payload"])
        for sealed, carrier in read.get("carriers", {}).items()
    }
    replay = ReplayReasoning.TOOL_TURNS if name.startswith("13") else ReplayReasoning.NEVER
    found = conversation_of(READ[origin](asked(origin, read["client"][client]), opener(carriers)))
    written = WRITE[goal](found, target(goal, replay_reasoning=replay))
    assert isinstance(written, Written), written
    return written, read["upstream"][pair]


@pytest.mark.parametrize(("name", "pair"), list(recorded()))
def test_a_recorded_request_becomes_what_the_channel_got(name: str, pair: str) -> None:
    written, expected = convert(name, pair)
    sent = said(written)
    for block, wanted in zip(sent.get("system") or [], expected.get("system") or [], strict=False):
        if wanted["text"] == "{{json_object_instruction}}":
            assert block["text"]
            wanted["text"] = block["text"]
    assert without_nulls(sent) == without_nulls(expected)


@pytest.mark.parametrize(("name", "pair"), list(recorded()))
def test_a_recorded_request_loses_what_the_recording_says(name: str, pair: str) -> None:
    written, _ = convert(name, pair)
    audible = [entry for entry in told(written.losses) if not entry.startswith("(")]
    assert sorted(audible) == sorted(WARNINGS.get((name, pair), []))


def test_there_are_recordings() -> None:
    assert len(list(recorded())) > 70
