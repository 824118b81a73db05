"""The doctor finds nothing on the gateway, whatever a channel speaks; and what it tells as a command."""

import json
import subprocess
import sys
from collections.abc import Iterator

import pytest
from tests.harness import settings
from tests.harness.dialects import SIDES, Side
from tests.harness.gateway import Gateway, environment, free_port
from tests.harness.simulated import Simulated

from tidegate.core.protocol import Protocol
from tidegate.core.secret import Secret
from tidegate.doctor.probes import probes
from tidegate.routing.catalog import Channel
from tidegate.upstream.examination import examine

OF_TIME = {"unflushed", "lumps", "slow-first-byte", "silence"}
"""What a machine that is busy with other things brings about."""


@pytest.fixture(scope="module")
def simulated(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Simulated]:
    running = Simulated(tmp_path_factory.mktemp("simulated"))
    yield running
    running.stop()


@pytest.fixture(scope="module")
def served(simulated: Simulated, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gateway]:
    """A gateway whose models `TAG` and `TAG-thinks` are on a channel of that protocol."""
    folder = tmp_path_factory.mktemp("served")
    config = settings.server(free_port(), str(folder))
    config["channels"] = [
        settings.channel(
            side.tag,
            side.tag,
            simulated.base,
            {side.tag: "sim;dated", f"{side.tag}-thinks": "sim;reasoning=4;words=60"},
        )
        for side in SIDES
    ]
    running = Gateway(config, folder).wait_ready()
    yield running
    running.stop()


def base_url(gateway: Gateway, protocol: Protocol) -> str:
    return f"http://127.0.0.1:{gateway.port}" + ("" if protocol is Protocol.MESSAGES else "/v1")


@pytest.mark.parametrize("thinks", ["", "-thinks"])
@pytest.mark.parametrize("side", SIDES, ids=lambda side: side.tag)
@pytest.mark.parametrize("protocol", Protocol)
async def test_nothing_is_found_on_any_pair(
    served: Gateway, protocol: Protocol, side: Side, thinks: str
) -> None:
    model = f"{side.tag}{thinks}"
    channel = Channel(
        name="gateway",
        protocol=protocol,
        base_url=base_url(served, protocol),
        api_key=Secret(settings.KEY),
        models={},
    )
    report = await examine(channel, model, probes(protocol, model), {}, patience=20.0)
    found = [finding for stream in report.streams for finding in stream.findings]
    assert [finding for finding in found if finding.rule not in OF_TIME] == []


def command(*arguments: str, **more: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "tidegate", "doctor", *arguments],
        capture_output=True,
        text=True,
        timeout=60,
        env=environment() | more,
        check=False,
    )


def test_the_command_tells_a_good_endpoint(served: Gateway) -> None:
    url = base_url(served, Protocol.CHAT)
    done = command(url, "-p", "chat", "-m", "chat", "--key", "env:E2E_KEY", "--json", "--only", "plain")
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert (report["target"], report["ok"], len(report["streams"])) == (url, True, 1)
    assert report["streams"][0]["findings"] == []


def test_the_command_tells_what_departs_without_the_credential(simulated: Simulated) -> None:
    key = "sk-credential-nobody-may-see"
    model = f"sim;cut_after=2;message={key}"
    done = command(simulated.base, "-p", "messages", "-m", model, "--only", "plain", TIDEGATE_KEY=key)
    assert done.returncode == 1
    assert "end-mark" in done.stdout
    assert "departs" in done.stdout
    assert key not in done.stdout.partition("\n")[2] + done.stderr


def test_warnings_count_only_when_they_are_to(simulated: Simulated) -> None:
    asked = (simulated.base, "-p", "chat", "-m", "sim;crlf", "--only", "plain")
    assert command(*asked).returncode == 0
    assert command(*asked, "--strict").returncode == 1


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("http://127.0.0.1:1", "-p", "chat", "-m", "m"), 3, "no connection"),
        (("http://127.0.0.1:1", "-p", "telepathy", "-m", "m"), 2, "telepathy"),
        (("ftp://127.0.0.1", "-p", "chat", "-m", "m"), 2, "http"),
        (("http://127.0.0.1:1", "-p", "chat", "-m", "m", "--key", "env:NOT_SET_AT_ALL"), 2, "NOT_SET_AT_ALL"),
        (("http://127.0.0.1:1", "-p", "chat", "-m", "m", "--only", "nothing"), 2, "nothing"),
        (("http://127.0.0.1:1", "-p", "chat", "-m", "m", "--header", "no-colon"), 2, "name: value"),
        (("http://127.0.0.1:1", "-p", "chat", "-m", "m", "--timeout", "0"), 2, "timeout"),
    ],
)
def test_what_cannot_be_done_is_told(arguments: tuple[str, ...], code: int, words: str) -> None:
    done = command(*arguments)
    assert done.returncode == code, done.stdout + done.stderr
    assert words in done.stdout + done.stderr
    assert "Traceback" not in done.stderr
