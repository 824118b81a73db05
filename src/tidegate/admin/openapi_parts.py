"""Pieces that every part of the OpenAPI document is made of."""

from typing import TypeAlias

from tidegate.admin.parameters import DEFAULT_LIMIT, LARGEST_LIMIT

Schema: TypeAlias = dict[str, object]

TEXT: Schema = {"type": "string"}
FLAG: Schema = {"type": "boolean"}
COUNT: Schema = {"type": "integer", "minimum": 0}
POSITIVE: Schema = {"type": "integer", "minimum": 1}
SECONDS: Schema = {"type": "number", "minimum": 0}
MILLISECONDS: Schema = {"type": "number", "minimum": 0}
TIME: Schema = {"type": "string", "format": "date-time"}
AMOUNT: Schema = {"type": "string", "pattern": r"^-?\d+\.\d{9}$", "description": "US dollars."}
LIMIT: Schema = {"type": "integer", "minimum": 1, "maximum": LARGEST_LIMIT, "default": DEFAULT_LIMIT}


def structure(required: Schema, optional: Schema | None = None) -> Schema:
    """An object with these members."""
    return {"type": "object", "required": list(required), "properties": {**required, **(optional or {})}}


def closed(members: Schema, required: tuple[str, ...] = ()) -> Schema:
    """What is sent: no other members than these."""
    return {
        "type": "object",
        "required": list(required),
        "properties": members,
        "additionalProperties": False,
    }


def list_of(schema: Schema) -> Schema:
    """A list."""
    return {"type": "array", "items": schema}


def map_of(schema: Schema) -> Schema:
    """An object with free names."""
    return {"type": "object", "additionalProperties": schema}


def or_null(schema: Schema, description: str | None = None) -> Schema:
    """It, or null."""
    either: Schema = {"anyOf": [schema, {"type": "null"}]}
    return either if description is None else {**either, "description": description}


def ref(name: str) -> Schema:
    """A schema of the components."""
    return {"$ref": f"#/components/schemas/{name}"}


def query(name: str, schema: Schema, description: str = "") -> Schema:
    """A query parameter."""
    return {"name": name, "in": "query", "schema": schema, "description": description or f"Only this {name}."}


def in_path(name: str) -> Schema:
    """A part of the path."""
    return {"name": name, "in": "path", "required": True, "schema": TEXT}


def content(description: str, schema: str, media_type: str = "application/json") -> Schema:
    """An answer with a body."""
    return {"description": description, "content": {media_type: {"schema": ref(schema)}}}


def body(schema: str) -> Schema:
    """What is sent."""
    return {"required": True, "content": {"application/json": {"schema": ref(schema)}}}


def problems(*statuses: str) -> Schema:
    """Answers that are errors."""
    return {status: {"$ref": "#/components/responses/Problem"} for status in statuses}


def page_of(name: str, cursor: str) -> Schema:
    """A page of a list; `cursor` is the parameter that takes `next`."""
    return structure(
        {
            "data": list_of(ref(name)),
            "has_more": FLAG,
            "next": or_null(TEXT, f"Pass it as `{cursor}` to get the rows that follow."),
        }
    )
