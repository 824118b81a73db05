"""The admin API as an aiohttp application."""

import hmac
import logging
from http import HTTPStatus

from aiohttp import web
from aiohttp.typedefs import Handler, Middleware

from tidegate.admin import openapi
from tidegate.admin.accounts_api import AccountsApi
from tidegate.admin.answers import json_answer
from tidegate.admin.bodies import MAX_BYTES
from tidegate.admin.catalog_api import PREFIX, CatalogApi
from tidegate.admin.channels_api import ChannelsApi
from tidegate.admin.health_api import HealthApi
from tidegate.admin.ports import CatalogDesk, ChannelTester, HealthReader, LedgerDesk, RequestReader
from tidegate.admin.problems import Problem, answer, refusal
from tidegate.admin.reports import Reports
from tidegate.admin.requests_api import RequestsApi
from tidegate.core.failure import TidegateError
from tidegate.core.secret import Secret
from tidegate.storage.catalog import Kind

log = logging.getLogger("tidegate.admin")


def create_admin_app(
    token: Secret,
    requests: RequestReader,
    catalog: CatalogDesk,
    ledger: LedgerDesk | None = None,
    health: HealthReader | None = None,
    tester: ChannelTester | None = None,
    reports: Reports | None = None,
) -> web.Application:
    """The whole API under /admin/v1; every path of it demands `token`, which must not be empty.

    Without a ledger nothing is told of balances, and nothing can be credited; without the next two nothing
    of the node, and no channel can be tested; without reports there is no overview and no live tail.
    """
    if not token:
        raise ValueError("the admin API needs a token")
    app = web.Application(middlewares=[_border(token)], client_max_size=MAX_BYTES)
    app.router.add_get(f"{PREFIX}/openapi.json", _describe)
    reports = reports or Reports(None, None)
    reports.add_to(app)
    RequestsApi(requests).add_to(app)
    ChannelsApi(catalog, tester).add_to(app)
    HealthApi(health).add_to(app)
    CatalogApi(Kind.MODELS, catalog).add_to(app)
    CatalogApi(Kind.KEYS, catalog, reports.of_keys).add_to(app)
    AccountsApi(catalog, ledger).add_to(app)
    return app


async def _describe(_request: web.Request) -> web.Response:
    return json_answer(openapi.document())


def _border(token: Secret) -> Middleware:
    """Checks the token and turns every error into an answer."""
    expected = token.reveal().encode("utf-8", "surrogateescape")

    @web.middleware
    async def border(request: web.Request, handler: Handler) -> web.StreamResponse:
        response = await answered(request, handler)
        response.headers["server"] = "tidegate"  # in place of aiohttp's own, which tells versions
        return response

    async def answered(request: web.Request, handler: Handler) -> web.StreamResponse:
        try:
            _check_token(request, expected)
            return await handler(request)
        except Problem as problem:
            return answer(problem)
        except web.HTTPException as error:
            return answer(_routing_problem(error))
        except TidegateError as error:
            log.error("admin API: %s: %s", error.failure.message, error.failure.detail)
            return answer(Problem(HTTPStatus.SERVICE_UNAVAILABLE, error.failure.message))
        except Exception as error:
            refused = refusal(error)
            if refused is not None:
                return answer(refused)
            log.exception("admin API: unexpected error")
            return answer(Problem(HTTPStatus.INTERNAL_SERVER_ERROR, "the gateway failed; its log says how"))

    return border


def _check_token(request: web.Request, expected: bytes) -> None:
    scheme, _, given = request.headers.get("authorization", "").partition(" ")
    # Compared in constant time, so that the time of the answer tells nothing about the token.
    known = hmac.compare_digest(given.strip().encode("utf-8", "surrogateescape"), expected)
    if scheme.lower() != "bearer" or not known:
        raise Problem(
            HTTPStatus.UNAUTHORIZED,
            "the admin token is missing or wrong; send it as `Authorization: Bearer TOKEN`",
            headers={"www-authenticate": 'Bearer realm="tidegate admin"'},
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
