import os
from pathlib import Path

import pytest
from tests.unit.config.files import read, told

from tidegate.config.settings import Address, Config, UsageChunk
from tidegate.core.secret import Secret

FULL = """
[server]
host = "::"
port = 0
tls_cert = "cert.pem"
tls_key = "file:keyname"
cors_origins = ["https://app.example.com"]
drain_timeout = 5
max_body_bytes = 10
body_timeout = "1m"
secret = "env:SECRET"
metrics_listen = "127.0.0.1:9464"
[database]
url = "postgresql://u:hunter2@h/db"
retention = "1d"
spool = "waiting/here"
[redis]
url = "redis://:hunter2@h"
[admin]
token = "hunter2"
[streaming]
keepalive_interval = 0
keepalive_comment = "still here"
commit_after = "1s"
first_event_timeout = "2s"
idle_timeout = "3s"
usage_chunk = "always"
timeout_message = "late"
failure_message = "broken"
max_event_bytes = 99
[routing]
max_attempts = 1
cooldown = 0
failures_before_cooldown = 9
"""


def test_an_empty_file_has_the_defaults(tmp_path: Path) -> None:
    config = read(tmp_path, "")
    assert (config.server, config.streaming, config.routing) == (
        Config().server,
        Config().streaming,
        Config().routing,
    )
    assert config.admin.token is None
    assert config.database.url == Secret("sqlite:///tidegate.db")
    assert [warning.key for warning in config.warnings] == ["channels", "keys"]


def test_nodes_that_share_a_database_should_share_their_secret(tmp_path: Path) -> None:
    shared = '[database]\nurl = "postgresql://user:hunter2@host/name"\n'
    [told] = [warning for warning in read(tmp_path, shared).warnings if warning.key.startswith("server")]
    assert told.key == "server.secret"
    assert "hunter2" not in str(told)
    own = read(tmp_path, '[server]\nsecret = "env:SECRET"\n' + shared, {"SECRET": "0123456789abcdef"})
    assert [warning.key for warning in own.warnings] == ["channels", "keys"]


def test_every_setting_of_the_single_tables_is_read(tmp_path: Path) -> None:
    (tmp_path / "cert.pem").write_text("cert")
    (tmp_path / "key.pem").write_text("key")
    (tmp_path / "keyname").write_text("key.pem\n")
    config = read(tmp_path, FULL, {"SECRET": "hunter2"})
    server = config.server
    assert server.tls_cert == str(tmp_path / "cert.pem")
    assert server.tls_key == str(tmp_path / "key.pem")
    assert (server.host, server.port, server.cors_origins) == ("::", 0, ("https://app.example.com",))
    assert (server.drain_timeout, server.max_body_bytes, server.body_timeout) == (5.0, 10, 60.0)
    assert (server.secret, server.metrics_listen) == (Secret("hunter2"), Address("127.0.0.1", 9464))
    assert config.database.retention == 86400
    assert config.database.spool == str(tmp_path / "waiting/here")
    assert config.redis.url == Secret("redis://:hunter2@h")
    assert config.admin.token == Secret("hunter2")
    stream = config.streaming
    assert (stream.keepalive_interval, stream.keepalive_comment) == (0, "still here")
    assert (stream.commit_after, stream.first_event_timeout, stream.idle_timeout) == (1, 2, 3)
    assert (stream.usage_chunk, stream.timeout_message) == (UsageChunk.ALWAYS, "late")
    assert (stream.failure_message, stream.max_event_bytes) == ("broken", 99)
    assert (config.routing.max_attempts, config.routing.cooldown) == (1, 0)
    assert config.routing.failures_before_cooldown == 9
    assert "hunter2" not in repr(config)


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("[server]\nport = 65536", "server.port"),
        ('[server]\nport = "env:PORT"', "server.port"),
        ('[server]\ntls_cert = "none.pem"\ntls_key = "tidegate.toml"', "server.tls_cert"),
        ('[server]\ntls_cert = "tidegate.toml"', "server.tls_cert"),
        ('[server]\ntls_key = "tidegate.toml"\ntls_cert = ""', "server.tls_key"),
        ('[server]\ntls_cert = "."\ntls_key = "tidegate.toml"', "server.tls_cert"),
        ('[server]\ncors_origins = ["*", "nope"]', "server.cors_origins[1]"),
        ('[server]\ncors_origins = "*"', "server.cors_origins"),
        ("[server]\ntls_cert = 5\ntls_key = 'tidegate.toml'", "server.tls_cert"),
        ('[server]\nsecret = ""', "server.secret"),
        ('[admin]\ntoken = ""', "admin.token"),
        ('[database]\nspool = "tidegate.toml"', "database.spool"),
        ('[database]\nspool = "tidegate.toml/below"', "database.spool"),
        ("[database]\nspool = 3", "database.spool"),
        ('[streaming]\nkeepalive_comment = "a\\nb"', "streaming.keepalive_comment"),
        ('[streaming]\nusage_chunk = "never"', "streaming.usage_chunk"),
        ("[routing]\nmax_attempts = 0", "routing.max_attempts"),
        ("routing = 3", "routing"),
        ("[[server]]\nport = 1", "server"),
        ("[server]\nprot = 1", "server.prot"),
        ("[sever]", "sever"),
    ],
)
def test_each_mistake_is_told_at_its_key(tmp_path: Path, text: str, key: str) -> None:
    assert [where for _, where, _ in told(tmp_path, text, {"PORT": "80"})] == [key]


def test_a_folder_that_cannot_be_written_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "access", lambda path, mode: path != tmp_path)  # root may write everywhere
    [(_, where, message)] = told(tmp_path, '[database]\nspool = "new/spool"')
    assert where == "database.spool"
    assert "names a folder that cannot be written" in message


def test_empty_text_leaves_an_optional_file_or_address_unset(tmp_path: Path) -> None:
    text = '[server]\ntls_cert = ""\ntls_key = ""\nmetrics_listen = ""\n[redis]\nurl = ""'
    config = read(tmp_path, text)
    assert (config.server, config.redis) == (Config().server, Config().redis)
