"""What the README, the quickstart and the demo tell to paste works as it stands, against a running demo."""

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "docs" / "quickstart.md"]
FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
WITHIN = 60
ENDS = ("data: [DONE]", "response.completed", "message_stop", "usage: ")
"""What the output of a command that streamed has in it."""


def blocks(page: Path, language: str) -> list[str]:
    return [body for kind, body in FENCE.findall(page.read_text()) if kind == language]


REQUESTS = [
    pytest.param(command, id=f"{page.stem}-{number}")
    for page in PAGES
    for number, block in enumerate(blocks(page, "sh"))
    for command in re.split(r"\n(?=tidegate |curl )", block.strip())
    if command.startswith(("curl ", "tidegate stream "))
]
PROGRAMS = [
    pytest.param(block, id=f"{page.stem}-{number}")
    for page in PAGES
    for number, block in enumerate(blocks(page, "python"))
]
CONFIGS = [pytest.param(block, id=page.stem) for page in PAGES for block in blocks(page, "toml")]


class Demo:
    """A running `tidegate demo`, and what it printed."""

    def __init__(self, printed: str) -> None:
        self.printed = printed
        found = re.search(r"base URL +(\S+).*?\n +key +(\S+)", printed, re.DOTALL)
        assert found, printed
        self.base_url, self.key = found.groups()
        self.sections = {
            title: body.strip()
            for title, body in re.findall(r"^# ([^\n]+)\n(.*?)(?=^# |\Z)", printed, re.M | re.S)
        }

    def run(self, *command: str) -> str:
        """What the command printed; it may fail, since some are meant to show a failure."""
        path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
        more = {"TIDEGATE_BASE_URL": self.base_url, "TIDEGATE_KEY": self.key, "PATH": path}
        done = subprocess.run(
            command, env=os.environ | more, capture_output=True, text=True, timeout=WITHIN, check=False
        )
        assert "Traceback" not in done.stderr, done.stderr
        return done.stdout + done.stderr


@pytest.fixture(scope="module")
def demo() -> Iterator[Demo]:
    command = [sys.executable, "-m", "tidegate", "demo", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, cwd=ROOT, text=True) as process:
        assert process.stdout
        try:
            lines: list[str] = []
            while "text_stream" not in "".join(lines[-2:]):
                line = process.stdout.readline()
                assert line, "the demo ended before it had told everything"
                lines.append(line)
            lines.append(process.stdout.readline())
            yield Demo("".join(lines))
        finally:
            process.send_signal(signal.SIGTERM)
        assert process.wait(WITHIN) == 0


def test_there_is_something_to_paste() -> None:
    assert (len(REQUESTS), len(PROGRAMS), len(CONFIGS)) == (10, 2, 3)


@pytest.mark.parametrize("command", REQUESTS)
def test_each_request_of_the_pages_is_answered(demo: Demo, command: str) -> None:
    output = demo.run("bash", "-c", command)
    if "error=overloaded" in command:
        assert "answered 503" in output
    else:
        assert any(end in output for end in ENDS), output


@pytest.mark.parametrize("program", PROGRAMS)
def test_each_program_of_the_pages_prints_the_answer(demo: Demo, program: str) -> None:
    assert "This is the simulated provider" in demo.run(sys.executable, "-c", program)


@pytest.mark.parametrize("config", CONFIGS)
def test_each_configuration_of_the_pages_is_good(tmp_path: Path, config: str) -> None:
    path = tmp_path / "tidegate.toml"
    path.write_text(config)
    values = {name: "sk-tg-0123456789abcdef0123" + name.lower() for name in re.findall(r"env:(\w+)", config)}
    command = [sys.executable, "-m", "tidegate", "check-config", str(path)]
    done = subprocess.run(
        command, env=os.environ | values, capture_output=True, text=True, timeout=WITHIN, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "0 warnings" in done.stdout, done.stderr


def test_every_curl_command_that_the_demo_prints_streams(demo: Demo) -> None:
    commands = {title: body for title, body in demo.sections.items() if title.endswith("curl")}
    assert len(commands) == 3
    for title, command in commands.items():
        output = demo.run("bash", "-c", command)
        assert any(end in output for end in ENDS[:3]), f"{title}: {output}"


def test_its_own_client_shows_a_whole_stream_and_a_broken_one(demo: Demo) -> None:
    output = demo.run("bash", "-c", demo.sections["Tidegate's own client"])
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


def test_the_readmes_accounts_and_keys_are_made_as_it_says(tmp_path: Path) -> None:
    page = ROOT / "README.md"
    served = [block for block in blocks(page, "toml") if "[[channels]]" in block]
    (tmp_path / "tidegate.toml").write_text(served[0])
    [block] = [block for block in blocks(page, "sh") if "tidegate accounts create" in block]
    tidegate = str(Path(sys.executable).with_name("tidegate"))
    environ = os.environ | dict.fromkeys(re.findall(r'"env:(\w+)"', served[0]), "sk-tg-0123456789")
    printed = {}
    for command in block.strip().splitlines():
        words = command.partition("#")[0].split()
        done = subprocess.run(
            [tidegate, *words[1:]],
            cwd=tmp_path,
            env=environ,
            capture_output=True,
            text=True,
            timeout=WITHIN,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        printed[words[1], words[2]] = done.stdout + done.stderr
    assert "sk-tg-" in printed["keys", "create"]
    assert "25.00" in printed["accounts", "credit"]
    assert "add up" in printed["ledger", "verify"]
