"""How each block of the manual is checked, and the few that cannot be, each with the reason."""

import re
from collections.abc import Mapping
from enum import Enum

from msgspec import Struct
from tests.manual.blocks import Block


class Way(Enum):
    """What is done with a block."""

    RUN_SHELL = "run by bash against a running gateway and simulated provider"
    RUN_PYTHON = "run against them"
    RUN_NODE = "run against them by Node"
    CHECK_CONFIG = "read as a configuration of the gateway"
    READ_TOML = "parsed: it belongs to another program"
    READ_JSON = "parsed as JSON"
    READ_YAML = "parsed as YAML"
    READ_INI = "parsed as a unit file"
    RUN_SQL = "run on a PostgreSQL"
    RUN_NGINX = "run by nginx in front of the gateway (test_nginx.py)"
    WORK_OUT = "worked out by the ledger (tests/rules/test_billing_docs.py)"
    SHOWN = "output or bytes that are shown, with no command in it"
    SAME = "the same as on the English page, but for comments (tests/rules/test_manual_blocks.py)"
    COMPILE = "compiled only"
    EXCUSED = "not checked"


WAYS: Mapping[str, Way] = {
    "sh": Way.RUN_SHELL,
    "console": Way.RUN_SHELL,
    "python": Way.RUN_PYTHON,
    "js": Way.RUN_NODE,
    "toml": Way.CHECK_CONFIG,
    "json": Way.READ_JSON,
    "yaml": Way.READ_YAML,
    "ini": Way.READ_INI,
    "sql": Way.RUN_SQL,
    "nginx": Way.RUN_NGINX,
    "text": Way.SHOWN,
}
"""By the language behind the fence. One without a way is a failure."""


class Excuse(Struct, frozen=True):
    """A block that is not checked as its language says: on this page, with this text in it."""

    page: str
    has: str
    way: Way
    why: str


EXCUSES = (
    Excuse("README.zh-CN.md", "", Way.SAME, "a translation: its commands are those of the English page"),
    Excuse("docs/billing.md", "", Way.WORK_OUT, "worked examples, each with its result"),
    Excuse("docs/clients.md", "wire_api", Way.READ_TOML, "Codex's own configuration"),
    Excuse("docs/simulator.md", "await start(", Way.COMPILE, "a piece of a test, with an ellipsis in it"),
)
LINTED: Mapping[str, str] = {
    "apt-get": "changes the machine",
    "claude": "a program that is not here",
    "codex": "a program that is not here",
    "docker": "no container engine here",
    "git": "would fetch from outside",
    "journalctl": "no systemd here",
    "kubectl": "no cluster here",
    "pip": "would install again what is under test",
    "podman": "no container engine here",
    "promtool": "run by the tests of the alert rules themselves",
    "sudo": "changes the machine",
    "systemctl": "no systemd here",
    "useradd": "changes the machine",
}
"""Commands that the shell reads and that are not run, each with the reason."""
MEANT_TO_FAIL = re.compile(r"cut_after|error=|error_after|status=|doctor .*;")
"""Commands that show a failure."""


def way_of(block: Block) -> Way | None:
    """How the block is checked; None where nobody has said."""
    for excuse in EXCUSES:
        if block.page == excuse.page and excuse.has in block.text and _fits(excuse, block):
            return excuse.way
    return WAYS.get(block.language)


def _fits(excuse: Excuse, block: Block) -> bool:
    languages = {Way.WORK_OUT: "toml", Way.READ_TOML: "toml", Way.COMPILE: "python"}
    return languages.get(excuse.way, block.language) == block.language
