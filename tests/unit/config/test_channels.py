from decimal import Decimal
from pathlib import Path

import pytest
from tests.unit.config.files import CHANNEL, KEY, problems, read, told

from tidegate.config import Severity
from tidegate.core.capability import Effort, Thinking, UnsupportedTools
from tidegate.core.protocol import Protocol
from tidegate.core.secret import Secret
from tidegate.routing.catalog import UpstreamStream

START = '[[channels]]\nname = "main"\nprotocol = "responses"\nbase_url = "https://x.example/v1"\n'
MODELS = 'models = ["m"]\n'
FULL = """
[[channels]]
name = "main"
protocol = "messages"
base_url = "https://api.example.com/"
api_key = "env:API_KEY"
priority = -5
weight = 7
connect_timeout = "2s"
ca_file = "roots.pem"
models = { "sonnet" = "claude-sonnet-5", "claude-*" = "*", "sim*" = "sim*" }
headers = { "X-Team" = "env:TEAM" }
forward_headers = ["X-Trace", "x-trace"]
group = "shared"
capabilities = { thinking = "budget", efforts = ["low", "high"], prefill = false, tool_name_max = 64 }
unsupported_tools = "reject"
upstream_stream = "never"
price = { input = "1.50", output = 2 }
"""


def test_every_setting_of_a_channel_is_read(tmp_path: Path) -> None:
    (tmp_path / "roots.pem").write_text("roots")
    config = read(tmp_path, FULL, {"API_KEY": "sk-hunter2", "TEAM": "hunter2"})
    [main] = config.channels
    assert (main.name, main.protocol, main.base_url) == ("main", Protocol.MESSAGES, "https://api.example.com")
    assert (main.api_key, main.group) == (Secret("sk-hunter2"), "shared")
    assert (main.priority, main.weight, main.connect_timeout) == (-5, 7, 2.0)
    assert main.ca_file == str(tmp_path / "roots.pem")
    assert main.models == {"sonnet": "claude-sonnet-5", "claude-*": "claude-*", "sim*": "sim*"}
    assert (main.headers, main.forward_headers) == ({"x-team": "hunter2"}, ("x-trace",))
    told_of = main.capabilities
    assert (told_of.thinking, told_of.efforts) == (Thinking.BUDGET, (Effort.LOW, Effort.HIGH))
    assert (told_of.prefill, told_of.tool_name_max, told_of.sampling) == (False, 64, None)
    assert main.unsupported_tools is UnsupportedTools.REJECT
    assert main.upstream_stream is UpstreamStream.NEVER
    assert main.price is not None
    assert (main.price.input, main.price.output) == (Decimal("1.50"), Decimal(2))
    assert "hunter2" not in repr(config)


def test_a_channel_needs_little(tmp_path: Path) -> None:
    [main] = read(tmp_path, START + MODELS + "price = {}\ncapabilities = {}").channels
    assert (main.api_key, main.group, main.price, main.weight) == (Secret(""), "main", None, 1)
    assert main.forward_headers == ("x-openai-internal-codex-responses-lite",)
    assert not main.api_key


def test_an_empty_list_of_forwarded_headers_forwards_none(tmp_path: Path) -> None:
    assert read(tmp_path, START + MODELS + "forward_headers = []").channels[0].forward_headers == ()


@pytest.mark.parametrize("key", ["name", "protocol", "base_url", "models"])
def test_what_a_channel_needs_is_missed_by_name_on_the_line_of_its_table(tmp_path: Path, key: str) -> None:
    lines = [line for line in (START + MODELS).splitlines() if not line.startswith(key)]
    assert told(tmp_path, "\n".join(lines)) == [(1, f"channels[0].{key}", "is missing")]


