"""The recorded scenarios, played through the running gateway."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.harness.client import Reply
from tests.harness.dialects import CHAT, SIDES, Side
from tests.harness.notation import Json
from tests.harness.script import Answer
from tests.harness.stage import Stage

FOLDER = Path(__file__).parents[2] / "fixtures" / "pairs"
SCENARIOS = sorted(path.name for path in FOLDER.iterdir() if path.is_dir())


def public(channel: Side) -> str:
    """The name by which callers ask for the recorded channel's model."""
    return f"recorded-{channel.name}"


def requests(scenario: str) -> Json:
    """The requests of a scenario, as recorded."""
    read: Json = json.loads((FOLDER / scenario / "requests.json").read_text())
    return read


def answers(suffix: str) -> Iterator[tuple[str, Side, Side]]:
    """Scenario, channel and client of every recorded answer of a cross pair."""
    for scenario in SCENARIOS:
        for channel in SIDES:
            for client in SIDES:
                if channel is not client and path(scenario, channel, client, suffix).exists():
                    yield scenario, channel, client


def path(scenario: str, channel: Side, client: Side, suffix: str) -> Path:
    """What the client must get."""
    return FOLDER / scenario / f"{channel.name}_to_{client.name}.{suffix}"


def without_nulls(value: Any) -> Any:
    """Members that are null are the same as absent."""
    if isinstance(value, dict):
        return {name: without_nulls(member) for name, member in value.items() if member is not None}
    return [without_nulls(member) for member in value] if isinstance(value, list) else value


@dataclass
class Corpus:
    """The gateway with the recorded channels; its requests must not overlap."""

    stage: Stage

    def wanted(self, scenario: str, channel: Side, client: Side, suffix: str) -> bytes:
        """What the client must get, with the model's name put in."""
        recorded = path(scenario, channel, client, suffix).read_bytes()
        return recorded.replace(b"MODEL_ID", public(channel).encode())

    async def ask(
        self, client: Side, channel: Side, body: Json, answer: Answer, *, replay: bool = False
    ) -> Reply:
        """The client's request, answered by the channel with this.

        With `replay`, a chat channel wants the reasoning of earlier turns back.
        """
        model = public(channel) + ("-replay" if replay and channel is CHAT else "")
        self.stage.upstream.script(public(channel), f"up-{channel.name}-model", answer)
        return await self.stage.gateway.call(client, {**body, "model": model})

    def got(self, channel: Side) -> Json:
        """The body that the channel got last."""
        return self.stage.upstream.requests(public(channel), f"up-{channel.name}-model")[-1].json()
