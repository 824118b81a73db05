"""The admin API keeps what its own description promises, whatever it is sent."""

import asyncio
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.harness import settings
from tests.harness.client import Connection, fetch, request_bytes
from tests.harness.gateway import Gateway, free_port
from tests.harness.operator import JSON, Operator
from tests.harness.upstream import ScriptedUpstream

SECONDS = 110
CHECKS = (
    "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance,"
    "response_headers_conformance,unsupported_method,missing_required_header,use_after_free,"
    "ensure_resource_availability"
)
ENDLESS = "/admin/v1/requests/tail"
"""A stream that ends when its reader goes."""
PROGRAM = "import sys; from schemathesis.cli import schemathesis; schemathesis(sys.argv[1:])"


@pytest.fixture(scope="module")
def gateway(upstream: ScriptedUpstream, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gateway]:
    """One of its own, with two workers: what is made here stays here."""
    folder = tmp_path_factory.mktemp("described")
    config = settings.standard(free_port(), str(folder), upstream.base)
    config["routing"]["max_attempts"] = 1
    running = Gateway(config, folder, "--workers", "2").wait_ready()
    yield running
    running.stop()
    assert "Traceback" not in running.log, running.log[-5000:]


@pytest.fixture(scope="module", autouse=True)
def operator(gateway: Gateway) -> Operator:
    """Signed in before any of the wrong tokens that are tried out here."""
    return asyncio.run(Operator.at(gateway.port))


async def description(gateway: Gateway, folder: Path, scheme: str) -> Path:
    """The API's own description, with one way to be let in."""
    document = (await gateway.admin("openapi.json")).json()
    schemes = document["components"]["securitySchemes"]
    document["components"]["securitySchemes"] = {scheme: schemes[scheme]}
    document["security"] = [{scheme: []}]
    file = folder / "openapi.json"
    file.write_text(json.dumps(document))
    return file


async def described(
    gateway: Gateway, folder: Path, scheme: str, headers: list[tuple[str, str]], *options: str
) -> None:
    """Let schemathesis ask what the description allows and what it forbids, always the same."""
    file = await description(gateway, folder, scheme)
    command = [sys.executable, "-c", PROGRAM, "run", str(file), "--url", f"http://127.0.0.1:{gateway.port}"]
    command += ["--seed", "7", "--checks", CHECKS, "--exclude-path", ENDLESS, "--request-timeout", "20"]
    command += ["--continue-on-failure", "--no-shrink", "--suppress-health-check", "all", "--warnings", "off"]
    command += [word for name, value in headers for word in ("-H", f"{name}: {value}")]
    done = await asyncio.to_thread(
        subprocess.run,
        [*command, *options],
        capture_output=True,
        text=True,
        timeout=SECONDS,
        cwd=folder,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-8000:] + done.stderr[-2000:]
    assert "No issues found" in done.stdout


async def test_with_a_token_it_is_as_described(gateway: Gateway, tmp_path: Path) -> None:
    bearer = [("authorization", f"Bearer {settings.ADMIN}")]
    await described(gateway, tmp_path, "token", bearer, "-n", "6", "--phases", "coverage,fuzzing,stateful")


async def test_with_a_session_it_is_as_described(
    gateway: Gateway, operator: Operator, tmp_path: Path
) -> None:
    headers = [header for header in operator.headers if header[0] != "content-type"]
    out = ["--exclude-operation-id", "closeSession", "--exclude-operation-id", "openSession"]
    await described(gateway, tmp_path, "session", headers, "-n", "8", "--phases", "fuzzing", *out)
    rows = (await gateway.admin("audit?limit=500")).json()["data"]
    assert "create" in {row["action"] for row in rows if row["via"] == "console"}


GARBAGE: list[tuple[str, bytes]] = [
    ("nothing", b""),
    ("half", b"{"),
    ("a list", b"[]"),
    ("null", b"null"),
    ("a lone surrogate", b'{"name": "\\ud800"}'),
    ("no number", b'{"name": NaN}'),
    ("a member twice", b'{"name": "a", "name": "b"}'),
    ("no UTF-8", b'{"name": "\xff\xfe"}'),
    ("a NUL", b'{"name": "a\\u0000b"}'),
    ("a raw NUL", b'{"name": "a\x00b"}'),
    ("a huge number", b'{"name": "a", "weight": ' + b"9" * 5000 + b"}"),
    ("a huge exponent", b'{"name": "a", "weight": 1e999999999}'),
    ("a deep body", b'{"a":' * 100_000),
    ("deep and whole", b'{"a":' * 50_000 + b"1" + b"}" * 50_000),
    ("a long name", b'{"name": "' + b"n" * 100_000 + b'"}'),
    ("markup", b'{"name": "<script>alert(1)</script>", "nonsense": "<b>"}'),
    ("10 MB", b'{"name": "' + b"n" * 10_000_000 + b'"}'),
]
TARGETS = [
    ("POST", "channels"),
    ("POST", "models"),
    ("POST", "accounts"),
    ("POST", "keys"),
    ("PATCH", "models/chat-a-*"),
    ("POST", "accounts/acme/credit"),
    ("POST", "requests/req_1/refund"),
    ("POST", "session"),
    ("POST", "channels/chat-A/pause"),
    ("POST", "channels/chat-A/test"),
]


