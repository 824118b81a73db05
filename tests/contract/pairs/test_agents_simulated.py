"""Coding agents on the simulated provider, which refuses what real ones refuse and calls their tools."""

import json

import pytest
from tests.contract.pairs import agents
from tests.contract.pairs.simulated import Simulated
from tests.harness import sse
from tests.harness.client import fetch
from tests.harness.dialects import MESSAGES, RESPONSES, SIDES, Side
from tests.harness.heard import Heard, gathered, heard
from tests.harness.notation import Json
from tests.harness.pairs import Pair
from tests.property.stream_grammars import check

from tidegate.core.protocol import Protocol

every_channel = pytest.mark.parametrize("channel", SIDES, ids=lambda side: side.name)
WISHES = "check_reasoning;reasoning=5;words=4"


async def _turn(provider: Simulated, pair: Pair, body: Json, wishes: str) -> Heard:
    """One streamed request, and what the agent makes of its answer."""
    port = int(provider.base_url.rpartition(":")[2])
    headers = [("content-type", "application/json"), ("authorization", f"Bearer {provider.key}")]
    client = pair.client
    if client is MESSAGES:
        headers.append(("anthropic-version", "2023-06-01"))
    content = json.dumps({**body, "model": provider.model(pair.channel, wishes)}).encode()
    reply = await fetch(port, "POST", client.path, headers, content)
    assert reply.status == 200, reply.body[:2000]
    if client is not pair.channel:
        check(Protocol(client.name), reply.body)
    return heard(client, gathered(client, sse.read(reply.body)))


@every_channel
@pytest.mark.parametrize("newest", [True, False], ids=["new names", "old names"])
async def test_claude_code(provider: Simulated, channel: Side, newest: bool) -> None:
    pair, first = Pair(MESSAGES, channel), agents.claude_code(newest=newest)
    told = await _turn(provider, pair, first, f"{WISHES};tool=Bash")
    (call,) = told.calls
    assert (call.name, told.finish) == ("Bash", "tool_use")
    assert json.loads(call.input)["command"]
    following = agents.claude_code_next(first, told.whole["content"])
    again = await _turn(provider, pair, following, "check_reasoning;reasoning=5")
    assert "README.md" in again.text
    assert again.finish == "end_turn"


GENERATIONS: dict[str, tuple[Json, str, tuple[str, str, str | None]]] = {
    "unknown name, function": (
        agents.codex_unknown(),
        "exec_command",
        ("exec_command", "function", None),
    ),
    "unknown name, namespace": (
        agents.codex_unknown(),
        "mcp__files__read",
        ("read", "function", "mcp__files"),
    ),
    "older name": (agents.codex_older(), "apply_patch", ("apply_patch", "custom", None)),
    "newest name": (agents.codex_newest(), "functions__exec", ("exec", "custom", "functions")),
}


@every_channel
@pytest.mark.parametrize("generation", GENERATIONS)
async def test_codex(provider: Simulated, channel: Side, generation: str) -> None:
    first, upstream_name, wanted = GENERATIONS[generation]
    pair = Pair(RESPONSES, channel)
    name = wanted[0] if channel is RESPONSES else upstream_name
    wrapped = wanted[1] == "custom" and channel is not RESPONSES
    free_text = ";tool_input=%7B%22input%22%3A%22free text%22%7D" if wrapped else ""
    told = await _turn(provider, pair, first, f"{WISHES};tool={name}{free_text}")
    (call,) = told.calls
    assert (call.name, call.kind, call.namespace) == wanted
    assert call.input == "free text" or not wrapped
    following = agents.codex_next(first, told.whole["output"])
    again = await _turn(provider, pair, following, "check_reasoning;reasoning=5")
    assert "README.md" in again.text
    assert again.finish == "completed"
