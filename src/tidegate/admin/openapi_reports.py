"""The overview, the live tail and the filters of requests in the OpenAPI document."""

from tidegate.admin.openapi_parts import (
    AMOUNT,
    COUNT,
    FLAG,
    MILLISECONDS,
    POSITIVE,
    TEXT,
    TIME,
    Schema,
    content,
    list_of,
    or_null,
    problems,
    query,
    ref,
    structure,
)
from tidegate.admin.overview_parameters import GROUPS
from tidegate.storage.pages import OUTCOMES, PROTOCOLS
from tidegate.storage.sums import TOKENS

_RANGE = (
    query("since", TIME, "Only requests that began then or later."),
    query("until", TIME, "Only requests that began earlier."),
)


def filters() -> list[Schema]:
    """The filters of rows."""
    return [
        *(query(name, TEXT) for name in ("key", "account", "model", "channel")),
        query("outcome", {"enum": list(OUTCOMES)}),
        query("protocol", {"enum": list(PROTOCOLS)}),
        query("status", {"type": "integer", "minimum": 100, "maximum": 999}),
        query("stream", FLAG, "Only streams, or only whole answers."),
        *_RANGE,
        query("id", TEXT, "Only ids that begin so; `req_` may be left out."),
    ]


def paths() -> Schema:
    """The routes."""
    return {
        "/admin/v1/overview": {"get": _overview()},
        "/admin/v1/requests/tail": {"get": _tail()},
    }


def schemas() -> Schema:
    """What comes out."""
    sums = _sums()
    return {
        "Overview": structure(
            {
                "since": TIME,
                "until": TIME,
                "bucket_seconds": POSITIVE,
                "as_of": TIME,
                "totals": ref("Figures"),
                "series": list_of(ref("Bucket")),
                "groups": list_of(ref("Group")),
                "open_requests": COUNT,
                "uncounted_rows": {
                    **COUNT,
                    "description": "Older rows that are still being added up after an upgrade.",
                },
            }
        ),
        "Figures": structure(sums),
        "Bucket": structure({"at": TIME, **sums}),
        "Group": structure(
            {
                "name": or_null(TEXT),
                "kind": {
                    "enum": ["name", "none", "rest"],
                    "description": "What null means: requests without such a name, or all other names.",
                },
                **sums,
            },
            {"attempts": COUNT, "attempts_failed": COUNT},
        ),
    }


def _sums() -> Schema:
    percentiles = structure({"p50": MILLISECONDS, "p95": MILLISECONDS})
    return {
        "requests": COUNT,
        **dict.fromkeys((*OUTCOMES, *TOKENS), COUNT),
        "cost": AMOUNT,
        "first_token_ms": or_null(percentiles, "At most 12.3 % beside the exact ones; null: there are none."),
    }


def _overview() -> Schema:
    return {
        "summary": "Requests of a range of time, added up",
        "operationId": "getOverview",
        "parameters": [
            query("since", TIME, "The beginning, a day before `until` where it is not given."),
            query("until", TIME, "The end, now where it is not given."),
            query("group_by", {"enum": list(GROUPS)}, "Add up each of these by itself, too."),
            *(query(name, TEXT) for name in GROUPS if name != "protocol"),
            query("protocol", {"enum": list(PROTOCOLS)}),
        ],
        "responses": {"200": content("The figures.", "Overview"), **problems("400", "401", "503")},
    }


def _tail() -> Schema:
    resume: Schema = {
        "name": "last-event-id",
        "in": "header",
        "schema": TEXT,
        "description": "The `id` of the last event that came: what has come since is sent first.",
    }
    events = (
        "`ready`: from here on nothing is missed. `request`: a row, as in the list. `skipped`: `rows` were"
        " left out, because they came too fast. `trouble`: the journal cannot be read; `ready` follows."
    )
    return {
        "summary": "Finished requests as they come, as server-sent events",
        "operationId": "tailRequests",
        "parameters": [*filters(), resume],
        "responses": {
            "200": {"description": events, "content": {"text/event-stream": {"schema": TEXT}}},
            **problems("400", "401", "503"),
        },
    }
