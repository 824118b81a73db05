from pathlib import Path

import pytest
from tests.unit.config.files import CHANNEL, KEY, problems, read, write

from tidegate.config import Config, ConfigError, build_catalog, load
from tidegate.core.protocol import Protocol
from tidegate.routing.catalog import Account

MANY_MISTAKES = """
[server]
prot = 8080
port = "8080"
[streaming]
idle_timeout = "soon"
[[channels]]
name = "main"
protocol = "chat"
base_url = "https://user:hunter2@api.example.com/v1"
api_key = "env:NO_SUCH_VARIABLE"
models = ["sonnet"]
[[models]]
name = "opus"
[[keys]]
name = "laptop"
key = "hunter2"
account = "nobody"
"""


def test_all_problems_of_a_file_are_told_at_once_in_its_order(tmp_path: Path) -> None:
    found = problems(tmp_path, MANY_MISTAKES)
    assert [(one.line, one.key, one.name) for one in found] == [
        (3, "server.prot", None),
        (4, "server.port", None),
        (6, "streaming.idle_timeout", None),
        (10, "channels[0].base_url", "main"),
        (11, "channels[0].api_key", "main"),
        (14, "models[0].name", "opus"),
        (18, "keys[0].account", "laptop"),
    ]
    assert all(one.file == str(tmp_path / "tidegate.toml") and one.mend for one in found)
    assert "hunter2" not in "\n".join(map(str, found))


def test_errors_come_with_the_warnings(tmp_path: Path) -> None:
    assert [one.severity.value for one in problems(tmp_path, "a = 1")] == ["warning", "warning", "error"]


def test_a_relative_config_path_finds_the_files_beside_it(tmp_path: Path) -> None:
    write(tmp_path, CHANNEL.replace('"sk-upstream-credential"', '"file:token"'))
    (tmp_path / "token").write_text("sk-filed\n")
    config = load(tmp_path / "." / "tidegate.toml", {})
    assert config.channels[0].api_key.reveal() == "sk-filed"


def test_the_catalog_has_what_the_config_says(tmp_path: Path) -> None:
    text = (
        CHANNEL + KEY + '[[models]]\nname = "sonnet"\nidle_timeout = 5\n[streaming]\nfirst_event_timeout = 7'
    )
    catalog = build_catalog(read(tmp_path, text))
    key = catalog.find_key("sk-tg-caller-secret")
    assert key is not None
    assert (key.name, key.account) == ("laptop", "default")
    assert catalog.public_models(key) == ("gpt-*", "sonnet")
    assert (catalog.model("sonnet").first_event_timeout, catalog.model("sonnet").idle_timeout) == (7, 5)
    assert (catalog.model("gpt-5").first_event_timeout, catalog.model("gpt-5").idle_timeout) == (7, 360)
    assert [one.upstream_model for one in catalog.candidates("gpt-5", Protocol.CHAT)] == ["gpt-5"]


def test_the_catalog_knows_who_pays_in_advance_and_the_limits_of_accounts(tmp_path: Path) -> None:
    text = (
        '[[accounts]]\nname = "paid"\nbalance = "0"\nmax_concurrency = 3\nrequests_per_minute = 4\n'
        'tokens_per_minute = 5\nbudget_per_day = "1"\nbudget_per_month = "2"\n[[accounts]]\nname = "owes"\n'
    )
    catalog = build_catalog(read(tmp_path, CHANNEL + text))
    assert catalog.account("paid") == Account(
        name="paid",
        prepaid=True,
        max_concurrency=3,
        requests_per_minute=4,
        tokens_per_minute=5,
        budget_per_day=10**9,
        budget_per_month=2 * 10**9,
    )
    assert catalog.account("owes") == Account(name="owes")


def test_a_config_built_in_code_needs_no_file() -> None:
    assert build_catalog(Config()).channels == ()


def test_nothing_of_a_secret_is_in_the_error(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        read(tmp_path, CHANNEL.replace("sk-upstream-credential", "sk-upstream hunter2"))
    error = caught.value
    assert "hunter2" not in repr(error) + str(error) + repr(error.problems)
