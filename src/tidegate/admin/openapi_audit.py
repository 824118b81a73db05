"""The audit log in the OpenAPI document."""

from tidegate.admin.openapi_parts import (
    LIMIT,
    TEXT,
    TIME,
    Schema,
    content,
    map_of,
    or_null,
    page_of,
    problems,
    query,
    structure,
)
from tidegate.storage.audit import Via


def paths() -> Schema:
    """The routes."""
    return {
        "/admin/v1/audit": {
            "get": {
                "summary": "Who changed what, newest first",
                "operationId": "listAudit",
                "parameters": [
                    query("limit", LIMIT, "How many rows at most."),
                    query("before", TEXT, "`next` of an earlier answer: only older rows."),
                    *(query(name, TEXT) for name in ("kind", "name", "operator")),
                ],
                "responses": _listed(),
            }
        }
    }


def _listed() -> Schema:
    return {"200": content("A page.", "AuditPage"), **problems("400", "401", "429", "503")}


def schemas() -> Schema:
    """What goes out."""
    pair: Schema = {"type": "array", "minItems": 2, "maxItems": 2, "description": "What it was, what it is."}
    row = structure(
        {
            "number": TEXT,
            "at": TIME,
            "operator": or_null(TEXT, "null: nobody who is known."),
            "via": {"enum": [via.value for via in Via]},
            "address": or_null(TEXT),
            "action": TEXT,
            "kind": TEXT,
            "name": or_null(TEXT),
            "changes": {**map_of(pair), "description": 'By field; a secret is shown as "(set)".'},
        }
    )
    return {"AuditRow": row, "AuditPage": page_of("AuditRow", "before")}
