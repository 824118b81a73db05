"""The admin API with every route that a gateway has."""

from aiohttp import web
from tests.unit.admin.fakes import NoCatalog, NoPlane, NoTrail, gate
from tests.unit.admin.test_app import Journal

from tidegate.admin.app import create_admin_app
from tidegate.admin.audit_api import AuditApi
from tidegate.admin.playground_api import PlaygroundApi


def whole_app() -> web.Application:
    return create_admin_app(
        gate("token"),
        Journal(),
        NoCatalog(),
        more=[PlaygroundApi(NoPlane(), lambda _author, _deed: None), AuditApi(NoTrail())],
    )
