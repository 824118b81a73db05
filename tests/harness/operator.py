"""An operator at the console of a running gateway: signs in, and asks with the cookie."""

import json
from collections.abc import Sequence
from typing import Any

from tests.harness import settings
from tests.harness.client import Connection, Reply, fetch, request_bytes

JSON = ("content-type", "application/json")
Headers = Sequence[tuple[str, str]]


async def sign_in(port: int, token: str = settings.ADMIN, extra: Headers = ()) -> Reply:
    """The answer to a sign-in."""
    body = json.dumps({"token": token}).encode()
    return await fetch(port, "POST", "/admin/v1/session", [JSON, *extra], body)


class Operator:
    """One who is signed in, at whichever gateway listens on a port."""

    def __init__(self, reply: Reply) -> None:
        """`reply` is the answer to the sign-in."""
        assert reply.status == 200, reply.body
        self.session: Any = reply.json()
        self.cookie = ("cookie", (reply.header("set-cookie") or "").partition(";")[0])

    @classmethod
    async def at(cls, port: int, token: str = settings.ADMIN) -> "Operator":
        return cls(await sign_in(port, token))

    @property
    def headers(self) -> list[tuple[str, str]]:
        """What makes a change come from a page of the console."""
        return [self.cookie, ("x-csrf-token", self.session["csrf"]), JSON]

    async def ask(self, port: int, method: str, target: str, body: Any = None) -> Reply:
        """One request as a page of the console makes it."""
        content = None if body is None else json.dumps(body).encode()
        return await fetch(port, method, f"/admin/v1/{target}", self.headers, content)

    async def status(self, port: int, times: int = 1) -> set[int]:
        """What so many connections, of whichever worker, answer."""
        return {(await self.ask(port, "GET", "session")).status for _ in range(times)}

    async def open(self, port: int, method: str, target: str, body: Any = None) -> tuple[Connection, Reply]:
        """As `ask`, as soon as the head is there; the connection is the caller's to close."""
        content = None if body is None else json.dumps(body).encode()
        connection = await Connection.open(port)
        await connection.send(request_bytes(method, f"/admin/v1/{target}", self.headers, content))
        return connection, await connection.reply()