@pytest.mark.parametrize(
    ("line", "key"),
    [
        ("weight = 0", "weight"),
        ("weight = true", "weight"),
        ("priority = 1.5", "priority"),
        ("connect_timeout = -1", "connect_timeout"),
        ('ca_file = "none.pem"', "ca_file"),
        ('group = "a\\nb"', "group"),
        ('headers = { "x-a" = "b\\r\\nc: d" }', "headers.x-a"),
        ('headers = { "x a" = "b" }', 'headers."x a"'),
        ('headers = { "Host" = "b" }', "headers.Host"),
        ('headers = { "x-a" = "1", "X-A" = "2" }', "headers.X-A"),
        ('headers = { "x-a" = "ü" }', "headers.x-a"),
        ("headers = { x-a = 5 }", "headers.x-a"),
        ('headers = ["x-a"]', "headers"),
        ('forward_headers = ["ok", "Authorization"]', "forward_headers[1]"),
        ('forward_headers = ["Cookie"]', "forward_headers[0]"),
        ('forward_headers = ["x-api-key"]', "forward_headers[0]"),
        ('forward_headers = ["idempotency-key"]', "forward_headers[0]"),
        ('forward_headers = ["Transfer-Encoding"]', "forward_headers[0]"),
        ("forward_headers = [1]", "forward_headers[0]"),
        ('capabilities = { thinking = "deep" }', "capabilities.thinking"),
        ('capabilities = { efforts = ["low", "huge"] }', "capabilities.efforts[1]"),
        ("capabilities = { prefil = true }", "capabilities.prefil"),
        ('unsupported_tools = "keep"', "unsupported_tools"),
        ('upstream_stream = "always"', "upstream_stream"),
        ("api_key = 12345", "api_key"),
        ("wieght = 3", "wieght"),
    ],
)
def test_each_mistake_is_told_at_its_key_with_the_channels_name(tmp_path: Path, line: str, key: str) -> None:
    found = problems(tmp_path, START + MODELS + line + KEY)
    assert [(one.line, one.key, one.name) for one in found] == [(6, f"channels[0].{key}", "main")]


@pytest.mark.parametrize(
    ("models", "key"),
    [
        ("[]", "models"),
        ("{}", "models"),
        ("3", "models"),
        ('""', "models"),
        ('["m", ""]', "models[1]"),
        ('["m", 3]', "models[1]"),
        ('["a*b"]', "models[0]"),
        ('{ "a*b" = "c" }', 'models."a*b"'),
        ('{ "gpt-*" = "other-*" }', 'models."gpt-*"'),
        ('{ "gpt" = "gpt-*" }', "models.gpt"),
        ("{ gpt = 5 }", "models.gpt"),
    ],
)
def test_bad_models_are_told(tmp_path: Path, models: str, key: str) -> None:
    assert [where for _, where, _ in told(tmp_path, f"{START}models = {models}")] == [f"channels[0].{key}"]


def test_two_channels_of_one_name_are_told_with_the_first_ones_line(tmp_path: Path) -> None:
    text = START + MODELS + START + MODELS
    assert told(tmp_path, text) == [(7, "channels[1].name", "is also the name of the channel on line 2")]


def test_v1_on_a_messages_channel_is_a_warning(tmp_path: Path) -> None:
    text = KEY + CHANNEL.replace("chat", "messages")
    [warning] = read(tmp_path, text).warnings
    assert (warning.severity, warning.key, warning.line) == (Severity.WARNING, "channels[0].base_url", 9)
    assert read(tmp_path, KEY + CHANNEL).warnings == ()


@pytest.mark.parametrize(
    "text", ["channels = 3", "[channels]\nname = 'x'", "channels = [1]", "[channels.main]\nname = 'x'"]
)
def test_channels_that_are_no_list_of_tables_are_told(tmp_path: Path, text: str) -> None:
    assert len(told(tmp_path, text)) == 1


def test_a_key_in_the_wrong_place_is_not_repeated(tmp_path: Path) -> None:
    secret = "sk-ant-hunter2-hunter2"
    lines = [
        f'"{secret}" = 1',
        f'api_kye = "{secret}"',
        f'api_key = "env:{secret}"',
        f'protocol = "{secret}"',
    ]
    for line in lines:
        text = (
            (START + MODELS).replace('protocol = "responses"', line)
            if "protocol" in line
            else START + MODELS + line
        )
        assert "hunter2" not in "\n".join(map(str, problems(tmp_path, text)))
