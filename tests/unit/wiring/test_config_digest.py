import json
from pathlib import Path

import pytest
from tests.unit.config.files import read
from tests.unit.managed.stores import FILE

from tidegate.core.secret import Secret
from tidegate.storage.agreement import differences
from tidegate.wiring.config_digest import config_digest

OWN = Secret("the gateway's own secret")
MORE = """
[[channels]]
name = "another"
protocol = "messages"
base_url = "https://api.example.net"
api_key = "sk-another-credential"
headers = { "x-team" = "header-secret" }
models = ["haiku"]
"""


def digested(folder: Path, text: str, secret: Secret = OWN) -> str:
    return config_digest(read(folder, text), secret)


def test_the_same_file_has_the_same_digest_whatever_its_order(tmp_path: Path) -> None:
    own = '[server]\nport = 9000\n[database]\nurl = "sqlite:///x.db"\n[redis]\nurl = "redis://r"\n'
    one, other = digested(tmp_path, FILE + MORE), digested(tmp_path, own + MORE + FILE)
    assert one == other
    assert differences(one, other) == ()


@pytest.mark.parametrize(
    ("change", "section"),
    [
        (("sk-filed-credential", "sk-another"), "channels"),
        (('models = ["sonnet"]', 'models = ["sonnet", "opus"]'), "channels"),
        (('input = "3.00"', 'input = "3.01"'), "models"),
        (('balance = "25.00"', 'balance = "26.00"'), "accounts"),
        (("sk-tg-of-the-file", "sk-tg-of-another"), "keys"),
        (('account = "acme"', 'account = "acme"\nrequests_per_minute = 5'), "keys"),
        (("\n[[channels]]", "[routing]\nmax_attempts = 2\n\n[[channels]]"), "routing"),
        (("\n[[channels]]", '[database]\nretention = "1d"\n\n[[channels]]'), "database.retention"),
        (("\n[[channels]]", '[streaming]\nusage_chunk = "always"\n\n[[channels]]'), "streaming"),
    ],
)
def test_what_differs_is_named(tmp_path: Path, change: tuple[str, str], section: str) -> None:
    changed = FILE.replace(*change)
    assert changed != FILE
    assert section in differences(digested(tmp_path, FILE), digested(tmp_path, changed))


def test_with_another_secret_only_that_is_told(tmp_path: Path) -> None:
    other = digested(tmp_path, FILE + MORE, Secret("another"))
    assert differences(digested(tmp_path, FILE), other) == ("server.secret",)


def test_nothing_of_the_file_can_be_read_from_it(tmp_path: Path) -> None:
    text = digested(tmp_path, FILE + MORE)
    sections = json.loads(text)
    assert {len(digest) for digest in sections.values()} == {24}
    for word in ("acme", "sonnet", "credential", "header-secret", "sk-"):
        assert word not in text
