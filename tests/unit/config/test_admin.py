from ipaddress import ip_network
from pathlib import Path

import pytest
from tests.unit.config.files import CHANNEL, KEY, read, told

from tidegate.config.settings import Admin
from tidegate.core.secret import Secret

HEAD = '[admin]\ntoken = "long-enough-token"\n'


def test_without_a_table_there_is_no_admin_api(tmp_path: Path) -> None:
    assert read(tmp_path, CHANNEL + KEY).admin == Admin()


def test_everything_is_read(tmp_path: Path) -> None:
    more = """session_idle = "30m"
session_lifetime = "1d"
audit_retention = 0
trusted_proxies = ["10.0.0.7", "10.1.0.0/16", "::1"]

[admin.operators]
alice = "env:ALICE"
"bob ö" = "the-token-of-bob"
"""
    found = read(tmp_path, HEAD + more + CHANNEL + KEY, {"ALICE": "the-token-of-alice"})
    assert found.admin == Admin(
        token=Secret("long-enough-token"),
        operators={"alice": Secret("the-token-of-alice"), "bob ö": Secret("the-token-of-bob")},
        session_idle=1_800.0,
        session_lifetime=86_400.0,
        audit_retention=0.0,
        trusted_proxies=(ip_network("10.0.0.7/32"), ip_network("10.1.0.0/16"), ip_network("::1/128")),
    )
    assert found.warnings == ()


@pytest.mark.parametrize(
    ("text", "line", "key", "message"),
    [
        (HEAD + "session_idle = 0\n", 3, "admin.session_idle", "is out of range"),
        (HEAD + 'session_lifetime = "400d"\n', 3, "admin.session_lifetime", "is out of range"),
        (
            HEAD + 'trusted_proxies = ["proxy"]\n',
            3,
            "admin.trusted_proxies[0]",
            "is no address and no network",
        ),
        ('[admin.operators]\nalice = "a-long-token"\n', 1, "admin.operators", "is set without token"),
        (
            HEAD + '[admin.operators]\nadmin = "another-token"\n',
            4,
            "admin.operators.admin",
            "is the name that the owner of token has",
        ),
        (
            HEAD + '[admin.operators]\nalice = "long-enough-token"\n',
            4,
            "admin.operators.alice",
            "is also the token of",
        ),
        (
            HEAD + '[admin.operators]\n" a" = "the-token-of-a"\n',
            4,
            'admin.operators." a"',
            "has a name that begins or ends with a space",
        ),
        (HEAD + 'operators = "alice"\n', 3, "admin.operators", "must be a table, not text"),
    ],
)
def test_what_is_wrong_is_told(tmp_path: Path, text: str, line: int, key: str, message: str) -> None:
    [(found_line, found_key, found_message)] = told(tmp_path, text + CHANNEL + KEY)
    assert (found_line, found_key) == (line, key)
    assert found_message.startswith(message)


def test_a_token_that_can_be_guessed_is_warned_of(tmp_path: Path) -> None:
    found = read(tmp_path, '[admin]\ntoken = "admin123"\n' + CHANNEL + KEY)
    assert [(one.key, "guessed" in one.message) for one in found.warnings] == [("admin.token", True)]
    assert "admin123" not in str(found.warnings)
