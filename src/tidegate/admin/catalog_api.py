"""The routes of channels, models, accounts and keys."""

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from http import HTTPStatus
from typing import TypeAlias
from urllib.parse import quote

from aiohttp import web

from tidegate.admin.answers import json_answer
from tidegate.admin.authors import author_of
from tidegate.admin.bodies import read_object
from tidegate.admin.catalog_json import Json, entry_json
from tidegate.admin.parameters import read_flag, read_known, read_limit
from tidegate.admin.ports import CatalogDesk, Entry, Settings
from tidegate.admin.problems import Problem
from tidegate.storage.audit import Author
from tidegate.storage.catalog import ChangedMeanwhile, Kind, NotThere

PREFIX = "/admin/v1"
_TAG = re.compile(r'(?:W/)?"[^"]*"')
_TAGS = re.compile(rf"\s*{_TAG.pattern}\s*(?:,\s*(?:{_TAG.pattern}\s*)?)*")


Extras: TypeAlias = Callable[[Sequence[Entry]], Awaitable[Sequence[Json]]]
Before: TypeAlias = Callable[[Settings, Author], Awaitable[None]]


class CatalogApi:
    """Lists, adds, changes and deletes what is of one kind."""

    def __init__(
        self, kind: Kind, desk: CatalogDesk, extras: Extras | None = None, before: Before | None = None
    ) -> None:
        """`extras` gives what is shown of each besides its settings; `before` is done before one is added."""
        self._kind = kind
        self._desk = desk
        self._extras = extras or _no_extras
        self._before = before

    def add_to(self, app: web.Application) -> None:
        """Serve the routes."""
        path = f"{PREFIX}/{self._kind.value}"
        one = f"{path}/{{name}}"
        app.router.add_get(path, self.page)
        app.router.add_post(path, self.create)
        app.router.add_get(one, self.show)
        app.router.add_patch(one, self.change)
        app.router.add_delete(one, self.remove)

    async def page(self, request: web.Request) -> web.Response:
        given = read_known(request.query.items(), ("limit", "after"))
        limit, after = read_limit(given.get("limit")), given.get("after", "")
        entries = [entry for entry in await self._desk.entries(self._kind) if entry.name > after]
        shown = entries[:limit]
        more = len(entries) > limit
        extras = await self._extras(shown)
        return json_answer(
            {
                "data": [self._json(entry) | extra for entry, extra in zip(shown, extras, strict=True)],
                "has_more": more,
                "next": shown[-1].name if more else None,
            }
        )

    async def show(self, request: web.Request) -> web.Response:
        read_known(request.query.items(), ())
        return await self._answer(await self.wanted(request))

    async def create(self, request: web.Request) -> web.Response:
        read_known(request.query.items(), ())
        settings = await read_object(request)
        if self._before is not None:
            await self._before(settings, author_of(request))
        entry, secret = await self._desk.by(author_of(request)).create(self._kind, settings)
        more = {} if secret is None else {"secret": secret.reveal()}
        return await self._answer(entry, HTTPStatus.CREATED, more)

    async def change(self, request: web.Request) -> web.Response:
        read_known(request.query.items(), ())
        settings = await read_object(request)
        version = await self._expected(request)
        desk = self._desk.by(author_of(request))
        return await self._answer(await desk.change(self._kind, _name(request), settings, version))

    async def remove(self, request: web.Request) -> web.Response:
        known = ("force",) if self._kind is Kind.ACCOUNTS else ()
        given = read_known(request.query.items(), known)
        revoke_keys = read_flag("force", given.get("force"))
        version = await self._expected(request)
        desk = self._desk.by(author_of(request))
        await desk.remove(self._kind, _name(request), version, revoke_keys=revoke_keys)
        return web.Response(status=HTTPStatus.NO_CONTENT)

    async def wanted(self, request: web.Request) -> Entry:
        """The entry that the path names."""
        entry = await self._desk.entry(self._kind, _name(request))
        if entry is None:
            raise NotThere(self._kind.one)
        return entry

    def _json(self, entry: Entry) -> Json:
        return entry_json(entry, self._desk.doubts(entry))

    async def _answer(
        self, entry: Entry, status: HTTPStatus = HTTPStatus.OK, more: Mapping[str, object] | None = None
    ) -> web.Response:
        extra = (await self._extras([entry]))[0]
        headers = {} if entry.origin is None else {"etag": _tag(entry.origin.version)}
        if status is HTTPStatus.CREATED:
            headers["location"] = f"{PREFIX}/{self._kind.value}/{quote(entry.name, safe='')}"
        return json_answer(self._json(entry) | extra | dict(more or {}), status, headers)

    async def _expected(self, request: web.Request) -> int | None:
        """The version that `If-Match` demands; None where any will do."""
        wanted = ", ".join(request.headers.getall("if-match", ["*"])).strip()
        if wanted == "*":
            return None
        origin = (await self.wanted(request)).origin
        if origin is None:
            return None  # it has no tag, and cannot be changed here whatever is sent
        if _TAGS.fullmatch(wanted) is None:
            raise Problem(
                HTTPStatus.PRECONDITION_FAILED,
                "if-match: is no `etag` of an earlier answer; send it as it came, with its quotes",
                parameter="if-match",
            )
        if _tag(origin.version) not in _TAG.findall(wanted):
            raise ChangedMeanwhile(wanted)
        return origin.version


async def _no_extras(entries: Sequence[Entry]) -> Sequence[Json]:
    return [{} for _ in entries]


def _tag(version: int) -> str:
    return f'"{version}"'


def _name(request: web.Request) -> str:
    return request.match_info["name"]
