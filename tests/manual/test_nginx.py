"""The nginx configuration of the manual streams, waits, and keeps the operators' paths to itself."""

import asyncio
import json
import os
import re
import shutil
import subprocess
import time
from collections.abc import Iterator

import pytest
from tests.harness.client import Reply, fetch
from tests.harness.gateway import free_port
from tests.manual.blocks import ROOT, blocks_of
from tests.manual.world import KEY, TOKEN, World

PROGRAM = shutil.which("nginx", path=f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/local/sbin")
PAGE = ROOT / "docs" / "nginx.md"
[CONFIG] = [block.text for block in blocks_of(PAGE.name, PAGE.read_text()) if block.language == "nginx"]
READ_TIMEOUT = 2
"""Seconds in place of the page's: with keepalives each second it is as 400 to ten."""
_AROUND = """\
daemon off;
{user}pid {folder}/nginx.pid;
error_log {folder}/error.log warn;
events {{ worker_connections 256; }}
http {{
    access_log off;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
{config}
    # As nginx is without the page.
    server {{
        listen 127.0.0.1:{plain};
        location / {{ proxy_pass http://tidegate; }}
    }}
}}
"""


PLAIN = free_port()
"""Where the same nginx listens with its own defaults."""


@pytest.fixture(scope="module")
def nginx(world: World, tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    """The port of an nginx with the page's configuration in front of the gateway."""
    assert PROGRAM, "nginx is not installed (Debian: apt-get install nginx-light)"
    folder, port = tmp_path_factory.mktemp("nginx"), free_port()
    config = world.filled_in(CONFIG).replace("listen 80;", f"listen 127.0.0.1:{port};")
    config = config.replace("proxy_read_timeout 400s", f"proxy_read_timeout {READ_TIMEOUT}s")
    user = "user root;\n" if os.getuid() == 0 else ""  # else its workers cannot read the folder
    path = folder / "nginx.conf"
    path.write_text(_AROUND.format(user=user, folder=folder, config=config, plain=PLAIN))
    subprocess.run([PROGRAM, "-t", "-q", "-c", str(path)], check=True, timeout=20)
    with subprocess.Popen([PROGRAM, "-c", str(path)]) as process:
        try:
            wait_for(port)
            yield port
        finally:
            process.terminate()
            process.wait(10)


def wait_for(port: int) -> None:
    deadline = time.monotonic() + 10
    while True:
        try:
            asyncio.run(get(port, "/healthz"))
        except OSError:
            assert time.monotonic() < deadline, "nginx does not listen"
            time.sleep(0.05)
        else:
            return


async def get(port: int, path: str) -> Reply:
    return await fetch(port, "GET", path)


async def ask(port: int, model: str, *, stream: bool = True, prompt: str = "hi") -> Reply:
    """The answer, read to its end."""
    body = {"model": model, "stream": stream, "messages": [{"role": "user", "content": prompt}]}
    headers = [("authorization", f"Bearer {KEY}"), ("content-type", "application/json")]
    return await fetch(port, "POST", "/v1/chat/completions", headers, json.dumps(body).encode())


async def test_each_event_arrives_by_itself(nginx: int) -> None:
    reply = await ask(nginx, "sim;rate=20;words=20")
    assert reply.status == 200
    assert b"[DONE]" in reply.body
    assert len(reply.arrivals) >= 15
    assert reply.arrivals[-1][0] - reply.arrivals[0][0] > 0.5


async def test_a_silence_longer_than_the_read_timeout_breaks_no_stream(nginx: int) -> None:
    reply = await ask(nginx, f"sim;stall_after=3;stall={READ_TIMEOUT + 1}s")
    assert b": tidegate-keepalive" in reply.body
    assert b"[DONE]" in reply.body


async def test_a_whole_answer_is_cut_at_the_read_timeout(nginx: int) -> None:
    reply = await ask(nginx, f"sim;ttft={READ_TIMEOUT + 1}s", stream=False)
    assert reply.status == 504


async def test_a_body_of_some_megabytes_passes(nginx: int) -> None:
    reply = await ask(nginx, "sim", prompt="x" * 3_000_000)
    assert reply.status == 200
    assert b"[DONE]" in reply.body


@pytest.mark.usefixtures("nginx")
async def test_its_defaults_stream_too_but_refuse_large_bodies() -> None:
    reply = await ask(PLAIN, "sim;rate=20;words=20")
    assert len(reply.arrivals) >= 15
    assert (await ask(PLAIN, "sim", prompt="x" * 3_000_000)).status == 413


async def test_a_refusal_keeps_its_form(nginx: int) -> None:
    reply = await ask(nginx, "sim;status=429;retry_after=7", stream=False)
    assert reply.status == 429
    assert reply.header("retry-after") == "7"
    assert reply.json()["error"]["code"] == "rate_limit_exceeded"


async def test_an_operator_signs_in_through_it(nginx: int) -> None:
    headers = [("origin", "http://gateway.test"), ("content-type", "application/json")]
    body = json.dumps({"token": TOKEN}).encode()
    reply = await fetch(nginx, "POST", "/admin/v1/session", headers, body)
    assert reply.status == 200, reply.body
    assert "HttpOnly" in (reply.header("set-cookie") or "")
    foreign = [("origin", "http://evil.example"), ("content-type", "application/json")]
    assert (await fetch(nginx, "POST", "/admin/v1/session", foreign, body)).status == 403
    assert (await get(nginx, "/console/")).status == 200


async def test_the_operators_paths_have_a_place_of_their_own(nginx: int) -> None:
    assert (await get(nginx, "/admin/v1/requests")).status == 401
    assert (await get(nginx, "/metrics")).status == 401
    assert "deny all" in CONFIG


def test_the_page_has_what_it_explains() -> None:
    explained = re.findall(r"^\| `([a-z_]+)", PAGE.read_text(), re.MULTILINE)
    assert not [word for word in explained if "_" in word and word not in CONFIG]
