"""Channels, models, accounts and keys in the OpenAPI document."""

from tidegate.admin.openapi_channels import duty_members
from tidegate.admin.openapi_parts import (
    LIMIT,
    TEXT,
    TIME,
    Schema,
    body,
    content,
    in_path,
    list_of,
    or_null,
    page_of,
    problems,
    query,
    structure,
)
from tidegate.admin.openapi_settings import answered, sent
from tidegate.storage.catalog import Kind

_IF_MATCH: Schema = {
    "name": "if-match",
    "in": "header",
    "schema": TEXT,
    "description": "The `etag` of an earlier answer: 412 if it has changed since.",
}
_FORCE: Schema = query("force", {"type": "boolean"}, "Delete its keys too; without it 409 if it has any.")
_LOCATION: Schema = {"location": {"schema": TEXT, "description": "Its path."}}
_ETAG: Schema = {"etag": {"schema": TEXT, "description": "Absent for what the config file declares."}}


def paths() -> Schema:
    """The routes of every kind."""
    found: Schema = {}
    for kind in Kind:
        found[f"/admin/v1/{kind.value}"] = {"get": _list(kind), "post": _create(kind)}
        found[f"/admin/v1/{kind.value}/{{name}}"] = {
            "get": _show(kind),
            "patch": _change(kind),
            "delete": _remove(kind),
        }
    return found


def schemas() -> Schema:
    """What goes in and out."""
    found: Schema = {}
    for kind in Kind:
        word = _word(kind)
        found[word] = structure(_head(), {**_more(kind), **answered(kind)})
        found[f"New{word}"] = sent(kind, new=True)
        found[f"{word}Change"] = sent(kind, new=False)
        found[f"{word}Page"] = page_of(word, "after")
    secret: Schema = {**TEXT, "description": "Shown this once."}
    found["MadeKey"] = {"allOf": [{"$ref": "#/components/schemas/Key"}, structure({"secret": secret})]}
    return found


def _head() -> Schema:
    """What every answer has; the settings are missing where `problem` says why."""
    return {
        "name": TEXT,
        "managed_by": {"enum": ["file", "database"]},
        "version": or_null({"type": "integer"}, "null for what the config file declares."),
        "created_at": or_null(TIME),
        "changed_at": or_null(TIME),
        "problem": or_null(TEXT, "Why it cannot be used; its settings are then not shown."),
        "warnings": list_of(TEXT),
    }


def _more(kind: Kind) -> Schema:
    match kind:
        case Kind.KEYS:
            return {"hint": {**TEXT, "description": "The ends of the secret."}}
        case Kind.CHANNELS:
            return duty_members()
        case Kind.MODELS | Kind.ACCOUNTS:
            return {}


def _word(kind: Kind) -> str:
    return kind.one.capitalize()


def _list(kind: Kind) -> Schema:
    return {
        "summary": f"All {kind.value} by name, those of the config file too",
        "operationId": f"list{_word(kind)}s",
        "parameters": [
            query("limit", LIMIT, "How many at most."),
            query("after", TEXT, "`next` of an earlier answer: only names that follow it."),
        ],
        "responses": {"200": content("A page.", f"{_word(kind)}Page"), **problems("400", "401", "503")},
    }


def _create(kind: Kind) -> Schema:
    made = "MadeKey" if kind is Kind.KEYS else _word(kind)
    return {
        "summary": f"Add a {kind.one}",
        "operationId": f"create{_word(kind)}",
        "requestBody": body(f"New{_word(kind)}"),
        "responses": {
            "201": {**content("Made, and in force.", made), "headers": {**_LOCATION, **_ETAG}},
            **problems("400", "401", "409", "413", "422", "503"),
        },
    }


def _show(kind: Kind) -> Schema:
    return {
        "summary": f"One {kind.one}",
        "operationId": f"get{_word(kind)}",
        "parameters": [in_path("name")],
        "responses": {
            "200": {**content("As it is in force.", _word(kind)), "headers": _ETAG},
            **problems("400", "401", "404", "503"),
        },
    }


def _change(kind: Kind) -> Schema:
    return {
        "summary": f"Replace the given settings of a {kind.one}; null takes the default",
        "operationId": f"change{_word(kind)}",
        "parameters": [in_path("name"), _IF_MATCH],
        "requestBody": body(f"{_word(kind)}Change"),
        "responses": {
            "200": {**content("Changed, and in force.", _word(kind)), "headers": _ETAG},
            **problems("400", "401", "404", "409", "412", "413", "422", "503"),
        },
    }


def _remove(kind: Kind) -> Schema:
    more = [_FORCE] if kind is Kind.ACCOUNTS else []
    return {
        "summary": f"Delete a {kind.one}; open streams go on",
        "operationId": f"delete{_word(kind)}",
        "parameters": [in_path("name"), _IF_MATCH, *more],
        "responses": {
            "204": {"description": "Deleted."},
            **problems("400", "401", "404", "409", "412", "503"),
        },
    }
