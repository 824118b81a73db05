import asyncio
import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.unit.cli.commands import Commands

from tidegate.core.protocol import Protocol
from tidegate.simulator.app import start

MODELS = {"quick": "sim", "cut": "sim;cut=clean;cut_event=2", "refuse": "sim;status=429", "sim*": "*"}


class Provider:
    """The simulated provider on a thread of its own."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever)
        self._thread.start()
        self._simulator = self._do(start("127.0.0.1", 0))

    def url(self, protocol: Protocol) -> str:
        found: str = self._simulator.base_url(protocol)
        return found

    def close(self) -> None:
        self._do(self._simulator.close())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)
        self._loop.close()

    def _do(self, work: Any) -> Any:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(10)


@pytest.fixture(scope="module")
def provider() -> Iterator[Provider]:
    running = Provider()
    yield running
    running.close()


@pytest.fixture
def commands(tmp_path: Path, provider: Provider, monkeypatch: pytest.MonkeyPatch) -> Commands:
    monkeypatch.setenv("no_proxy", "*")
    made = Commands(tmp_path)
    with made.config.open("a") as file:
        for protocol in Protocol:
            table = ", ".join(f'"{name}" = "{asked}"' for name, asked in MODELS.items())
            file.write(
                f'[[channels]]\nname = "{protocol.value}"\nprotocol = "{protocol.value}"\napi_key = "sim"\n'
                f'base_url = "{provider.url(protocol)}"\n'
                f"models = {{ {table} }}\n"
            )
    return made


@pytest.mark.parametrize("protocol", [protocol.value for protocol in Protocol])
def test_a_whole_stream_is_told(commands: Commands, protocol: str) -> None:
    assert "whole: ended with its end mark" in commands.good("channels", "test", protocol)
    assert "whole" in commands.good("channels", "test", protocol, "--model", "sim;ttft=1ms")


def test_a_refusal_is_told(commands: Commands) -> None:
    result = commands.run("channels", "test", "chat", "--model", "refuse")
    assert result.exit_code == 4, result.output


def test_a_stream_that_is_cut_is_told(commands: Commands) -> None:
    result = commands.run("channels", "test", "chat", "--model", "cut")
    assert result.exit_code == 5, result.output


def test_every_test_is_in_the_audit_log(commands: Commands) -> None:
    for model in ("quick", "refuse", "cut"):
        commands.run("channels", "test", "chat", "--model", model)
    rows = commands.rows("audit", "--kind", "channels", "--name", "chat")
    assert [(row["action"], row["changes"]["ok"][1]) for row in rows] == [
        ("test", False),
        ("test", False),
        ("test", True),
    ]
    assert [row["changes"]["model"][1] for row in rows] == [MODELS["cut"], MODELS["refuse"], MODELS["quick"]]


def test_what_cannot_be_tried_is_told(commands: Commands) -> None:
    assert "none of this name" in commands.bad("channels", "test", "nothing")
    assert "does not serve" in commands.bad("channels", "test", "filed", "--model", "gone")


def test_a_list_has_no_credential(commands: Commands) -> None:
    listed = commands.good("channels", "list")
    assert [line.split()[:3] for line in listed.splitlines()[1:3]] == [
        ["chat", "file", "chat"],
        ["filed", "file", "chat"],
    ]
    assert "sk-filed" not in listed + json.dumps(commands.rows("channels", "list"))


def test_a_channel_is_paused_and_resumed_whoever_declares_it(commands: Commands) -> None:
    for word, state in (("pause", "paused"), ("drain", "draining"), ("resume", "active")):
        commands.good("channels", word, "filed")
        [row] = [row for row in commands.rows("channels", "list") if row["name"] == "filed"]
        assert row["state"] == state
        assert row["state_changed_by"]
    assert "none of this name" in commands.bad("channels", "pause", "nothing")
