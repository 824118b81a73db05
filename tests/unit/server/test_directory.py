"""The routes around the data plane."""

from typing import Any

import pytest
from tests.unit.exchange.scene import SECRET, Scene, channel
from tests.unit.server.served import AUTH, Served, served

from tidegate.exchange.snapshot import Snapshot
from tidegate.routing.catalog import Catalog, Key, digest

VERSION = "anthropic-version: 2023-06-01"
ORIGIN = "origin: https://app.example.com"


@pytest.mark.parametrize("line", ["GET /", "HEAD /", "GET /healthz", "HEAD /healthz", "GET /readyz"])
async def test_anybody_may_ask_if_it_lives(line: str) -> None:
    async with served(Scene()) as one:
        client = await one.connect()
        client.ask(line)
        reply = await client.reply(head=line.startswith("HEAD"))
        assert reply.status == 200
        assert reply.headers["x-request-id"].startswith("req_")
        assert reply.headers["server"] == "tidegate"
        client.ask("GET /healthz")
        assert (await client.reply()).json() == {"status": "ok"}, "the connection lives on"


def emptied(one: Served) -> None:
    exchange = one.scene.exchange
    exchange.snapshot = Snapshot(Catalog([]), exchange.snapshot.settings)


@pytest.mark.parametrize(
    ("change", "fact"),
    [
        (lambda one: setattr(one, "ready", False), ("database", "unreachable")),
        (lambda one: setattr(one.scene.exchange, "draining", True), ("draining", True)),
        (emptied, ("channels", "none")),
    ],
)
async def test_it_is_not_ready_without_database_or_channels_or_while_it_drains(
    change: Any, fact: Any
) -> None:
    async with served(Scene()) as one:
        assert (await one.call("GET /readyz")).json()["status"] == "ready"
        change(one)
        reply = await one.call("GET /readyz")
        assert (reply.status, reply.json()["status"]) == (503, "not ready")
        assert reply.json()[fact[0]] == fact[1]
        assert (await one.call("GET /healthz")).status == 200


async def test_other_facts_are_told_and_it_is_ready_all_the_same() -> None:
    async with served(Scene()) as one:
        assert set((await one.call("GET /readyz")).json()) == {"status", "database", "channels", "draining"}
        one.facts = {"redis": "away", "spool": 5}
        reply = await one.call("GET /readyz")
        assert (reply.status, reply.json()["status"]) == (200, "ready")
        assert (reply.json()["redis"], reply.json()["spool"]) == ("away", 5)


def locked(one: Served) -> None:
    """The key may use two models of three."""
    exchange = one.scene.exchange
    catalog = exchange.snapshot.catalog
    keys = {digest(SECRET): Key(name="k", account="a", models=("a/b", "m"))}
    exchange.snapshot = type(exchange.snapshot)(
        Catalog(catalog.channels, keys=keys), exchange.snapshot.settings
    )


MODELS = {"m": "up", "a/b": "up", "z": "up"}


async def test_the_list_shows_what_a_key_may_use_in_the_caller_s_shape() -> None:
    async with served(Scene(channel(models=MODELS))) as one:
        locked(one)
        openai = (await one.call("GET /v1/models", AUTH)).json()
        assert [model["id"] for model in openai["data"]] == ["a/b", "m"]
        assert openai["object"] == "list"
        anthropic = (await one.call("GET /v1/models?limit=5", f"x-api-key: {SECRET}", VERSION)).json()
        assert (anthropic["first_id"], anthropic["last_id"], anthropic["has_more"]) == ("a/b", "m", False)


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("m", 200),
        ("a/b", 200),
        ("a%2Fb", 200),
        ("a%2fb", 200),
        ("z", 404),
        ("x", 404),
        ("", 404),
        ("%ff", 404),
        ("%ED%A0%80", 404),
        ("a%252Fb", 404),
    ],
)
@pytest.mark.parametrize("headers", [(), (VERSION,)])
async def test_one_model(path: str, status: int, headers: tuple[str, ...]) -> None:
    async with served(Scene(channel(models=MODELS))) as one:
        locked(one)
        reply = await one.call(f"GET /v1/models/{path}", AUTH, *headers)
        assert reply.status == status
        if status == 200:
            assert reply.json()["id"] in ("m", "a/b")
        elif headers:
            assert reply.json()["error"]["type"] == "not_found_error"
        else:
            assert reply.json()["error"]["code"] == "model_not_found"


@pytest.mark.parametrize("path", ["/v1/models", "/v1/models/m"])
async def test_models_are_for_keys(path: str) -> None:
    async with served(Scene()) as one:
        openai = await one.call(f"GET {path}")
        assert (openai.status, openai.json()["error"]["code"]) == (401, "invalid_api_key")
        anthropic = await one.call(f"GET {path}", VERSION)
        assert anthropic.json()["error"]["type"] == "authentication_error"
        assert anthropic.headers["request-id"] == anthropic.json()["request_id"]


@pytest.mark.parametrize(
    ("line", "messages"),
    [
        ("GET /nowhere", False),
        ("POST /v1/embeddings", False),
        ("POST /v1/chat/completions/", False),
        ("POST /v1/messages/", True),
        ("POST /v1/messages/batches", True),
        ("GET /v1/responses/resp_1", False),
        ("GET /%ff%00%ED%A0%80", False),
        ("GET //v1/models", False),
    ],
)
async def test_what_is_not_there_is_a_404_in_the_right_form(line: str, messages: bool) -> None:
    scene = Scene()
    async with served(scene) as one:
        reply = await one.call(line, AUTH)
        assert reply.status == 404
        assert set(reply.json()) == ({"type", "error", "request_id"} if messages else {"error"})
        if not messages:
            assert reply.json()["error"]["code"] == "not_found"
    assert scene.rows == []


@pytest.mark.parametrize("path", ["/", "/healthz", "/readyz", "/v1/models", "/v1/models/m"])
@pytest.mark.parametrize("method", ["POST", "DELETE", "OPTIONS"])
async def test_a_wrong_method_is_told_the_right_ones(path: str, method: str) -> None:
    async with served(Scene()) as one:
        reply = await one.call(f"{method} {path}", AUTH)
        assert (reply.status, reply.headers["allow"]) == (405, "GET, HEAD")
        assert reply.json()["error"]["code"] == "method_not_allowed"


async def test_pages_of_an_allowed_origin_may_ask() -> None:
    async with served(Scene()) as one:
        preflight = await one.call("OPTIONS /v1/models", ORIGIN, "access-control-request-method: GET")
        assert (preflight.status, preflight.headers["access-control-allow-methods"]) == (204, "GET")
        assert preflight.headers["server"] == "tidegate"
        listed = await one.call("GET /v1/models", ORIGIN, AUTH)
        assert listed.headers["access-control-allow-origin"] == "https://app.example.com"
