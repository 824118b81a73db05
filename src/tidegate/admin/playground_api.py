"""The route by which the console tries out models."""

from collections.abc import Awaitable
from http import HTTPStatus
from typing import Protocol as Port

from aiohttp import web

from tidegate.admin.authors import author_of
from tidegate.admin.catalog_api import PREFIX
from tidegate.admin.failed_tries import Tell
from tidegate.admin.parameters import read_known
from tidegate.admin.problems import Problem
from tidegate.core.protocol import Protocol
from tidegate.routing.catalog import Key
from tidegate.storage.audit import Deed

_PATH = f"{PREFIX}/playground/{{protocol}}"


class Plane(Port):
    """What answers callers."""

    def key_named(self, name: str | None) -> Key | None:
        """The key of this name; None: the console's own. None where there is none."""

    def serve_as(self, request: web.Request, protocol: Protocol, key: Key) -> Awaitable[web.StreamResponse]:
        """Answer a request exactly as a caller with this key gets it."""


class PlaygroundApi:
    """Asks models as callers do."""

    def __init__(self, plane: Plane, tell: Tell) -> None:
        """`tell` puts into the audit log who asked: the request's own row names nobody but the key."""
        self._plane = plane
        self._tell = tell

    def add_to(self, app: web.Application) -> None:
        """Serve the route."""
        app.router.add_post(_PATH, self.ask)

    async def ask(self, request: web.Request) -> web.StreamResponse:
        given = read_known(request.query.items(), ("key",))
        try:
            protocol = Protocol(request.match_info["protocol"])
        except ValueError:
            names = ", ".join(one.value for one in Protocol)
            raise Problem(HTTPStatus.NOT_FOUND, f"there is no such protocol; known are {names}") from None
        key = self._plane.key_named(given.get("key"))
        if key is None:
            raise Problem(HTTPStatus.NOT_FOUND, "key: there is none of this name", parameter="key")
        changes = {"protocol": (None, protocol.value)}
        deed = Deed(action="ask", kind="playground", name=key.name, changes=changes)
        self._tell(author_of(request), deed)
        return await self._plane.serve_as(request, protocol, key)
