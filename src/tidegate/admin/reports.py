"""The routes of what is told of many requests: the overview, the live tail, and what keys have done."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from http import HTTPStatus

from aiohttp import web

from tidegate.admin.answers import json_answer
from tidegate.admin.catalog_api import PREFIX
from tidegate.admin.catalog_json import Json
from tidegate.admin.overview_json import key_json, overview_json
from tidegate.admin.overview_parameters import read_question
from tidegate.admin.ports import Entry
from tidegate.admin.problems import Problem
from tidegate.admin.tail_api import TailApi
from tidegate.core.failure import TidegateError
from tidegate.storage.figures import FiguresReader
from tidegate.storage.live_tail import LiveTail

_PATIENCE = 2.0
"""Seconds for which a list of keys waits for what they have done."""


class Reports:
    """Answers from the journal as a whole. What is None cannot be asked."""

    def __init__(self, figures: FiguresReader | None, live: LiveTail | None) -> None:
        self._figures = figures
        self._tail = TailApi(live)

    def add_to(self, app: web.Application) -> None:
        """Serve the routes."""
        app.router.add_get(f"{PREFIX}/overview", self.overview)
        app.router.add_get(f"{PREFIX}/requests/tail", self._tail.show, allow_head=False)

    async def overview(self, request: web.Request) -> web.Response:
        if self._figures is None:
            raise Problem(HTTPStatus.SERVICE_UNAVAILABLE, "this gateway keeps no figures")
        question = read_question(request.query.items(), self._figures.now())
        at, overview = await self._figures.overview(question)
        return json_answer(overview_json(question, overview, at))

    async def of_keys(self, entries: Sequence[Entry]) -> Sequence[Json]:
        """What each key has done; all null where that is not known, as while the database is away."""
        if self._figures is not None:
            with suppress(TidegateError, TimeoutError):
                async with asyncio.timeout(_PATIENCE):
                    found = await self._figures.keys([entry.name for entry in entries])
                return [key_json(found[entry.name]) for entry in entries]
        return [key_json(None) for _ in entries]
