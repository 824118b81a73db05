"""Sessions and the playground in the OpenAPI document."""

from tidegate.admin.gatekeeper import CSRF_HEADER
from tidegate.admin.openapi_parts import TEXT, TIME, Schema, body, closed, content, problems, query, structure
from tidegate.core.protocol import Protocol

_COOKIE_ONLY: Schema = {"security": [{"session": []}]}
_CSRF: Schema = {
    "name": CSRF_HEADER,
    "in": "header",
    "schema": TEXT,
    "description": "`csrf` of the session. Every change that comes with the cookie needs it.",
}


def paths() -> Schema:
    """The routes."""
    return {
        "/admin/v1/session": {"post": _open(), "get": _show(), "delete": _close()},
        "/admin/v1/playground/{protocol}": {"post": _ask()},
    }


def guarded(paths: Schema) -> Schema:
    """The routes with what the door answers on each, and the header that it wants for changes."""
    return {path: {method: _guarded(method, one) for method, one in _ops(paths, path)} for path in paths}


def _ops(paths: Schema, path: str) -> list[tuple[str, Schema]]:
    operations = paths[path]
    return list(operations.items()) if isinstance(operations, dict) else []


def _guarded(method: str, operation: Schema) -> Schema:
    answers, parameters = operation["responses"], operation.get("parameters", [])
    statuses = ("401", "429", "503") if method == "get" else ("401", "403", "415", "429", "503")
    of_bodies = ("408", "413") if "requestBody" in operation else ()
    told = {**problems(*statuses, *of_bodies), **(answers if isinstance(answers, dict) else {})}
    wants = [] if method == "get" or operation.get("security") == [] else [_CSRF]
    return {
        **operation,
        "parameters": [*(parameters if isinstance(parameters, list) else []), *wants],
        "responses": dict(sorted(told.items())),
    }


def schemas() -> Schema:
    """What goes in and out."""
    token: Schema = {"type": "string", "minLength": 1, "maxLength": 4096, "writeOnly": True}
    return {
        "SignIn": closed({"token": token}, required=("token",)),
        "Session": structure({"operator": TEXT, "expires_at": TIME, "csrf": TEXT}),
    }


def _open() -> Schema:
    cookie: Schema = {"set-cookie": {"schema": TEXT, "description": "The session's cookie."}}
    return {
        "summary": "Sign in with an operator's token",
        "operationId": "openSession",
        "security": [],
        "requestBody": body("SignIn"),
        "responses": {
            "200": {**content("Signed in.", "Session"), "headers": cookie},
            **problems("400", "401", "403", "408", "413", "415", "422", "429", "503"),
        },
    }


def _show() -> Schema:
    return {
        "summary": "The session of the cookie",
        "operationId": "getSession",
        **_COOKIE_ONLY,
        "responses": {"200": content("Signed in.", "Session"), **problems("400", "401", "429", "503")},
    }


def _close() -> Schema:
    return {
        "summary": "Sign out; the session is over on all workers and nodes",
        "operationId": "closeSession",
        **_COOKIE_ONLY,
        "responses": {
            "204": {"description": "Signed out."},
            **problems("400", "401", "403", "415", "429", "503"),
        },
    }


def _ask() -> Schema:
    protocol: Schema = {
        "name": "protocol",
        "in": "path",
        "required": True,
        "schema": {"enum": [one.value for one in Protocol]},
    }
    anything: Schema = {"application/json": {"schema": {"type": "object"}}}
    told: Schema = {**anything, "application/problem+json": {"schema": {"type": "object"}}}
    return {
        "summary": "Ask a model as a caller would: same limits, same bill, a row like any other",
        "operationId": "ask",
        "parameters": [
            protocol,
            query("key", TEXT, "The name of the key to ask as; absent: `console`, which may use all models."),
        ],
        "requestBody": {"required": True, "content": anything},
        "responses": {
            "200": {
                "description": "As the protocol has it: a whole answer, or a stream of events.",
                "content": {**anything, "text/event-stream": {"schema": TEXT}},
            },
            "default": {"description": "An error as callers get it, or of the admin API.", "content": told},
        },
    }
