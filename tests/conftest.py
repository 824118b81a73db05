"""Fixtures for the tests that run real processes."""

import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import hypothesis
import pytest
from tests.harness import pairs, settings, till
from tests.harness.databases import File, Server, Site
from tests.harness.gateway import Gateway, free_port
from tests.harness.postgres_server import PostgresServer
from tests.harness.stage import Stage
from tests.harness.upstream import ScriptedUpstream

# How long an example takes says how busy the machine is. Each run tries other examples.
hypothesis.settings.register_profile(
    "any-machine", max_examples=60, deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow]
)
hypothesis.settings.load_profile("any-machine")

# A shell that starts the tests in the background has them ignore SIGINT, and every process that they start.
signal.signal(signal.SIGINT, signal.default_int_handler)

Start = Callable[..., Gateway]


@pytest.fixture(scope="session")
def upstream() -> Iterator[ScriptedUpstream]:
    """The scripted upstream of this test process."""
    server = ScriptedUpstream()
    server.start()
    yield server
    server.stop()


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[PostgresServer]:
    """The PostgreSQL of this test process. Tests take `postgres`."""
    server = PostgresServer()
    try:
        server.start()
        yield server
    finally:
        server.remove()


@pytest.fixture
def postgres(postgres_server: PostgresServer) -> Iterator[PostgresServer]:
    """The same, running before and after the test, whatever the test does to it."""
    yield postgres_server
    postgres_server.start()


@pytest.fixture(params=["sqlite", "postgresql"])
def site(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Site]:
    """A database for one test, which runs on both kinds."""
    if request.param == "sqlite":
        yield File(tmp_path)
        return
    server: PostgresServer = request.getfixturevalue("postgres")
    site = Server(server)
    yield site
    server.start()
    server.drop(site.name)


@pytest.fixture(scope="session")
def gateway(upstream: ScriptedUpstream, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gateway]:
    """One gateway for all tests that need no config of their own; its log must stay clean."""
    folder = tmp_path_factory.mktemp("gateway")
    running = Gateway(settings.standard(free_port(), str(folder), upstream.base), folder)
    try:
        running.wait_ready()
        yield running
        assert running.process.poll() is None, f"the gateway died:\n{running.log[-3000:]}"
    finally:
        running.stop()
    check_log(running)


@pytest.fixture(scope="session")
def crossing(upstream: ScriptedUpstream, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    """One gateway for the tests of all pairs, with its channels; its log must stay clean."""
    folder = tmp_path_factory.mktemp("crossing")
    running = Gateway(pairs.crossing(free_port(), str(folder), upstream.base), folder)
    try:
        running.wait_ready()
        yield Stage(running, upstream)
        assert running.process.poll() is None, f"the gateway died:\n{running.log[-3000:]}"
    finally:
        running.stop()
    check_log(running)


@pytest.fixture(scope="session")
def priced(upstream: ScriptedUpstream, tmp_path_factory: pytest.TempPathFactory) -> Iterator[till.Till]:
    """One gateway for the tests of money, whose accounts they make; its log and books must stay clean."""
    folder = tmp_path_factory.mktemp("priced")
    running = Gateway(till.priced(free_port(), str(folder), upstream.base), folder)
    try:
        running.wait_ready()
        yield till.Till(Stage(running, upstream))
        assert running.process.poll() is None, f"the gateway died:\n{running.log[-3000:]}"
    finally:
        running.stop()
    check_log(running)
    till.check_books(running)


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Starts gateways with a config of the test's own and ends them after it.

    Call it with the config (made for `free_port()` and `tmp_path`), and options of the command line.
    """
    running: list[Gateway] = []

    def begin(config: settings.Config, *options: str) -> Gateway:
        running.append(Gateway(config, tmp_path, *options))
        return running[-1].wait_ready()

    yield begin
    for one in running:
        one.stop()
    for one in running:
        check_log(one)


@pytest.fixture(scope="session")
def stage(gateway: Gateway, upstream: ScriptedUpstream) -> Stage:
    """The shared gateway with its channels."""
    return Stage(gateway, upstream)


def check_log(gateway: Gateway) -> None:
    """No traceback, and none of the secrets."""
    log = gateway.log
    assert "Traceback" not in log, log[log.index("Traceback") - 500 :][:4000]
    for secret in settings.ENVIRONMENT.values():
        assert secret not in log, f"a secret is in the log: {secret[:8]}…"
