"""Digests of a config file's sections, by which nodes see that their files differ, and nobody sees more."""

import hmac
import json
from collections.abc import Iterable

import msgspec
from msgspec import structs

from tidegate.config import Config
from tidegate.core.secret import Secret
from tidegate.storage.agreement import DIGESTED_WITH

_LETTERS = 24


def config_digest(config: Config, secret: Secret) -> str:
    """JSON with a digest for each section that all nodes must have alike.

    They are keyed with the gateway's own secret: what is short or well known cannot be guessed from them.
    """
    key = secret.reveal().encode("utf-8", "surrogateescape")

    def digest(section: str, value: object) -> str:
        text = msgspec.json.encode(value, enc_hook=_plain, order="sorted")
        return hmac.new(key, f"config {section} ".encode() + text, "sha256").hexdigest()[:_LETTERS]

    return json.dumps({name: digest(name, value) for name, value in _sections(config).items()})


def _sections(config: Config) -> dict[str, object]:
    """Addresses, files and what only concerns one machine are left out."""
    return {
        DIGESTED_WITH: None,
        "channels": _by_name(structs.replace(one, ca_file=None) for one in config.channels),
        "models": _by_name(config.models),
        "accounts": _by_name(config.accounts),
        "keys": sorted((digest.hex(), key) for digest, key in config.keys.items()),
        "admin": (config.admin.token, config.admin.operators),
        "streaming": config.streaming,
        "routing": config.routing,
        "capture": config.capture,
        "database.retention": config.database.retention,
    }


def _by_name(things: Iterable[object]) -> list[object]:
    return sorted(things, key=lambda one: str(getattr(one, "name", "")))


def _plain(value: object) -> object:
    if isinstance(value, Secret):
        return value.reveal().encode("utf-8", "surrogateescape").hex()
    raise NotImplementedError(type(value).__name__)
