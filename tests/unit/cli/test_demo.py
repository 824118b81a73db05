"""What the demo prints can be pasted."""

import ast
import json
import shlex
from pathlib import Path

import pytest

from tidegate.cli import demo
from tidegate.wiring.demo import Access

BASE, KEY = "http://127.0.0.1:8123", "sk-tg-demo"


@pytest.mark.parametrize("command", [demo.curl_chat, demo.curl_responses, demo.curl_messages])
def test_each_curl_command_streams_json(command: object) -> None:
    assert callable(command)
    words = shlex.split(command(BASE, KEY))
    assert words[:2] == ["curl", "-N"]
    assert words[2].startswith(BASE + "/v1/")
    assert any(KEY in word for word in words)
    assert json.loads(words[words.index("-d") + 1])["stream"] is True


@pytest.mark.parametrize("program", [demo.python_openai, demo.python_anthropic])
def test_each_program_is_python(program: object) -> None:
    assert callable(program)
    text = program(BASE, KEY)
    ast.parse(text)
    assert BASE in text
    assert KEY in text


def test_the_greeting_names_everything_that_is_needed() -> None:
    text = demo.greeting(
        Access(BASE, KEY, "open-sesame"), python=".venv/bin/python", program=".venv/bin/tidegate"
    )
    assert text.count("curl -N") == 3
    for word in (
        f"base URL  {BASE}",
        f"key       {KEY}",
        f"console   {BASE}/console/",
        "token     open-sesame",
        "sim;ttft=2s;rate=20",
        "from openai",
        "from anthropic",
        ".venv/bin/tidegate stream",
    ):
        assert word in text


def test_programs_are_named_as_a_user_would_type_them() -> None:
    folder = Path("/srv/clone")
    assert demo.shown_path(folder / ".venv" / "bin" / "python", folder) == ".venv/bin/python"
    assert demo.shown_path(Path("/usr/bin/python3"), folder) == "/usr/bin/python3"
