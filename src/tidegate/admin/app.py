"""The admin API as an aiohttp application."""

import logging
from collections.abc import Iterable
from http import HTTPStatus
from typing import Protocol

from aiohttp import web
from aiohttp.typedefs import Handler, Middleware

from tidegate.admin import cookies, openapi
from tidegate.admin.accounts_api import AccountsApi
from tidegate.admin.answers import json_answer
from tidegate.admin.bodies import MAX_BYTES
from tidegate.admin.catalog_api import PREFIX, CatalogApi
from tidegate.admin.channels_api import ChannelsApi
from tidegate.admin.content_api import ContentApi, NothingKept
from tidegate.admin.gatekeeper import Gatekeeper, judged_by_token
from tidegate.admin.health_api import HealthApi
from tidegate.admin.parameters import read_known
from tidegate.admin.ports import (
    CatalogDesk,
    ChannelTester,
    ContentDesk,
    HealthReader,
    LedgerDesk,
    RequestReader,
)
from tidegate.admin.problems import Problem, answer, refusal
from tidegate.admin.reports import Reports
from tidegate.admin.requests_api import RequestsApi
from tidegate.admin.session_api import PATH as SESSION_PATH
from tidegate.admin.session_api import SessionApi
from tidegate.core.failure import TidegateError
from tidegate.core.guard_headers import GUARDS
from tidegate.storage.catalog import Kind

log = logging.getLogger("tidegate.admin")


class Routes(Protocol):
    """A part of the API."""

    def add_to(self, app: web.Application) -> None:
        """Serve its routes."""


def create_admin_app(
    gate: Gatekeeper,
    requests: RequestReader,
    catalog: CatalogDesk,
    ledger: LedgerDesk | None = None,
    health: HealthReader | None = None,
    tester: ChannelTester | None = None,
    reports: Reports | None = None,
    contents: ContentDesk | None = None,
    more: Iterable[Routes] = (),
) -> web.Application:
    """The whole API under /admin/v1; `gate` lets nobody in but operators, but for signing in.

    Without a ledger nothing is told of balances, and nothing can be credited; without the next two nothing
    of the node, and no channel can be tested; without reports there is no overview and no live tail;
    without `contents` no request has a content. `more` are further routes.
    """
    app = web.Application(middlewares=[_border(gate)], client_max_size=MAX_BYTES)
    app.router.add_get(f"{PREFIX}/openapi.json", _describe)
    reports = reports or Reports(None, None)
    reports.add_to(app)
    contents = contents or NothingKept()
    RequestsApi(requests, contents).add_to(app)
    ContentApi(contents).add_to(app)
    ChannelsApi(catalog, tester, gate.tell).add_to(app)
    HealthApi(health).add_to(app)
    CatalogApi(Kind.MODELS, catalog).add_to(app)
    CatalogApi(Kind.KEYS, catalog, reports.of_keys).add_to(app)
    AccountsApi(catalog, ledger).add_to(app)
    SessionApi(gate).add_to(app)
    for routes in more:
        routes.add_to(app)
    return app


async def _describe(request: web.Request) -> web.Response:
    read_known(request.query.items(), ())
    return json_answer(openapi.document())


def _border(gate: Gatekeeper) -> Middleware:
    """Lets operators in and turns every error into an answer."""

    @web.middleware
    async def border(request: web.Request, handler: Handler) -> web.StreamResponse:
        response = await answered(request, handler)
        if not response.prepared:
            response.headers["server"] = "tidegate"  # in place of aiohttp's own, which tells versions
            response.headers.update(GUARDS)
            response.headers.setdefault("cache-control", "no-store")
        return response

    async def answered(request: web.Request, handler: Handler) -> web.StreamResponse:
        try:
            if (request.method, request.path) == ("POST", SESSION_PATH):
                return await handler(request)
            await gate.admit(request)
            return await gate.while_signed_in(request, handler(request))
        except Exception as error:
            problem = _problem_of(error)
        response = answer(problem)
        over = cookies.read(request) is not None and not judged_by_token(request)
        if problem.status is HTTPStatus.UNAUTHORIZED and over:
            cookies.forget(response, secure=gate.visitor(request).secure)
        return response

    return border


def _problem_of(error: Exception) -> Problem:
    match error:
        case Problem():
            return error
        case web.HTTPException():
            return _routing_problem(error)
        case TidegateError(failure=failure):
            log.error("admin API: %s: %s", failure.message, failure.detail)
            return Problem(HTTPStatus.SERVICE_UNAVAILABLE, failure.message)
        case _:  # any other error may come out of a change
            refused = refusal(error)
            if refused is None:
                log.error("admin API: unexpected error", exc_info=error)
            return refused or Problem(
                HTTPStatus.INTERNAL_SERVER_ERROR, "the gateway failed; its log says how"
            )


def _routing_problem(error: web.HTTPException) -> Problem:
    match error:
        case web.HTTPMethodNotAllowed():
            allowed = error.headers.get("allow", "")
            return Problem(
                HTTPStatus.METHOD_NOT_ALLOWED, f"this path takes {allowed}", headers={"allow": allowed}
            )
        case web.HTTPNotFound():
            return Problem(HTTPStatus.NOT_FOUND, f"there is no such path; {PREFIX}/openapi.json lists all")
        case _:  # aiohttp has an exception for every status
            return Problem(HTTPStatus(error.status), error.reason)
