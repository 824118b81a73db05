"""What the demo prints can be pasted as it stands, and its console shows the requests."""

import json
import os
import re
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from typing import Any

import pytest
from tests.harness.gateway import environment
from tests.manual.blocks import ROOT

WITHIN = 60
ENDS = ("data: [DONE]", "response.completed", "message_stop")


class Demo:
    """A running `tidegate demo`, and what it printed."""

    def __init__(self, printed: str) -> None:
        self.printed = printed
        found = re.search(
            r"base URL +(\S+).*\n +key +(\S+)\n.*\n +console +(\S+).*\n +token +(\S+)", printed, re.DOTALL
        )
        assert found, printed
        self.base_url, self.key, self.console, self.token = found.groups()
        self.sections = {
            title: body.strip()
            for title, body in re.findall(r"^# ([^\n]+)\n(.*?)(?=^# |\Z)", printed, re.M | re.S)
        }

    def bash(self, script: str) -> str:
        """What the script printed; it may fail, since some are meant to show a failure."""
        path = f"{os.path.dirname(sys.executable)}:{os.environ['PATH']}"
        done = subprocess.run(
            ["bash", "-c", script],
            env=environment() | {"PATH": path},
            capture_output=True,
            text=True,
            timeout=WITHIN,
            check=False,
        )
        assert "Traceback" not in done.stderr, done.stderr
        return done.stdout + done.stderr

    def admin(self, path: str) -> Any:
        """An answer of the admin API, with the token that was printed."""
        headers = {"authorization": f"Bearer {self.token}"}
        request = urllib.request.Request(f"{self.base_url}/admin/v1/{path}", headers=headers)
        with urllib.request.urlopen(request, timeout=10) as answer:
            return json.load(answer)


@pytest.fixture(scope="module")
def demo() -> Iterator[Demo]:
    command = [sys.executable, "-m", "tidegate", "demo", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, cwd=ROOT, env=environment(), text=True) as process:
        assert process.stdout
        try:
            lines: list[str] = []
            while "  token " not in "".join(lines[-1:]):
                line = process.stdout.readline()
                assert line, "the demo ended before it had told everything"
                lines.append(line)
            yield Demo("".join(lines))
        finally:
            process.send_signal(signal.SIGTERM)
        assert process.wait(WITHIN) == 0


def test_every_curl_command_streams(demo: Demo) -> None:
    commands = {title: body for title, body in demo.sections.items() if title.endswith("curl")}
    assert len(commands) == 3
    for title, command in commands.items():
        output = demo.bash(command)
        assert any(end in output for end in ENDS), f"{title}: {output}"


def test_its_own_client_shows_a_whole_stream_and_a_broken_one(demo: Demo) -> None:
    output = demo.bash(demo.sections["Tidegate's own client"])
    assert "whole: ended with its end mark message_stop" in output
    assert "failed: ended by an error event" in output


def test_its_programs_can_be_pasted_into_a_python_prompt(demo: Demo) -> None:
    programs = [body for title, body in demo.sections.items() if title.startswith("Python: paste")]
    for program, answers in zip(programs, (2, 1), strict=True):
        done = subprocess.run(
            [sys.executable, "-i", "-q", "-c", ""],
            input=program + "\n\n",
            capture_output=True,
            text=True,
            timeout=WITHIN,
            check=False,
        )
        assert "Error" not in done.stderr, done.stderr
        assert done.stdout.count("This is the simulated provider") == answers, done.stdout + done.stderr


def test_its_console_is_there_and_its_requests_can_be_seen_with_the_token(demo: Demo) -> None:
    with urllib.request.urlopen(demo.console, timeout=10) as page:
        assert b"<script" in page.read()
    demo.bash(demo.sections["Messages with curl"])
    deadline = time.monotonic() + 10
    while not (rows := demo.admin("requests?protocol=messages&outcome=completed")["data"]):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    assert rows[0]["cost"] != "0.000000000"
