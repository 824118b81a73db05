"""Small fixed answers of the data plane, and the stand-in for an answer that a pipe has written."""

from http import HTTPStatus

from aiohttp import web
from aiohttp.abc import AbstractStreamWriter
from aiohttp.web_request import BaseRequest
from msgspec import json

from tidegate.core.failure import Failure
from tidegate.core.guard_headers import GUARDS
from tidegate.core.protocol import Protocol
from tidegate.exchange.ports import Headers
from tidegate.protocols.failures import error_headers
from tidegate.protocols.registry import dialect_of


class Written(web.StreamResponse):
    """Tells aiohttp that the answer is on its way already; only whether the connection lives on matters."""

    def __init__(self, *, keep_alive: bool) -> None:
        super().__init__()
        self._lives_on = keep_alive

    @property
    def keep_alive(self) -> bool | None:
        """Whether another request may follow."""
        return self._lives_on

    async def prepare(self, request: BaseRequest) -> AbstractStreamWriter | None:
        """Nothing is left to be written."""
        del request
        return None

    async def write_eof(self, data: bytes = b"") -> None:
        """Nothing is left to be written."""
        del data


_SERVER = ("server", "tidegate")
"""In place of aiohttp's own, which tells versions."""

KEPT = Written(keep_alive=True)
CLOSED = Written(keep_alive=False)


def protocol_of(path: str, *, anthropic: bool = False) -> Protocol:
    """Whose error form a path gets; `anthropic`: the caller sent `anthropic-version`."""
    if path.startswith("/v1/messages") or (anthropic and path.startswith("/v1/models")):
        return Protocol.MESSAGES
    return Protocol.RESPONSES if path.startswith("/v1/responses") else Protocol.CHAT


def request_id_headers(request_id: str, protocol: Protocol) -> Headers:
    """The id under the names that the SDKs of the protocol look for."""
    headers = [("x-request-id", request_id)]
    if protocol is Protocol.MESSAGES:
        headers.append(("request-id", request_id))
    return headers


def error(failure: Failure, protocol: Protocol, request_id: str, extra: Headers) -> web.Response:
    """An error answer outside the data routes."""
    status, body = dialect_of(protocol).error_answer(failure, request_id)
    return whole(body, status, [*request_id_headers(request_id, protocol), *error_headers(failure), *extra])


def problem(failure: Failure) -> web.Response:
    """An error answer for operators (RFC 9457)."""
    status, _ = dialect_of(Protocol.CHAT).error_answer(failure, "")
    body = {
        "type": "about:blank",
        "title": HTTPStatus(status).phrase,
        "status": status,
        "detail": failure.message,
    }
    return web.Response(
        status=status,
        body=json.encode(body),
        headers=[*GUARDS.items(), ("cache-control", "no-store"), _SERVER],
        content_type="application/problem+json",
    )


def whole(body: bytes, status: int, headers: Headers) -> web.Response:
    """A JSON answer."""
    told = [*headers, _SERVER]
    return web.Response(status=status, body=body, headers=told, content_type="application/json")


def empty(headers: Headers) -> web.Response:
    """An answer without a body."""
    return web.Response(status=204, headers=[*headers, _SERVER])


def state(status: int, facts: dict[str, object], headers: Headers) -> web.Response:
    """The answer of a health route."""
    return whole(json.encode(facts), status, headers)
