"""The commands as a user runs them: what they print and the exit code they leave."""

import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tidegate.cli.exit_codes import Exit

READY = re.compile(r"listening on (http://127\.0\.0\.1:\d+)\n")
WITHIN = 30


def environment(**more: str) -> dict[str, str]:
    mine = {name: value for name, value in os.environ.items() if not name.startswith("TIDEGATE_")}
    return mine | {"COLUMNS": "200", "NO_COLOR": "1"} | more


def run(*arguments: str, cwd: Path | None = None, **more: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "tidegate", *arguments]
    return subprocess.run(
        command, env=environment(**more), cwd=cwd, capture_output=True, text=True, timeout=WITHIN, check=False
    )


def closed_port() -> int:
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        port: int = sock.getsockname()[1]
        return port


@pytest.fixture(scope="module")
def provider() -> Iterator[str]:
    """The base URL of a simulated provider in a process of its own."""
    command = [sys.executable, "-m", "tidegate", "sim", "--port", "0"]
    with subprocess.Popen(command, env=environment(), stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr
        try:
            found = READY.search(process.stderr.readline())
            assert found
            yield found.group(1)
        finally:
            process.send_signal(signal.SIGTERM)
        assert process.wait(WITHIN) == 0


def ask(provider: str, protocol: str, model: str, *more: str) -> subprocess.CompletedProcess[str]:
    return run("stream", "-p", protocol, "-m", model, "--base-url", provider, *more, "Say hello")


@pytest.mark.parametrize("protocol", ["chat", "responses", "messages"])
def test_a_stream_is_shown_with_its_verdict_and_figures(provider: str, protocol: str) -> None:
    shown = ask(provider, protocol, "sim;reasoning=3;words=4")
    lines = shown.stdout.splitlines()
    assert shown.returncode == Exit.OK, shown.stderr
    assert lines[0].startswith("The request is")
    assert lines[1].startswith("This is the simulated")
    assert lines[-2].startswith("whole: ended with its end mark ")
    assert re.fullmatch(
        r"usage: \d+ input, \d+ output \(3 of it reasoning\) · first token: \d+ ms · total: \d+ ms", lines[-1]
    )


def test_reasoning_can_be_left_out(provider: str) -> None:
    shown = ask(provider, "chat", "sim;reasoning=3;words=4", "--no-reasoning")
    assert shown.stdout.startswith("This is the simulated")


def test_tool_calls_show_name_and_arguments(provider: str) -> None:
    tools = '{"tools": [{"name": "get_weather", "input_schema": {"type": "object"}}]}'
    shown = ask(provider, "messages", "sim", "--extra", tools)
    assert shown.stdout.startswith("tool get_weather ")


def test_raw_shows_every_line_with_its_time(provider: str) -> None:
    shown = ask(provider, "messages", "sim;words=1", "--raw")
    assert re.search(
        r"^ +\d+\.\d{3}  event: message_start\n +\d+\.\d{3}  data: \{", shown.stdout, re.MULTILINE
    )
    assert "event: message_stop" in shown.stdout


@pytest.mark.parametrize("protocol", ["chat", "responses", "messages"])
@pytest.mark.parametrize(
    ("model", "code", "told"),
    [
        ("sim;cut_after=3", Exit.NO_END_MARK, "not whole: the stream was closed without the end mark"),
        ("sim;cut_after=3;cut=reset", Exit.NO_END_MARK, "not whole: the connection broke without"),
        ("sim;error=overloaded;error_after=3", Exit.FAILED, "error event: "),
        ("sim;garble_after=2", Exit.FAILED, "event that is not JSON"),
        ("sim;status=503;retry_after=7", Exit.REFUSED, "answered 503"),
    ],
)
def test_each_failure_has_its_words_and_its_code(
    provider: str, protocol: str, model: str, code: Exit, told: str
) -> None:
    shown = ask(provider, protocol, model)
    assert told in shown.stdout + shown.stderr
    assert shown.returncode == code
    assert "Traceback" not in shown.stderr


def test_nobody_there() -> None:
    shown = ask(f"http://127.0.0.1:{closed_port()}", "chat", "sim")
    assert shown.returncode == Exit.NO_CONNECTION
    assert shown.stderr.startswith("error: no answer from http://127.0.0.1:")


def test_ctrl_c_closes_with_what_was_learnt(provider: str) -> None:
    command = [sys.executable, "-m", "tidegate", "stream", "-p", "chat", "-m", "sim;stall_after=2"]
    more = environment(TIDEGATE_BASE_URL=provider)
    with subprocess.Popen([*command, "hi"], env=more, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        first = process.stdout.read(4)
        process.send_signal(signal.SIGINT)
        rest, _ = process.communicate(timeout=WITHIN)
    assert first == "This"
    assert process.returncode == Exit.INTERRUPTED
    assert "\ninterrupted before the end mark\nusage: not told" in rest


def test_a_reader_that_leaves_is_no_error(provider: str) -> None:
    client = f'{sys.executable} -m tidegate stream -p chat -m "sim;rate=200" hi'
    command = client + " | head -c 3; echo ${PIPESTATUS[0]}"
    more = environment(TIDEGATE_BASE_URL=provider)
    shown = subprocess.run(
        ["bash", "-c", command], env=more, capture_output=True, text=True, timeout=WITHIN, check=True
    )
    assert shown.stdout == f"Thi{Exit.BROKEN_PIPE.value}\n"
    assert shown.stderr == ""


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("serve",), "tidegate.toml: no such file"),
        (("serve", "--config", "absent.toml"), "absent.toml: no such file"),
        (("serve", "--port", "99999"), "--port"),
        (("check-config", "absent.toml"), "absent.toml"),
        (("logs",), "tidegate.toml: no such file"),
        (("stream", "hi"), "--protocol"),
        (("stream", "-p", "chat", "-m", "m", "--base-url", "nonsense", "hi"), "must begin with http"),
        (("stream", "-p", "chat", "-m", "m", "--extra", "[", "hi"), "--extra is not JSON"),
        (("stream", "-p", "chat", "-m", "m", "--key", "sk-1\r", "hi"), "the credential holds a line break"),
        (("nonsense",), "nonsense"),
    ],
)
def test_a_users_mistake_is_told_without_a_traceback(
    arguments: tuple[str, ...], told: str, tmp_path: Path
) -> None:
    shown = run(*arguments, cwd=tmp_path)
    assert shown.returncode == Exit.USAGE
    assert told in shown.stderr
    assert "Traceback" not in shown.stderr


