"""How this node and its channels stand."""

from http import HTTPStatus

from aiohttp import web

from tidegate.admin.answers import json_answer
from tidegate.admin.catalog_api import PREFIX
from tidegate.admin.catalog_json import Json
from tidegate.admin.parameters import read_known
from tidegate.admin.ports import HealthReader, NodeHealth
from tidegate.admin.problems import Problem
from tidegate.admin.resources import iso_time


class HealthApi:
    """The route of the node's health."""

    def __init__(self, reader: HealthReader | None) -> None:
        """Without a reader nothing is known."""
        self._reader = reader

    def add_to(self, app: web.Application) -> None:
        """Serve the route."""
        app.router.add_get(f"{PREFIX}/health", self.show)

    async def show(self, request: web.Request) -> web.Response:
        read_known(request.query.items(), ())
        if self._reader is None:
            raise Problem(HTTPStatus.SERVICE_UNAVAILABLE, "this process does not watch the node")
        return json_answer(health_json(self._reader.health()))


def health_json(health: NodeHealth) -> Json:
    """The node with its channels."""
    return {
        "version": health.version,
        "started_at": iso_time(health.started_at),
        "workers": health.workers,
        "database": health.database,
        "redis": health.redis,
        "spool_rows": health.spool_rows,
        "open_requests": health.open_requests,
        "channels": [
            {
                "name": channel.name,
                "state": channel.state,
                "open_requests": channel.open_requests,
                "models": [
                    {
                        "upstream_model": model.upstream_model,
                        "state": model.state,
                        "why": model.why,
                        "until": None if model.until is None else iso_time(model.until),
                    }
                    for model in channel.models
                ],
            }
            for channel in health.channels
        ],
    }
