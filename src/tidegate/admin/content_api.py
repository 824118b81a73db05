"""What is kept of what requests said, over the admin API."""

from collections.abc import Collection
from functools import partial
from http import HTTPStatus

from aiohttp import web

from tidegate.admin.answers import json_answer
from tidegate.admin.authors import author_of
from tidegate.admin.catalog_api import PREFIX
from tidegate.admin.parameters import read_known
from tidegate.admin.ports import ContentDesk
from tidegate.admin.problems import Problem
from tidegate.admin.resources import iso_time
from tidegate.storage.audit import Deed, note
from tidegate.storage.content_desk import Also
from tidegate.storage.contents import KeptContent, KeptPart


class ContentApi:
    """Reads and deletes the content of one request."""

    def __init__(self, desk: ContentDesk) -> None:
        self._desk = desk

    def add_to(self, app: web.Application) -> None:
        """Serve the routes."""
        place = f"{PREFIX}/requests/{{id}}/content"
        app.router.add_get(place, self.show, allow_head=False)
        app.router.add_delete(place, self.forget)

    async def show(self, request: web.Request) -> web.Response:
        """What a request and its answer said."""
        read_known(request.query.items(), ())
        identifier = request.match_info["id"]
        found = await self._desk.one(identifier, _noting(request, "read", identifier))
        if found is None:
            raise _nothing_kept()
        return json_answer(content_json(found))

    async def forget(self, request: web.Request) -> web.Response:
        """Delete it; the row of the request stays."""
        read_known(request.query.items(), ())
        identifier = request.match_info["id"]
        if not await self._desk.forget(identifier, _noting(request, "delete", identifier)):
            raise _nothing_kept()
        return web.Response(status=HTTPStatus.NO_CONTENT)


class NothingKept:
    """Implements `ContentDesk` where no content is kept."""

    async def one(self, identifier: str, also: Also) -> KeptContent | None:
        """Nothing."""
        del identifier, also
        return None

    async def present(self, identifiers: Collection[str]) -> frozenset[str]:
        """None of them."""
        del identifiers
        return frozenset()

    async def forget(self, identifier: str, also: Also) -> bool:
        """Nothing was kept."""
        del identifier, also
        return False


def _noting(request: web.Request, action: str, identifier: str) -> Also:
    """Who reads or deletes what people said is on record."""
    deed = Deed(action=action, kind="contents", name=identifier)
    return partial(note, author=author_of(request), deed=deed)


def content_json(content: KeptContent) -> dict[str, object]:
    """A content as docs/capture.md describes it."""
    return {
        "id": content.id,
        "captured_at": iso_time(content.captured_at),
        "request": _part_json(content.request),
        "answer": _part_json(content.answer),
    }


def _part_json(part: KeptPart) -> dict[str, object]:
    return {"text": part.text, "bytes": part.length, "truncated": part.truncated}


def _nothing_kept() -> Problem:
    return Problem(HTTPStatus.NOT_FOUND, "nothing is kept of what a request with this id said")