@pytest.mark.parametrize("command", ["sim", "demo"])
def test_a_port_in_use_is_told(command: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        shown = run(command, "--port", str(taken.getsockname()[1]))
    assert shown.returncode == Exit.NO_CONNECTION
    assert "the port is in use" in shown.stderr
    assert "Traceback" not in shown.stderr


GATEWAY = """
[server]
port = 0
{server}
[[channels]]
name = "c"
protocol = "chat"
base_url = "http://127.0.0.1:9/v1"
api_key = "upstream-credential"
models = ["m"]
[[keys]]
name = "k"
key = "sk-tg-0123456789abcdef0123456789"
"""


@pytest.mark.parametrize(
    ("server", "options", "code", "told"),
    [
        ("", ("--host", "192.0.2.1"), Exit.NO_CONNECTION, "not an address of this machine"),
        ('host = "name.invalid"', (), Exit.NO_CONNECTION, "cannot listen on name.invalid:0"),
        ('tls_cert = "junk.pem"\ntls_key = "junk.pem"', (), Exit.USAGE, "no certificate and its key"),
        ("unheard_of = 1", (), Exit.USAGE, "server.unheard_of"),
        ("[", (), Exit.USAGE, "not valid TOML"),
    ],
)
def test_why_the_gateway_does_not_start(
    tmp_path: Path, server: str, options: tuple[str, ...], code: Exit, told: str
) -> None:
    (tmp_path / "junk.pem").write_text("junk")
    (tmp_path / "tidegate.toml").write_text(GATEWAY.format(server=server))
    shown = run("serve", *options, cwd=tmp_path)
    assert told in shown.stderr
    assert shown.returncode == code
    assert "Traceback" not in shown.stderr


def test_the_demo_needs_no_network_where_a_proxy_is_set(tmp_path: Path) -> None:
    proxy = f"http://127.0.0.1:{closed_port()}"
    with (tmp_path / "output").open("w+") as output:
        process = subprocess.Popen(
            [sys.executable, "-m", "tidegate", "demo", "--port", "0"],
            env=environment(HTTP_PROXY=proxy, http_proxy=proxy),
            stdout=output,
            stderr=output,
        )
        try:
            deadline = time.monotonic() + WITHIN
            while not (key := re.search(r"key\s+(sk-tg-\S+)", (tmp_path / "output").read_text())):
                assert time.monotonic() < deadline
                time.sleep(0.05)
            url = READY.search((tmp_path / "output").read_text())
            assert url
            shown = ask(url.group(1), "chat", "sim", "--key", key.group(1))
        finally:
            process.terminate()
        assert process.wait(WITHIN) == 0
    assert shown.returncode == Exit.OK, shown.stderr


def test_help_and_version_need_nothing_and_are_quick() -> None:
    started = time.monotonic()
    assert run("--version").stdout.startswith("tidegate ")
    assert time.monotonic() - started < 10
    for command in ("serve", "demo", "sim", "check-config", "logs", "stream"):
        shown = run(command, "--help")
        assert shown.returncode == 0
        assert "Example" in shown.stdout