@pytest.mark.parametrize(("what", "body"), GARBAGE, ids=[what for what, _ in GARBAGE])
async def test_garbage_is_told_and_changes_nothing(
    gateway: Gateway, operator: Operator, what: str, body: bytes
) -> None:
    del what
    for method, target in TARGETS:
        if not body and target.endswith(("pause", "test")):
            continue  # there nothing is a body too
        reply = await fetch(gateway.port, method, f"/admin/v1/{target}", operator.headers, body)
        assert 400 <= reply.status < 500, (target, reply.body)
        assert reply.header("content-type") == "application/problem+json"
        problem = json.loads(reply.body)
        assert problem["status"] == reply.status
        assert len(reply.body) < 20_000
    health = (await gateway.admin("health")).json()
    assert next(one for one in health["channels"] if one["name"] == "chat-A")["state"] == "ready"


async def test_bad_http_is_told_as_a_problem(gateway: Gateway) -> None:
    long = [("cookie", "a=" + "b" * 60_000)]
    reply = await fetch(gateway.port, "GET", "/admin/v1/keys", long)
    assert (reply.status, reply.header("content-type")) == (431, "application/problem+json")
    connection = await Connection.open(gateway.port)
    await connection.send(b"GET /admin/v1/keys HTTP/1.1\r\nhost: a\r\nbad header\r\n\r\n")
    reply = await (await connection.reply()).finish()
    assert (reply.status, reply.header("content-type")) == (400, "application/problem+json")
    connection.close()


async def test_a_body_that_does_not_come_holds_up_nobody(gateway: Gateway, operator: Operator) -> None:
    connection = await Connection.open(gateway.port)
    head = request_bytes("POST", "/admin/v1/keys", [*operator.headers, ("content-length", "100")], b'{"na')
    await connection.send(head)
    replies = await asyncio.gather(*(operator.ask(gateway.port, "GET", "keys") for _ in range(10)))
    assert {reply.status for reply in replies} == {200}
    connection.vanish()


WRONG: list[tuple[str, str, int]] = [
    ("GET", "nothing/here", 404),
    ("GET", "", 404),
    ("PUT", "keys", 405),
    ("GET", "keys/" + "n" * 5000, 404),
    ("GET", "keys/%00", 404),
    ("GET", "keys/%ff", 404),
    ("GET", "keys/%ed%a0%80", 404),
    ("GET", "keys?limit=0", 400),
    ("GET", "keys?limit=1&limit=2", 400),
    ("GET", "keys?after=%00", 200),
    ("GET", "audit?before=-1", 400),
    ("GET", "audit?kind=%00", 400),
    ("GET", "requests?before=" + "x" * 5000, 400),
    ("GET", "requests/%00", 404),
]


@pytest.mark.parametrize(("method", "target", "status"), WRONG)
async def test_a_wrong_path_or_parameter_is_told(
    gateway: Gateway, operator: Operator, method: str, target: str, status: int
) -> None:
    reply = await fetch(gateway.port, method, f"/admin/v1/{target}", [operator.cookie, operator.headers[1]])
    assert reply.status == status, reply.body
    if status >= 400:
        assert reply.header("content-type") == "application/problem+json"


async def test_a_body_that_is_called_something_else_is_not_taken_with_the_cookie(
    gateway: Gateway, operator: Operator
) -> None:
    for kind in ("text/plain", "application/x-www-form-urlencoded", "application/jsonp", ""):
        headers = [header for header in operator.headers if header != JSON] + [("content-type", kind)]
        reply = await fetch(gateway.port, "POST", "/admin/v1/models", headers, b'{"name": "called"}')
        assert reply.status == 415, kind
    packed = [*operator.headers, ("content-encoding", "gzip")]
    assert (await fetch(gateway.port, "POST", "/admin/v1/models", packed, b"x")).status == 415
