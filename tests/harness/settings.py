"""The gateway's config as data, and a writer for the TOML of it."""

import json
from collections.abc import Callable
from copy import deepcopy
from typing import Any

from tests.harness.dialects import SIDES

Config = dict[str, Any]

KEY = "sk-tg-e2e-caller-key-1"
OTHER_KEY = "sk-tg-e2e-caller-key-2"
NARROW_KEY = "sk-tg-e2e-caller-key-3"
STRICT_KEY = "sk-tg-e2e-caller-key-4"
ADMIN = "e2e-admin-token"
CREDENTIALS = {side.tag: f"sk-upstream-{side.tag}-credential-77" for side in SIDES}
ENVIRONMENT = {
    "E2E_KEY": KEY,
    "E2E_OTHER_KEY": OTHER_KEY,
    "E2E_NARROW_KEY": NARROW_KEY,
    "E2E_STRICT_KEY": STRICT_KEY,
    "E2E_ADMIN": ADMIN,
    "E2E_SECRET": "e2e-sealing-secret-0123456789abcdef",
} | {f"E2E_CREDENTIAL_{tag.upper()}": value for tag, value in CREDENTIALS.items()}

QUICK_FIRST, QUICK_IDLE = 0.5, 1.5
"""Seconds without a useful event, and between two events, after which a `q…` model has stalled."""


def channel(name: str, tag: str, base: str, models: list[str] | dict[str, str], **extra: object) -> Config:
    """One channel; `base` is the address without the protocol's `/v1`."""
    protocol = {"chat": "chat", "resp": "responses", "msgs": "messages"}[tag]
    return {
        "name": name,
        "protocol": protocol,
        "base_url": base if tag == "msgs" else f"{base}/v1",
        "api_key": f"env:E2E_CREDENTIAL_{tag.upper()}",
        "models": models,
        **extra,
    }


def server(port: int, folder: str) -> Config:
    """What every test gateway has: short times, a database of its own, two keys of two accounts."""
    keys = [
        {"name": "laptop", "account": "acme", "key": "env:E2E_KEY"},
        {"name": "other", "account": "globex", "key": "env:E2E_OTHER_KEY"},
    ]
    return {
        "server": {"host": "127.0.0.1", "port": port, "secret": "env:E2E_SECRET", "drain_timeout": "3s"},
        "database": {"url": f"sqlite:///{folder}/tidegate.db"},
        "admin": {"token": "env:E2E_ADMIN"},
        "streaming": {
            "keepalive_interval": "1s",
            "commit_after": "1s",
            "first_event_timeout": "4s",
            "idle_timeout": "4s",
        },
        "routing": {"cooldown": "1500ms"},
        "accounts": [{"name": "acme"}, {"name": "globex"}],
        "keys": keys,
        "channels": [],
        "models": [],
    }


def narrow_key(*models: str) -> Config:
    """A third key, which may use these models only."""
    return {"name": "narrow", "account": "acme", "key": "env:E2E_NARROW_KEY", "models": list(models)}


def standard(port: int, folder: str, base: Callable[[str], str]) -> Config:
    """Channels for every protocol: model names `TAG-a-…` are served by A alone, `TAG-ab-…` by A, then B.

    `TAG-abc-…` by A, B, then C; `TAG-qa-…` and `TAG-qab-…` have the quick time-outs.
    The upstream's name is the caller's.
    """
    config = server(port, folder)
    config["keys"].append(narrow_key("chat-a-narrow*"))
    for side in SIDES:
        tag = side.tag
        three = [f"{tag}-abc-*"]
        both = [f"{tag}-ab-*", f"{tag}-qab-*", *three]
        alone = [f"{tag}-a-*", f"{tag}-qa-*"]
        config["channels"] += [
            channel(f"{tag}-A", tag, base(f"{tag}-A"), both + alone, priority=20),
            channel(f"{tag}-B", tag, base(f"{tag}-B"), both, priority=10),
            channel(f"{tag}-C", tag, base(f"{tag}-C"), three, priority=5),
        ]
        config["models"] += [{"name": name} for name in (f"{tag}-a-*", f"{tag}-ab-*", *three)]
        config["models"] += [
            {"name": name, "first_event_timeout": QUICK_FIRST, "idle_timeout": QUICK_IDLE}
            for name in (f"{tag}-qa-*", f"{tag}-qab-*")
        ]
    return config


def merged(config: Config, **changes: Config) -> Config:
    """A copy with members of tables replaced: `merged(config, server={"max_body_bytes": 10})`."""
    result = deepcopy(config)
    for table, members in changes.items():
        result.setdefault(table, {}).update(members)
    return result


def toml(config: Config) -> str:
    """The config as TOML text."""
    lines: list[str] = []
    for name, value in config.items():
        tables = value if isinstance(value, list) else [value]
        header = f"[[{name}]]" if isinstance(value, list) else f"[{name}]"
        for table in tables:
            lines.append(header)
            lines += [f"{key} = {_inline(member)}" for key, member in table.items()]
            lines.append("")
    return "\n".join(lines)


def _inline(value: object) -> str:
    match value:
        case dict():
            members = ", ".join(f"{json.dumps(key)} = {_inline(member)}" for key, member in value.items())
            return "{ " + members + " }"
        case list() | tuple():
            return "[" + ", ".join(_inline(member) for member in value) + "]"
        case bool() | str() | int() | float():
            return json.dumps(value)
        case _:
            raise TypeError(value)
