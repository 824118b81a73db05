"""Puts the admin API and the console together, where there is an admin token."""

from collections.abc import Awaitable
from http import HTTPStatus
from typing import Any

from aiohttp import web
from aiohttp.web_request import BaseRequest
from msgspec import Struct

from tidegate.admin.app import create_admin_app
from tidegate.admin.audit_api import AuditApi
from tidegate.admin.gatekeeper import Gatekeeper
from tidegate.admin.operators import ADMIN, Operators
from tidegate.admin.playground_api import Plane, PlaygroundApi
from tidegate.admin.ports import ChannelTester, HealthReader
from tidegate.admin.problems import Problem
from tidegate.admin.problems import answer as answer_of
from tidegate.admin.reports import Reports
from tidegate.admin.session_ids import SessionIds
from tidegate.admin.sessions import Lifetimes, Sessions
from tidegate.admin.throttle import Throttle
from tidegate.config import Config
from tidegate.config.settings import Admin
from tidegate.console.mount import Console, belongs, read_files
from tidegate.core.secret import Secret
from tidegate.managed.desk import Desk
from tidegate.server.metrics_page import PATH as METRICS
from tidegate.storage.assembly import Storage
from tidegate.storage.audit_trail import AuditTrail
from tidegate.wiring.sharing import SharedMemory

_PREFIX = "/admin/"
_CONTINUE = "100-continue"
_UNEXPECTED = Problem(HTTPStatus.EXPECTATION_FAILED, f"expect: only {_CONTINUE} is known here")


async def refuse(problem: Problem) -> web.Response:
    """The answer to what is wrong."""
    return answer_of(problem)


class AdminSite:
    """What of a gateway's main port is for operators."""

    def __init__(
        self,
        runner: web.AppRunner,
        gate: Gatekeeper,
        console: Console,
        audit: AuditTrail,
        *,
        guards_figures: bool,
    ) -> None:
        """`guards_figures`: /metrics is on the main port, for those who have the admin token."""
        self._runner = runner
        self._audit = audit
        self._guards_figures = guards_figures
        self._gate = gate
        self._console = console

    def make_request(
        self, message: Any, payload: Any, protocol: Any, writer: Any, task: Any
    ) -> BaseRequest | None:
        """The request as the admin API takes it; None if it is not for that."""
        server = self._runner.server
        if server is None or not _path(message).startswith(_PREFIX):
            return None
        return server.request_factory(message, payload, protocol, writer, task)

    def answer(self, request: BaseRequest) -> Awaitable[web.StreamResponse] | None:
        """The answer to what is for operators; None for anything else."""
        if isinstance(request, web.Request) and self._runner.server is not None:
            if request.headers.get("expect", _CONTINUE).lower() != _CONTINUE:
                return refuse(_UNEXPECTED)  # aiohttp's own answer tells its version
            return self._runner.server.request_handler(request)
        if request.path == METRICS:
            return self._refused(request) if request.method in ("GET", "HEAD") else None
        return self._console.answer(request) if belongs(request.path) else None

    def _refused(self, request: BaseRequest) -> Awaitable[web.Response] | None:
        """The answer to a wrong token: where the figures are guarded, nobody shall guess unseen."""
        problem = self._gate.wrong_token(request) if self._guards_figures else None
        return None if problem is None else refuse(problem)

    def reload(self, admin: Admin) -> None:
        """Put other settings in force: who is no operator any more is signed out."""
        if admin.token is not None:
            self._gate.operators = Operators({ADMIN: admin.token, **admin.operators})
        self._gate.sessions.lifetimes = Lifetimes(admin.session_idle, admin.session_lifetime)
        self._gate.trusted = admin.trusted_proxies
        self._audit.retention = admin.audit_retention

    async def close(self) -> None:
        """Let go of everything."""
        await self._runner.cleanup()
        self._gate.close()


def _path(message: Any) -> str:
    """The path of a request, also of one that names the whole URL (RFC 9112, section 3.2.2)."""
    path: str = message.path
    return path if path.startswith("/") else str(message.url.raw_path)


class AdminParts(Struct, frozen=True):
    """What the admin API speaks to."""

    storage: Storage
    desk: Desk
    health: HealthReader
    tester: ChannelTester
    plane: Plane


async def open_admin_site(
    config: Config, secret: Secret, parts: AdminParts, memory: SharedMemory
) -> AdminSite | None:
    """The admin API and the console; None where no admin token is set."""
    audit, token = parts.storage.audit, config.admin.token
    if token is None:
        return None
    parts.storage.figures.keep()
    gate = Gatekeeper(
        Operators({ADMIN: token}),
        Sessions(parts.storage.sessions, SessionIds(secret), Lifetimes()),
        Throttle(memory.failures, memory.lock),
        tell=audit.tell,
    )
    app = create_admin_app(
        gate,
        parts.storage.requests,
        parts.desk,
        parts.storage.desk,
        parts.health,
        parts.tester,
        Reports(parts.storage.figures, parts.storage.live),
        parts.storage.content_desk,
        more=[PlaygroundApi(parts.plane, audit.tell), AuditApi(audit)],
    )
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    shown = config.server.metrics_listen is None
    site = AdminSite(runner, gate, Console(read_files()), audit, guards_figures=shown)
    site.reload(config.admin)
    return site
