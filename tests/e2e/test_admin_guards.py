"""No answer of the admin API can be taken for a page, whatever was asked and by whom."""

import pytest
from tests.harness import settings
from tests.harness.client import Connection
from tests.harness.gateway import Gateway

GUARDED = {
    "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "cache-control": "no-store",
    "server": "tidegate",
}


@pytest.mark.parametrize(
    "head",
    [
        b"GET /admin/v1/keys HTTP/1.1\r\nhost: a\r\nbad header\r\n\r\n",
        b"GET /admin/v1/keys HTTP/1.1\r\nhost: a\r\nx: " + b"x" * 70_000 + b"\r\n\r\n",
        b"POST /admin/v1/keys HTTP/1.1\r\nhost: a\r\nexpect: the-worst\r\ncontent-length: 0\r\n\r\n",
        b"GET /admin/v1/keys HTTP/1.1\r\nhost: a\r\n\r\n",
        b"GET http://a/admin/v1/keys HTTP/1.1\r\nhost: a\r\n\r\n",
        b"GET /admin/v1/requests/tail HTTP/1.1\r\nhost: a\r\n%b\r\n\r\n"
        % f"authorization: Bearer {settings.ADMIN}".encode(),
    ],
    ids=["no HTTP", "too long", "expects", "no token", "a whole URL", "the tail"],
)
async def test_every_answer_is_guarded(gateway: Gateway, head: bytes) -> None:
    connection = await Connection.open(gateway.port)
    await connection.send(head)
    reply = await connection.reply()
    assert {name: reply.header(name) for name in GUARDED} == GUARDED
    kind = "application/problem+json" if reply.status >= 400 else "text/event-stream"
    assert reply.header("content-type") == kind
    connection.close()
