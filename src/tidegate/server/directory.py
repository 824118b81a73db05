"""The routes around the data plane: health, the list of models, and answers to what is not there."""

from collections.abc import Awaitable, Callable, Mapping

from aiohttp import web
from msgspec import json

from tidegate.core.failure import Failure, Kind
from tidegate.exchange.admission import identify
from tidegate.exchange.lifecycle import Exchange
from tidegate.exchange.ports import Headers
from tidegate.protocols import model_list
from tidegate.routing.catalog import Key
from tidegate.server import answers, cors, metrics_page
from tidegate.server.metrics_page import MetricsPage

_MODELS = "/v1/models"


class Directory:
    """Answers everything that is neither a data route nor the admin API."""

    def __init__(
        self,
        exchange: Exchange,
        ready: Callable[[], Awaitable[bool]],
        created: int,
        facts: Callable[[], Mapping[str, object]] = dict,
        metrics: MetricsPage | None = None,
    ) -> None:
        """`ready` asks the database; `created` is the time shown for every model, in Unix seconds.

        `facts` is what else /readyz tells: what is so does not make a gateway unready. `metrics` None: they
        are on a port of their own.
        """
        self._exchange = exchange
        self._facts = facts
        self._metrics = metrics
        self._ready = ready
        self._created = created

    async def answer(
        self, method: str, path: str, headers: Mapping[str, str], request_id: str, extra: Headers
    ) -> web.Response:
        """One answer; `extra` are headers that every answer to this caller carries."""
        protocol = answers.protocol_of(path, anthropic="anthropic-version" in headers)
        told = [*answers.request_id_headers(request_id, protocol), *extra]
        if not self._known(path):
            failure = Failure(kind=Kind.ROUTE_NOT_FOUND, message=f"There is nothing at {path[:200]}.")
            return answers.error(failure, protocol, request_id, extra)
        if method == "OPTIONS" and extra:
            return answers.empty([*told, *cors.preflight(headers, "GET")])
        if method not in ("GET", "HEAD"):
            message = f"{method} is not allowed here; use GET."
            failure = Failure(kind=Kind.METHOD_NOT_ALLOWED, message=message, allow="GET, HEAD")
            return answers.error(failure, protocol, request_id, extra)
        if path == "/":
            return answers.state(200, {"name": "tidegate"}, told)
        if path in ("/healthz", "/readyz"):
            return await self._health(path, told)
        if path == metrics_page.PATH and self._metrics is not None:
            return await self._metrics.answer(headers, told)
        return self._models_answer(path, headers, request_id, told, extra)

    def _known(self, path: str) -> bool:
        if path == metrics_page.PATH:
            return self._metrics is not None
        return path in ("/", "/healthz", "/readyz", _MODELS) or path.startswith(_MODELS + "/")

    def _models_answer(
        self, path: str, headers: Mapping[str, str], request_id: str, told: Headers, extra: Headers
    ) -> web.Response:
        protocol = answers.protocol_of(path, anthropic="anthropic-version" in headers)
        found = self._models(path, headers)
        if isinstance(found, Failure):
            return answers.error(found, protocol, request_id, extra)
        return answers.whole(found, 200, told)

    async def _health(self, path: str, headers: Headers) -> web.Response:
        if path == "/healthz":
            return answers.state(200, {"status": "ok"}, headers)
        database = await self._ready()
        channels = bool(self._exchange.snapshot.catalog.channels)
        ready = database and channels and not self._exchange.draining
        facts: dict[str, object] = {
            "status": "ready" if ready else "not ready",
            "database": "ok" if database else "unreachable",
            "channels": "ok" if channels else "none",
            "draining": self._exchange.draining,
        }
        facts |= self._facts()
        return answers.state(200 if ready else 503, facts, headers)

    def _models(self, path: str, headers: Mapping[str, str]) -> bytes | Failure:
        catalog = self._exchange.snapshot.catalog
        key = identify(catalog, headers)
        if isinstance(key, Failure):
            return key
        anthropic = "anthropic-version" in headers
        if path == _MODELS:
            names = catalog.public_models(key)
            write = model_list.anthropic_list if anthropic else model_list.openai_list
            return write(names, self._created)
        return self._model(path.removeprefix(_MODELS + "/"), key, anthropic=anthropic)

    def _model(self, name: str, key: Key, *, anthropic: bool) -> bytes | Failure:
        catalog = self._exchange.snapshot.catalog
        if not (catalog.known(name) and catalog.allows(key, name)):
            message = f"model: {name}" if anthropic else f"The model `{name}` does not exist."
            return Failure(kind=Kind.MODEL_NOT_FOUND, message=message, param="model")
        write = model_list.anthropic_model if anthropic else model_list.openai_model
        return json.encode(write(name, self._created))
