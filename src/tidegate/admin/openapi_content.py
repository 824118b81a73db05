"""What requests said, in the OpenAPI document."""

from tidegate.admin.openapi_parts import (
    COUNT,
    FLAG,
    TEXT,
    TIME,
    Schema,
    content,
    in_path,
    problems,
    ref,
    structure,
)


def paths() -> Schema:
    """The paths."""
    refused = problems("400", "401", "404", "503")
    found: Schema = {"200": content("As far as it was kept.", "RequestContent"), **refused}
    gone: Schema = {"204": {"description": "It is deleted."}, **refused}
    return {
        "/admin/v1/requests/{id}/content": {
            "get": {
                "summary": "What a request and its answer said, if that was kept",
                "operationId": "getRequestContent",
                "parameters": [in_path("id")],
                "responses": found,
            },
            "delete": {
                "summary": "Delete what a request and its answer said; the row stays",
                "operationId": "deleteRequestContent",
                "parameters": [in_path("id")],
                "responses": gone,
            },
        }
    }


def schemas() -> Schema:
    """The schemas."""
    length: Schema = {**COUNT, "description": "In all, also what is not kept."}
    return {
        "RequestContent": structure(
            {"id": TEXT, "captured_at": TIME, "request": ref("ContentPart"), "answer": ref("ContentPart")}
        ),
        "ContentPart": structure({"text": TEXT, "bytes": length, "truncated": FLAG}),
    }
