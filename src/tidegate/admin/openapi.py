"""The admin API described in OpenAPI, for clients and for people."""

from typing import TypeAlias

from tidegate import __version__
from tidegate.admin.parameters import DEFAULT_LIMIT, LARGEST_LIMIT
from tidegate.storage.pages import OUTCOMES, PROTOCOLS

Schema: TypeAlias = dict[str, object]

_TEXT: Schema = {"type": "string"}
_COUNT: Schema = {"type": "integer", "minimum": 0}
_MILLISECONDS: Schema = {"type": "number", "minimum": 0}
_TIME: Schema = {"type": "string", "format": "date-time"}


def document() -> Schema:
    """The OpenAPI 3.1 document."""
    return {
        "openapi": "3.1.0",
        "info": {"title": "Tidegate admin API", "version": __version__},
        "security": [{"token": []}],
        "paths": {
            "/admin/v1/requests": {"get": _list_requests()},
            "/admin/v1/requests/{id}": {"get": _show_request()},
        },
        "components": {
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
            "responses": {"Problem": _content("What went wrong.", "Problem", "application/problem+json")},
            "schemas": {
                "Request": _request_schema(),
                "Attempt": _attempt_schema(),
                "RequestPage": _object(
                    {
                        "data": {"type": "array", "items": _ref("Request")},
                        "has_more": {"type": "boolean"},
                        "next": _or_null(_TEXT, "Pass it as `before` to get the rows that follow."),
                    }
                ),
                "Problem": _object(
                    {"type": _TEXT, "title": _TEXT, "status": {"type": "integer"}, "detail": _TEXT},
                    {"parameter": _TEXT},
                ),
            },
        },
    }


def _list_requests() -> Schema:
    limit = {"type": "integer", "minimum": 1, "maximum": LARGEST_LIMIT, "default": DEFAULT_LIMIT}
    return {
        "summary": "Finished requests, newest first",
        "operationId": "listRequests",
        "parameters": [
            _query("limit", limit, "How many rows at most."),
            _query("before", _TEXT, "`next` of an earlier answer, or the id of a request: only older rows."),
            *(_query(name, _TEXT) for name in ("key", "account", "model", "channel")),
            _query("outcome", {"enum": list(OUTCOMES)}),
            _query("protocol", {"enum": list(PROTOCOLS)}),
        ],
        "responses": {"200": _content("A page of rows.", "RequestPage"), **_problems("400", "401", "503")},
    }


def _show_request() -> Schema:
    return {
        "summary": "One finished request",
        "operationId": "getRequest",
        "parameters": [{"name": "id", "in": "path", "required": True, "schema": _TEXT}],
        "responses": {"200": _content("The row.", "Request"), **_problems("401", "404", "503")},
    }


def _request_schema() -> Schema:
    return _object(
        {
            "id": _TEXT,
            "created_at": _TIME,
            "key": _or_null(_TEXT),
            "account": _or_null(_TEXT),
            "protocol": {"enum": list(PROTOCOLS)},
            "stream": {"type": "boolean"},
            "model": _or_null(_TEXT),
            "channel": _or_null(_TEXT),
            "status": {"type": "integer"},
            "outcome": {"enum": list(OUTCOMES)},
            "finish_reason": _or_null(_TEXT),
            "first_token_ms": _or_null(_MILLISECONDS),
            "duration_ms": _MILLISECONDS,
            "input_tokens": _COUNT,
            "cache_read_tokens": _COUNT,
            "cache_write_tokens": _COUNT,
            "output_tokens": _COUNT,
            "usage_source": {"enum": ["upstream", "estimated", "none"]},
            "cost": {"type": "string", "pattern": r"^-?\d+\.\d{9}$"},
            "error": _or_null(
                _object({"type": _or_null(_TEXT), "code": _or_null(_TEXT), "message": _or_null(_TEXT)})
            ),
            "warnings": {"type": "array", "items": _TEXT},
            "attempts": {"type": "array", "items": _ref("Attempt")},
        }
    )


def _attempt_schema() -> Schema:
    return _object(
        {
            "channel": _TEXT,
            "upstream_model": _TEXT,
            "status": _or_null({"type": "integer"}),
            "outcome": {"enum": ["served", "failed", "abandoned", "repaired"]},
            "error": _or_null(_TEXT),
            "started_at": _TIME,
            "duration_ms": _MILLISECONDS,
        }
    )


def _object(required: Schema, optional: Schema | None = None) -> Schema:
    return {"type": "object", "required": list(required), "properties": {**required, **(optional or {})}}


def _or_null(schema: Schema, description: str | None = None) -> Schema:
    either: Schema = {"anyOf": [schema, {"type": "null"}]}
    return either if description is None else {**either, "description": description}


def _ref(name: str) -> Schema:
    return {"$ref": f"#/components/schemas/{name}"}


def _query(name: str, schema: Schema, description: str = "") -> Schema:
    return {"name": name, "in": "query", "schema": schema, "description": description or f"Only this {name}."}


def _content(description: str, schema: str, media_type: str = "application/json") -> Schema:
    return {"description": description, "content": {media_type: {"schema": _ref(schema)}}}


def _problems(*statuses: str) -> Schema:
    return {status: {"$ref": "#/components/responses/Problem"} for status in statuses}
