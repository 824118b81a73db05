"""The routes of finished requests."""

from http import HTTPStatus

from aiohttp import web

from tidegate.admin import resources
from tidegate.admin.answers import json_answer
from tidegate.admin.catalog_api import PREFIX
from tidegate.admin.parameters import read_known, read_wanted, wrong
from tidegate.admin.ports import ContentDesk, RequestReader
from tidegate.admin.problems import Problem
from tidegate.storage.pages import UnknownPosition


class RequestsApi:
    """The rows of the journal."""

    def __init__(self, requests: RequestReader, contents: ContentDesk) -> None:
        self._requests = requests
        self._contents = contents

    def add_to(self, app: web.Application) -> None:
        """Serve the routes."""
        app.router.add_get(f"{PREFIX}/requests", self.newest)
        app.router.add_get(f"{PREFIX}/requests/{{id}}", self.show)

    async def newest(self, request: web.Request) -> web.Response:
        wanted = read_wanted(request.query.items())
        try:
            page = await self._requests.page(wanted.filters, limit=wanted.limit, before=wanted.before)
        except UnknownPosition:
            raise wrong(
                "before", "is neither a `next` of an earlier answer nor the id of a request"
            ) from None
        captured = await self._contents.present([record.id for record in page.requests])
        return json_answer(resources.page_json(page, captured))

    async def show(self, request: web.Request) -> web.Response:
        read_known(request.query.items(), ())
        record = await self._requests.one(request.match_info["id"])
        if record is None:
            raise Problem(HTTPStatus.NOT_FOUND, "there is no request with this id")
        captured = await self._contents.present([record.id])
        return json_answer(resources.request_json(record, captured))
