"""Shows the figures for Prometheus to whom they may be shown."""

import asyncio
import hmac
import socket
from collections.abc import Awaitable, Callable, Mapping
from typing import TypeAlias

from aiohttp import web
from aiohttp.web_request import BaseRequest

from tidegate.core.secret import Secret
from tidegate.exchange.ports import Headers
from tidegate.observe.exposition import Format, negotiated

PATH = "/metrics"
Text: TypeAlias = Callable[[Format], Awaitable[str]]
"""Writes the page."""

_SERVER = ("server", "tidegate")


class MetricsPage:
    """The page on the main port; with a token it is for those who know that."""

    def __init__(self, text: Text, token: Secret | None) -> None:
        self._text = text
        self._token = None if token is None else token.reveal().encode("utf-8", "surrogateescape")

    async def answer(self, headers: Mapping[str, str], told: Headers) -> web.Response:
        """One answer; `told` are headers that every answer carries."""
        if not self._allowed(headers):
            text = "send the admin token as `Authorization: Bearer TOKEN`\n"
            challenge = ("www-authenticate", 'Bearer realm="tidegate metrics"')
            return web.Response(status=401, text=text, headers=[*told, _SERVER, challenge])
        return await page(self._text, headers, told)

    def _allowed(self, headers: Mapping[str, str]) -> bool:
        if self._token is None:
            return True
        scheme, _, given = headers.get("authorization", "").partition(" ")
        # In constant time, so that the time of the answer tells nothing about the token.
        known = hmac.compare_digest(given.strip().encode("utf-8", "surrogateescape"), self._token)
        return known and scheme.lower() == "bearer"


async def page(text: Text, asked: Mapping[str, str], told: Headers) -> web.Response:
    """The figures as an answer, in the format that is asked for."""
    form = negotiated(asked.get("accept", ""))
    headers = [
        *told,
        _SERVER,
        ("cache-control", "no-store"),
        ("vary", "accept"),
        ("content-type", form.value),
    ]
    return web.Response(body=(await text(form)).encode("utf-8", "replace"), headers=headers)


class MetricsListener:
    """A port that has this page and nothing else; whoever reaches it may read."""

    def __init__(self, text: Text) -> None:
        self._text = text
        self._server = web.Server(self._answer, access_log=None)
        self._listening: asyncio.Server | None = None

    async def listen(self, sock: socket.socket) -> None:
        """Accept connections on a bound socket."""
        self._listening = await asyncio.get_running_loop().create_server(self._server, sock=sock)

    async def close(self) -> None:
        """Stop listening."""
        if self._listening is not None:
            self._listening.close()
        await self._server.shutdown(0.5)

    async def _answer(self, request: BaseRequest) -> web.Response:
        if request.path != PATH:
            return web.Response(status=404, text=f"there is only {PATH} here\n", headers=[_SERVER])
        if request.method not in ("GET", "HEAD"):
            return web.Response(status=405, headers=[_SERVER, ("allow", "GET, HEAD")])
        return await page(self._text, request.headers, [])
