"""What channels have besides their settings, and the node's health, in the OpenAPI document."""

from tidegate.admin.openapi_parts import (
    COUNT,
    FLAG,
    MILLISECONDS,
    TEXT,
    TIME,
    Schema,
    closed,
    content,
    in_path,
    list_of,
    or_null,
    problems,
    ref,
    structure,
)

_CHANNEL_STATES = ["ready", "cooling", "probing", "paused", "draining"]
_MODEL_STATES = ["ready", "cooling", "may_probe", "probing"]
_EMPTY: Schema = {"type": "object", "maxProperties": 0}


def paths() -> Schema:
    """The routes."""
    return {
        "/admin/v1/health": {
            "get": {
                "summary": "How this node and its channels stand",
                "operationId": "getHealth",
                "responses": {
                    "200": content("The node, over all its workers.", "Health"),
                    **problems("400", "401", "503"),
                },
            }
        },
        "/admin/v1/channels/{name}/pause": {"post": _duty("pause", "Send no new request to a channel")},
        "/admin/v1/channels/{name}/drain": {
            "post": _duty("drain", "Send a channel only what can go nowhere else")
        },
        "/admin/v1/channels/{name}/resume": {"post": _duty("resume", "Use a channel again")},
        "/admin/v1/channels/{name}/test": {"post": _test()},
    }


def schemas() -> Schema:
    """What goes in and out."""
    return {
        "ChannelTest": closed(
            {"model": or_null(TEXT, "A public name; the channel's first one unless told.")}
        ),
        "Health": structure(
            {
                "version": TEXT,
                "started_at": TIME,
                "workers": COUNT,
                "database": {"enum": ["ok", "away"]},
                "redis": {"enum": ["ok", "away", "none"]},
                "spool_rows": COUNT,
                "open_requests": COUNT,
                "channels": list_of(ref("ChannelHealth")),
            }
        ),
        "ChannelHealth": structure(
            {
                "name": TEXT,
                "state": {"enum": _CHANNEL_STATES},
                "open_requests": COUNT,
                "models": list_of(ref("ModelHealth")),
            }
        ),
        "ModelHealth": structure(
            {"upstream_model": TEXT, "state": {"enum": _MODEL_STATES}, "why": TEXT, "until": or_null(TIME)}
        ),
        **_report(),
    }


def _report() -> Schema:
    return {
        "Report": structure(
            {
                "target": TEXT,
                "protocol": TEXT,
                "model": TEXT,
                "ok": FLAG,
                "started_at": TIME,
                "duration_ms": MILLISECONDS,
                "streams": list_of(ref("StreamReport")),
                "skipped": list_of(TEXT),
            }
        ),
        "StreamReport": _stream(),
        "Finding": structure(
            {
                "rule": TEXT,
                "severity": {"enum": ["error", "warning", "note"]},
                "message": TEXT,
                "source": {**TEXT, "description": "Where the rule comes from."},
                "event": or_null(TEXT, "What offends, up to 500 characters of it."),
            }
        ),
    }


def duty_members() -> Schema:
    """What every channel has besides its settings."""
    return {
        "state": {"enum": ["active", "paused", "draining"]},
        "state_changed_at": or_null(TIME),
        "state_changed_by": or_null(TEXT),
    }


def _stream() -> Schema:
    return structure(
        {
            "name": TEXT,
            "ok": FLAG,
            "status": or_null({"type": "integer"}),
            "first_byte_ms": or_null(MILLISECONDS),
            "first_event_ms": or_null(MILLISECONDS),
            "total_ms": MILLISECONDS,
            "events": COUNT,
            "findings": list_of(ref("Finding")),
        }
    )


def _duty(word: str, summary: str) -> Schema:
    return {
        "summary": summary,
        "operationId": f"{word}Channel",
        "parameters": [in_path("name")],
        "requestBody": {"required": False, "content": {"application/json": {"schema": _EMPTY}}},
        "responses": {
            "200": content("The channel as it is in force.", "Channel"),
            **problems("400", "401", "404", "413", "422", "503"),
        },
    }


def _test() -> Schema:
    return {
        "summary": "Run streams on a channel and check them against its protocol's rules",
        "operationId": "testChannel",
        "parameters": [in_path("name")],
        "requestBody": {"required": False, "content": {"application/json": {"schema": ref("ChannelTest")}}},
        "responses": {
            "200": content("What was found.", "Report"),
            **problems("400", "401", "404", "409", "413", "422", "503"),
        },
    }
