"""Errors of the admin API as problem details (RFC 9457)."""

from collections.abc import Mapping
from http import HTTPStatus

import msgspec
from aiohttp import web


class Problem(Exception):
    """An error answer. `parameter` names the query parameter that is wrong."""

    def __init__(
        self,
        status: HTTPStatus,
        detail: str,
        *,
        parameter: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(detail)
        self.status = status
        self.detail = detail
        self.parameter = parameter
        self.headers = dict(headers or {})


def answer(problem: Problem) -> web.Response:
    """The response; its type `about:blank` means that the status says what kind of problem it is."""
    body: dict[str, object] = {
        "type": "about:blank",
        "title": problem.status.phrase,
        "status": problem.status.value,
        "detail": problem.detail,
    }
    if problem.parameter is not None:
        body["parameter"] = problem.parameter
    return web.Response(
        status=problem.status,
        body=msgspec.json.encode(body),
        content_type="application/problem+json",
        headers=problem.headers,
    )
