"""Puts the admin API and the console together, where there is an admin token."""

from collections.abc import Awaitable
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
from tidegate.admin.reports import Reports
from tidegate.admin.session_ids import SessionIds
from tidegate.admin.sessions import Lifetimes, Sessions
from tidegate.admin.throttle import Throttle
from tidegate.config import Config
from tidegate.config.settings import Admin
from tidegate.console.mount import Console, belongs, read_files
from tidegate.core.secret import Secret
from tidegate.managed.desk import Desk
from tidegate.storage.assembly import Storage
from tidegate.wiring.sharing import SharedMemory

_PREFIX = "/admin/"


class AdminSite:
    """What of a gateway's main port is for operators."""

    def __init__(self, runner: web.AppRunner, gate: Gatekeeper, console: Console) -> None:
        self._runner = runner
        self._gate = gate
        self._console = console

    def make_request(
        self, message: Any, payload: Any, protocol: Any, writer: Any, task: Any
    ) -> BaseRequest | None:
        """The request as the admin API takes it; None if it is not for that."""
        server = self._runner.server
        if server is None or not f"{message.path}/".startswith(_PREFIX):
            return None
        return server.request_factory(message, payload, protocol, writer, task)

    def answer(self, request: BaseRequest) -> Awaitable[web.StreamResponse] | None:
        """The answer to what is for operators; None for anything else."""
        if isinstance(request, web.Request) and self._runner.server is not None:
            return self._runner.server.request_handler(request)
        return self._console.answer(request) if belongs(request.path) else None

    async def close(self) -> None:
        """Let go of everything."""
        await self._runner.cleanup()
        self._gate.close()


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
    token = config.admin.token
    if token is None:
        return None
    parts.storage.audit.retention = config.admin.audit_retention
    parts.storage.figures.keep()
    gate = Gatekeeper(
        Operators(_tokens(token, config.admin)),
        Sessions(parts.storage.sessions, SessionIds(secret), _lifetimes(config.admin)),
        Throttle(memory.failures, memory.lock),
        config.admin.trusted_proxies,
        parts.storage.audit.tell,
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
        more=[PlaygroundApi(parts.plane), AuditApi(parts.storage.audit)],
    )
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    return AdminSite(runner, gate, Console(read_files()))


def _tokens(token: Secret, admin: Admin) -> dict[str, Secret]:
    return {ADMIN: token, **admin.operators}


def _lifetimes(admin: Admin) -> Lifetimes:
    return Lifetimes(admin.session_idle, admin.session_lifetime)
