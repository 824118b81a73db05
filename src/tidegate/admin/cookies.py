"""The cookie that holds the id of a session."""

from aiohttp import web
from aiohttp.web_request import BaseRequest

NAME = "tidegate_session"
_PATH = "/admin/v1"


def read(request: BaseRequest) -> str | None:
    """The id that was sent; None where there is no cookie."""
    return request.cookies.get(NAME) or None


def write(response: web.Response, identifier: str, *, secure: bool) -> None:
    """Have the browser keep it for as long as it runs: no script can read it, no other site can send it."""
    response.set_cookie(NAME, identifier, path=_PATH, httponly=True, samesite="Strict", secure=secure)


def forget(response: web.StreamResponse, *, secure: bool) -> None:
    """Have the browser delete it."""
    response.del_cookie(NAME, path=_PATH, httponly=True, samesite="Strict", secure=secure)
