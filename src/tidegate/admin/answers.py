"""Answers of the admin API as JSON."""

from collections.abc import Mapping
from http import HTTPStatus

import msgspec
from aiohttp import web


def json_answer(
    body: Mapping[str, object],
    status: HTTPStatus = HTTPStatus.OK,
    headers: Mapping[str, str] | None = None,
) -> web.Response:
    """A JSON object that no cache keeps."""
    return web.Response(
        status=status,
        body=msgspec.json.encode(body),
        content_type="application/json",
        headers={"cache-control": "no-store", **(headers or {})},
    )
