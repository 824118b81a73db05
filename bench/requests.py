"""How much CPU the conversion of a large request costs, in every cross pair: a real agent's long history."""

import gc
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from itertools import product
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from bench.process import on_core
from tidegate.core.capability import Capabilities
from tidegate.core.failure import Failure
from tidegate.core.protocol import Protocol
from tidegate.protocols.abilities import resolve
from tidegate.protocols.base import Asked
from tidegate.protocols.conversion import Target
from tidegate.protocols.pairs import halves_of
from tidegate.protocols.registry import dialect_of

_ROOT = Path(__file__).parent.parent
_TURNS = 100
"""Each is four messages: a question, a call, its result, an answer."""
_TEXT = (
    "The tide rises twice a day where the coast lies open to the ocean, says the table - and “rarely” "
    "twice\nin a bay\tthat is narrow, for there the swing of the basin itself decides what comes in. "
) * 14
_ARGUMENTS = {
    "path": "src/tide/table.py",
    "lines": [120, 240],
    "pattern": "def high_water",
    "note": _TEXT[:1800],
}
_SCHEMA = {
    "type": "object",
    "properties": {
        name: {"type": "string", "description": _TEXT[:120]} for name in ("path", "pattern", "note")
    },
    "required": ["path"],
    "additionalProperties": False,
}
_TOOLS = 20
_RUNS = 15


class Cost(Struct, frozen=True):
    """CPU time of one conversion: the client's body is read as a conversation, that is written for the
    channel, and the written body is checked as the channel's own protocol."""

    size: int
    """Of the client's body, in bytes."""
    cpu_ms: float


Requests = Mapping[str, Cost]
"""`client → channel` -> cost."""


def measured(core: int) -> Requests:
    """All six, in a process of its own on `core`."""
    environment = {**os.environ, "PYTHONPATH": f"{_ROOT / 'src'}:{_ROOT}"}
    done = subprocess.run(
        on_core(core, [sys.executable, "-m", "bench.requests"]),
        cwd=_ROOT,
        env=environment,
        stdout=subprocess.PIPE,
        check=True,
        timeout=120,
    )
    return msgspec.json.decode(done.stdout, type=dict[str, Cost])


def _costs() -> dict[str, Cost]:
    found = {}
    for client, channel in product(Protocol, Protocol):
        if client is not channel:
            body = msgspec.json.encode(_REQUESTS[client]())
            found[f"{client.value} → {channel.value}"] = Cost(len(body), _cpu_ms(client, channel, body))
    return found


def _cpu_ms(client: Protocol, channel: Protocol, body: bytes) -> float:
    asked = _asked(client, body)
    target = _target(channel)
    took = []
    for _ in range(_RUNS):
        gc.collect()
        begin = time.process_time_ns()
        _convert(asked, target, channel)
        took.append(time.process_time_ns() - begin)
    return statistics.median(took) / 1e6


def _convert(asked: Asked, target: Target, channel: Protocol) -> None:
    conversation = halves_of(asked.protocol).read_conversation(asked, lambda _: None)
    if isinstance(conversation, Failure):
        sys.exit(f"not read: {conversation}")
    written = halves_of(channel).write_conversation(conversation, target)
    if isinstance(written, Failure):
        sys.exit(f"not written: {written}")
    _asked(channel, written.body)


def _asked(protocol: Protocol, body: bytes) -> Asked:
    asked = dialect_of(protocol).read_request(body)
    if isinstance(asked, Failure):
        sys.exit(f"not valid: {asked}")
    return asked


def _target(channel: Protocol) -> Target:
    return Target(
        model="claude-sonnet-5",
        group="bench",
        abilities=resolve(channel, "claude-sonnet-5", Capabilities(), Capabilities()),
        max_output_tokens=32_000,
        stream=True,
    )


def _chat() -> dict[str, Any]:
    messages: list[dict[str, Any]] = [{"role": "system", "content": _TEXT}]
    arguments = msgspec.json.encode(_ARGUMENTS).decode()
    for turn in range(_TURNS):
        call = {
            "id": f"call_{turn}",
            "type": "function",
            "function": {"name": "read_0", "arguments": arguments},
        }
        messages += [
            {"role": "user", "content": [{"type": "text", "text": _TEXT}]},
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": f"call_{turn}", "content": _TEXT},
            {"role": "assistant", "content": _TEXT},
        ]
    messages.append({"role": "user", "content": "Go on."})
    function = {"description": _TEXT[:400], "parameters": _SCHEMA}
    tools = [{"type": "function", "function": {"name": f"read_{n}", **function}} for n in range(_TOOLS)]
    return {"model": "m", "stream": True, "messages": messages, "tools": tools}


def _responses() -> dict[str, Any]:
    items: list[dict[str, Any]] = []
    arguments = msgspec.json.encode(_ARGUMENTS).decode()
    for turn in range(_TURNS):
        call = {"type": "function_call", "call_id": f"call_{turn}", "name": "read_0", "arguments": arguments}
        output = [{"type": "output_text", "text": _TEXT, "annotations": []}]
        items += [
            {"type": "message", "role": "user", "content": [{"type": "input_text", "text": _TEXT}]},
            call,
            {"type": "function_call_output", "call_id": f"call_{turn}", "output": _TEXT},
            {
                "type": "message",
                "id": f"msg_{turn}",
                "role": "assistant",
                "status": "completed",
                "content": output,
            },
        ]
    items.append({"type": "message", "role": "user", "content": "Go on."})
    shell = {"type": "function", "description": _TEXT[:400], "parameters": _SCHEMA, "strict": True}
    tools = [{"name": f"read_{n}", **shell} for n in range(_TOOLS)]
    return {"model": "m", "stream": True, "instructions": _TEXT, "input": items, "tools": tools}


def _messages() -> dict[str, Any]:
    messages: list[dict[str, Any]] = []
    for turn in range(_TURNS):
        call = {"type": "tool_use", "id": f"toolu_{turn}", "name": "read_0", "input": _ARGUMENTS}
        result = {
            "type": "tool_result",
            "tool_use_id": f"toolu_{turn}",
            "content": [{"type": "text", "text": _TEXT}],
        }
        messages += [
            {"role": "user", "content": [{"type": "text", "text": _TEXT}]},
            {"role": "assistant", "content": [call]},
            {"role": "user", "content": [result]},
            {"role": "assistant", "content": [{"type": "text", "text": _TEXT}]},
        ]
    messages.append({"role": "user", "content": "Go on."})
    shell = {"description": _TEXT[:400], "input_schema": _SCHEMA}
    tools = [{"name": f"read_{n}", **shell} for n in range(_TOOLS)]
    system = [{"type": "text", "text": _TEXT, "cache_control": {"type": "ephemeral"}}]
    body = {"model": "m", "stream": True, "max_tokens": 32_000, "system": system}
    return {**body, "messages": messages, "tools": tools}


_REQUESTS: dict[Protocol, Callable[[], dict[str, Any]]] = {
    Protocol.CHAT: _chat,
    Protocol.RESPONSES: _responses,
    Protocol.MESSAGES: _messages,
}


if __name__ == "__main__":
    os.write(1, msgspec.json.encode(_costs()))
