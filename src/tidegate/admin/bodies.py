"""Reads the JSON objects that callers of the admin API send."""

import asyncio
import json
from collections.abc import Iterable
from decimal import Decimal
from http import HTTPStatus
from typing import NoReturn

from aiohttp import web

from tidegate.admin.ports import Settings
from tidegate.admin.problems import Problem

MAX_BYTES = 1 << 20
_PATIENCE = 30.0
"""Seconds that a body may take to arrive."""


async def read_object(request: web.Request, most: int = MAX_BYTES) -> Settings:
    """The body of at most so many bytes as an object, fractions as decimals. Raises Problem for all else."""
    if request.headers.get("content-encoding", "identity").lower() != "identity":
        raise Problem(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "send the body without content-encoding")
    try:
        async with asyncio.timeout(_PATIENCE):
            body = await request.clone(client_max_size=most).read()
    except TimeoutError:
        raise Problem(HTTPStatus.REQUEST_TIMEOUT, "the body did not arrive in time") from None
    except web.HTTPRequestEntityTooLarge:
        raise Problem(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"the body has more than {most:,} bytes") from None
    return parse_object(body)


def parse_object(body: bytes) -> Settings:
    """The JSON object in `body`. Raises Problem where it is none, or where a member occurs twice."""
    try:
        # Names and texts may stand in escapes that no text can hold: writing it again finds them.
        read = json.loads(
            body.decode("utf-8-sig"),
            parse_float=Decimal,
            parse_constant=_refuse,
            object_pairs_hook=_once_each,
        )
        json.dumps(read, ensure_ascii=False, default=str).encode()
    except _Twice as twice:
        raise _bad(f"the member {twice} occurs twice") from None
    except (ValueError, ArithmeticError, RecursionError):  # what these say may repeat a secret
        raise _bad("the body is no JSON text in UTF-8") from None
    if not isinstance(read, dict):
        raise _bad("the body must be a JSON object")
    return read


class _Twice(Exception):
    """A member that occurs twice; its text is fit to be shown."""


def _once_each(members: list[tuple[str, object]]) -> dict[str, object]:
    read = dict(members)
    if len(read) < len(members):
        raise _Twice(ascii(_first_twice(name for name, _ in members)[:50]))
    return read


def _first_twice(names: Iterable[str]) -> str:
    """The first name that was there before, in one pass: nobody may make the gateway look for long."""
    seen: set[str] = set()
    for name in names:
        if name in seen:
            return name
        seen.add(name)
    raise ValueError("no name occurs twice")


def _refuse(_constant: str) -> NoReturn:
    raise ValueError("NaN and Infinity are no JSON")


def _bad(detail: str) -> Problem:
    return Problem(HTTPStatus.BAD_REQUEST, detail)
