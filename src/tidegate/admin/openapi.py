"""The admin API described in OpenAPI, for clients and for people."""

from tidegate import __version__
from tidegate.admin import (
    openapi_audit,
    openapi_catalog,
    openapi_channels,
    openapi_content,
    openapi_doors,
    openapi_ledger,
    openapi_reports,
)
from tidegate.admin.cookies import NAME as COOKIE
from tidegate.admin.openapi_parts import (
    AMOUNT,
    COUNT,
    FLAG,
    LIMIT,
    MILLISECONDS,
    TEXT,
    TIME,
    Schema,
    content,
    in_path,
    list_of,
    or_null,
    page_of,
    problems,
    query,
    ref,
    structure,
)
from tidegate.core.failure import Kind
from tidegate.storage.pages import OUTCOMES, PROTOCOLS


def document() -> Schema:
    """The OpenAPI 3.1 document."""
    return {
        "openapi": "3.1.0",
        "info": {"title": "Tidegate admin API", "version": __version__},
        "security": [{"token": []}, {"session": []}],
        "paths": openapi_doors.guarded(_paths()),
        "components": {
            "securitySchemes": {
                "token": {"type": "http", "scheme": "bearer"},
                "session": {"type": "apiKey", "in": "cookie", "name": COOKIE},
            },
            "responses": {"Problem": content("What went wrong.", "Problem", "application/problem+json")},
            "schemas": {
                "Request": _request_schema(),
                "Attempt": _attempt_schema(),
                "Skipped": structure({"channel": TEXT, "upstream_model": TEXT, "why": TEXT}),
                "Item": structure({"name": TEXT, "quantity": COUNT, "price": TEXT, "amount": TEXT}),
                "RequestPage": page_of("Request", "before"),
                **openapi_reports.schemas(),
                **openapi_content.schemas(),
                **openapi_catalog.schemas(),
                **openapi_channels.schemas(),
                **openapi_ledger.schemas(),
                **openapi_doors.schemas(),
                **openapi_audit.schemas(),
                "Problem": _problem_schema(),
            },
        },
    }


def _paths() -> Schema:
    return {
        "/admin/v1/requests": {"get": _list_requests()},
        "/admin/v1/requests/{id}": {"get": _show_request()},
        **openapi_reports.paths(),
        **openapi_content.paths(),
        **openapi_catalog.paths(),
        **openapi_channels.paths(),
        **openapi_ledger.paths(),
        **openapi_doors.paths(),
        **openapi_audit.paths(),
    }


def _problem_schema() -> Schema:
    fault = structure({"field": TEXT, "message": TEXT, "mend": TEXT})
    return structure(
        {"type": TEXT, "title": TEXT, "status": {"type": "integer"}, "detail": TEXT},
        {"parameter": TEXT, "errors": list_of(fault)},
    )


def _list_requests() -> Schema:
    return {
        "summary": "Finished requests, newest first",
        "operationId": "listRequests",
        "parameters": [
            query("limit", LIMIT, "How many rows at most."),
            query("before", TEXT, "`next` of an earlier answer, or the id of a request: only older rows."),
            *openapi_reports.filters(),
        ],
        "responses": {"200": content("A page of rows.", "RequestPage"), **problems("400", "401", "503")},
    }


def _show_request() -> Schema:
    return {
        "summary": "One finished request",
        "operationId": "getRequest",
        "parameters": [in_path("id")],
        "responses": {"200": content("The row.", "Request"), **problems("400", "401", "404", "503")},
    }


def _request_schema() -> Schema:
    return structure(
        {
            "id": TEXT,
            "created_at": TIME,
            "key": or_null(TEXT),
            "account": or_null(TEXT),
            "protocol": {"enum": list(PROTOCOLS)},
            "stream": FLAG,
            "model": or_null(TEXT),
            "channel": or_null(TEXT),
            "status": {"type": "integer"},
            "outcome": {"enum": list(OUTCOMES)},
            "finish_reason": or_null(TEXT),
            "first_token_ms": or_null(MILLISECONDS),
            "duration_ms": MILLISECONDS,
            "input_tokens": COUNT,
            "cache_read_tokens": COUNT,
            "cache_write_tokens": COUNT,
            "output_tokens": COUNT,
            "usage_source": {"enum": ["upstream", "estimated", "none"]},
            "cost": AMOUNT,
            "items": list_of(ref("Item")),
            "error": or_null(
                structure({"type": or_null(TEXT), "code": or_null(TEXT), "message": or_null(TEXT)})
            ),
            "warnings": list_of(TEXT),
            "attempts": list_of(ref("Attempt")),
            "skipped": list_of(ref("Skipped")),
            "user_agent": or_null(TEXT),
            "trace_id": or_null(TEXT),
        },
        {"captured": {**FLAG, "description": "Whether its content is kept. Not in the live tail."}},
    )


def _attempt_schema() -> Schema:
    return structure(
        {
            "channel": TEXT,
            "upstream_model": TEXT,
            "status": or_null({"type": "integer"}),
            "outcome": {"enum": ["served", "failed", "abandoned", "repaired"]},
            "error": or_null(TEXT),
            "started_at": TIME,
            "duration_ms": MILLISECONDS,
            "upstream_cost": or_null(AMOUNT),
            "reason": or_null(TEXT, "Why this channel."),
            "failure_kind": or_null({"enum": [kind.value for kind in Kind]}),
            "connected_ms": or_null(MILLISECONDS, "Null: a pooled connection was used, or none stood."),
            "first_byte_ms": or_null(MILLISECONDS, "To the head of the answer."),
            "first_event_ms": or_null(MILLISECONDS, "To the first useful event of a stream."),
        }
    )
