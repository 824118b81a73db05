"""The lines of the log: each belongs to its request, and none can steer a terminal."""

import asyncio
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.conftest import Start
from tests.harness import settings
from tests.harness.dialects import CHAT
from tests.harness.eventually import comes_true
from tests.harness.gateway import Gateway, environment, free_port
from tests.harness.script import body, stream
from tests.harness.upstream import ScriptedUpstream

EVIL = "a\x9b31m\u202eb\x7f"
_ERROR = json.dumps({"error": {"message": EVIL}}).encode()


def lines_of(gateway: Gateway, identifier: str | None) -> list[Any]:
    told = [json.loads(line) for line in gateway.log.splitlines() if line.startswith("{")]
    return [line for line in told if line.get("request_id") == identifier]


async def test_every_line_of_a_request_has_its_id_and_none_steers_a_terminal(
    start: Start, upstream: ScriptedUpstream, tmp_path: Path
) -> None:
    gateway = start(settings.standard(free_port(), str(tmp_path), upstream.base))
    upstream.always("chat-A", "chat-ab-1", body(_ERROR, 500))
    upstream.always("chat-B", "chat-ab-1", stream(CHAT.script().all))
    reply = await gateway.call(CHAT, CHAT.request("chat-ab-1"))
    assert reply.status == 200
    identifier = reply.header("x-request-id")
    other = await gateway.call(CHAT, CHAT.request(EVIL))
    assert other.status == 404

    async def told() -> bool:
        return bool(lines_of(gateway, other.header("x-request-id")))

    await comes_true(told)
    failed, ended = lines_of(gateway, identifier)
    assert (failed["message"], failed["channel"], failed["failure_kind"], failed["status"]) == (
        "attempt failed",
        "chat-A",
        "upstream",
        500,
    )
    assert (ended["message"], ended["channel"], ended["attempts"]) == ("request completed", "chat-B", 2)
    assert all(line.isprintable() for line in gateway.log.split("\n"))
    shown = await asyncio.to_thread(journal, gateway)
    assert all(line.isprintable() for line in shown)
    assert EVIL in [json.loads(line)["model"] for line in shown]


def journal(gateway: Gateway) -> list[str]:
    """What `tidegate logs --json` prints."""
    done = subprocess.run(
        [sys.executable, "-m", "tidegate", "logs", "--json", "--config", str(gateway.config_path)],
        capture_output=True,
        text=True,
        timeout=30,
        check=True,
        env=environment(),
        cwd=gateway.config_path.parent,
    )
    return done.stdout.removesuffix("\n").split("\n")
