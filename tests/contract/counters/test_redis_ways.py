"""The ways to a Redis: TLS, a Unix socket, a database number, a cluster."""

import asyncio
import time
from pathlib import Path

from tests.contract.counters.nodes import Node, admitted, limited, scope
from tests.harness.authority import Authority
from tests.harness.gateway import free_port
from tests.harness.redis_server import RedisServer

PLACES = [scope(max_concurrency=1)]


async def works(url: str) -> None:
    one, other = Node(url), Node(url)
    try:
        for node in (one, other):
            await node.open()
            await node.in_use()
        admitted(await one.limits.admit("r1", PLACES, 0))
        limited(await other.limits.admit("r2", PLACES, 0))
    finally:
        await one.close()
        await other.close()


async def test_tls(tmp_path: Path) -> None:
    authority, port = Authority(tmp_path), free_port()
    authority.server("localhost")
    pem, ca = str(tmp_path / "localhost.pem"), str(authority.ca_file)
    options = ["--port", "0", "--tls-port", str(port), "--tls-auth-clients", "no"]
    options += ["--tls-cert-file", pem, "--tls-key-file", pem, "--tls-ca-cert-file", ca]
    server = RedisServer(tmp_path, *options, port=port)
    try:
        await works(f"rediss://localhost:{port}/0?ssl_ca_certs={ca}")
        stranger = Node(f"rediss://localhost:{port}/0")
        await stranger.open()
        assert not stranger.link.up
        assert "certificate verify failed" in (stranger.link.state.why or "").lower()
        await stranger.close()
    finally:
        server.stop()


async def test_a_unix_socket(tmp_path: Path) -> None:
    path = tmp_path / "redis.sock"
    server = RedisServer(tmp_path, "--unixsocket", str(path))
    try:
        await works(f"unix://{path}")
        await works(f"unix://{path}?db=3")
    finally:
        server.stop()


async def test_options_that_would_change_how_answers_are_read_change_nothing(tmp_path: Path) -> None:
    server = RedisServer(tmp_path)
    try:
        options = "decode_responses=true&protocol=3&socket_timeout=0.1&health_check_interval=1"
        await works(f"{server.url}?{options}&client_name=gate")
        node = Node(f"{server.url}?{options}")
        await node.open()
        await node.in_use()
        await asyncio.sleep(0.4)
        assert node.link.up, "an idle connection is no trouble"
        await node.close()
    finally:
        server.stop()


async def test_a_user_with_a_name_and_a_database_number(tmp_path: Path) -> None:
    server = RedisServer(tmp_path)
    try:
        words = ("ACL", "SETUSER", "gate", "on", ">p%40ss", "~tidegate:*", "+@all")
        assert server.command(*words) == b"+OK\r\n"
        await works(f"redis://gate:p%2540ss@127.0.0.1:{server.port}/5")
        assert b"tidegate" not in server.command("KEYS", "*"), "they are in another database"
    finally:
        server.stop()


async def test_the_node_of_a_cluster_that_keeps_our_names(tmp_path: Path) -> None:
    folders = [tmp_path / name for name in ("keeper", "other")]
    servers = []
    try:
        for folder in folders:
            folder.mkdir()
            bus = str(free_port())
            servers.append(RedisServer(folder, "--cluster-enabled", "yes", "--cluster-port", bus))
        keeper, other = servers
        assert keeper.command("CLUSTER", "ADDSLOTSRANGE", "0", "16383") == b"+OK\r\n"
        bus_of_keeper = keeper.command("CONFIG", "GET", "cluster-port").split(b"\r\n")[-2].decode()
        other.command("CLUSTER", "MEET", "127.0.0.1", str(keeper.port), bus_of_keeper)
        deadline = time.monotonic() + 60
        while b"cluster_state:ok" not in other.command("CLUSTER", "INFO"):
            assert time.monotonic() < deadline, other.command("CLUSTER", "INFO")
            await asyncio.sleep(0.05)
        await works(f"redis://127.0.0.1:{other.port}")
        assert b"tidegate:{limits}:open:key:k" in keeper.command("KEYS", "*")
    finally:
        for server in servers:
            server.stop()
