"""The demo's config is a good one."""

import os
from pathlib import Path

from tidegate.config import build_catalog, load
from tidegate.core.protocol import Protocol
from tidegate.wiring.demo import Access, _config

ACCESS = Access("http://127.0.0.1:1", "sk-tg-demo", "demo-token-0123456789")


def test_every_protocol_has_a_channel_and_the_key_works(tmp_path: Path) -> None:
    urls = {protocol: f"http://127.0.0.1:1/{protocol.value}" for protocol in Protocol}
    path = tmp_path / "tidegate.toml"
    path.write_text(_config(tmp_path, ACCESS, urls))
    config = load(path, os.environ)
    assert {channel.protocol for channel in config.channels} == set(Protocol)
    names = [f"{channel.protocol.value}-sim*" for channel in config.channels]
    assert [channel.models for channel in config.channels] == [{"sim*": "sim*", name: name} for name in names]
    catalog = build_catalog(config)
    assert all(catalog.model(name).price for name in ("sim;rate=5", "chat-sim", "messages-sim"))
    assert config.admin.token is not None
    assert config.admin.token.reveal() == ACCESS.token
    assert config.warnings == ()
    found = catalog.find_key(ACCESS.key)
    assert found is not None
    assert found.name == "demo"
    assert str(tmp_path) in config.database.url.reveal()
