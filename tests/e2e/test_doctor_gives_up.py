"""The doctor asks only once what can be answered only one way, and refuses what cannot be sent."""

import asyncio
import json
import subprocess
import sys

import pytest
from tests.harness.gateway import environment

from tidegate.core.protocol import Protocol
from tidegate.core.secret import Secret
from tidegate.doctor.probes import probes
from tidegate.doctor.report import Report
from tidegate.routing.catalog import Channel
from tidegate.simulator.app import start
from tidegate.upstream.examination import examine

CHAT = Protocol.CHAT
KEY = "sk-the-right-one"


async def examined(base_url: str, key: str, patience: float) -> Report:
    channel = Channel(name="a", protocol=CHAT, base_url=base_url, api_key=Secret(key), models={})
    return await examine(channel, "sim", probes(CHAT, "sim"), {}, patience=patience)


def found(report: Report) -> list[str]:
    return [finding.rule for stream in report.streams for finding in stream.findings]


ALL = tuple(probe.name for probe in probes(CHAT, "sim"))


async def test_a_credential_that_is_refused_is_told_once() -> None:
    simulator = await start("127.0.0.1", 0, require_key=KEY)
    report = await examined(simulator.base_url(CHAT), "sk-another", patience=60.0)
    await simulator.close()
    assert found(report) == ["credential"]
    assert report.skipped == ALL[1:]


async def test_a_host_that_never_answers_is_asked_once() -> None:
    async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()
        writer.close()

    server = await asyncio.start_server(silent, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    report = await examined(f"http://127.0.0.1:{port}/v1", KEY, patience=3.0)
    server.close()
    assert found(report) == ["stalled"]
    assert report.skipped == ALL[1:]


def command(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "tidegate", "doctor", "http://127.0.0.1:1", "-p", "chat", *arguments],
        capture_output=True,
        text=True,
        timeout=100,
        env=environment(),
        check=False,
    )


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("-m", "m", "--header", "bad name: x"), "bad name"),
        (("-m", "m", "--header", "x: a\rb"), "control character"),
        (("-m", "m", "--header", "Content-Length: 5"), "itself"),
        (("-m", " "), "--model is empty"),
    ],
)
def test_what_cannot_be_sent_is_refused_before_anything_is_asked(
    arguments: tuple[str, ...], words: str
) -> None:
    done = command(*arguments, "--json")
    assert (done.returncode, done.stdout) == (2, "")
    assert words in done.stderr
    assert "Traceback" not in done.stderr


def test_the_json_is_whole_where_nothing_could_be_asked() -> None:
    done = command("-m", "m", "--json")
    assert done.returncode == 3, done.stderr
    report = json.loads(done.stdout)
    assert [finding["rule"] for finding in report["streams"][0]["findings"]] == ["unreachable"]
    assert report["skipped"] == list(ALL[1:])
