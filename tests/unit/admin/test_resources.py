import json

import msgspec
from msgspec.structs import replace
from tests.unit.storage.records import ATTEMPT, RECORD

from tidegate.admin.resources import iso_time, request_json
from tidegate.ledger.entries import Item


def test_a_row_has_every_member_in_its_place() -> None:
    assert json.loads(msgspec.json.encode(request_json(RECORD))) == {
        "id": "req_0",
        "created_at": "2023-11-14T22:13:20.123Z",
        "key": "laptop",
        "account": "acme",
        "protocol": "chat",
        "stream": True,
        "model": "sonnet",
        "channel": "main",
        "status": 200,
        "outcome": "completed",
        "finish_reason": "stop",
        "first_token_ms": 412.5,
        "duration_ms": 5321.0,
        "input_tokens": 18,
        "cache_read_tokens": 0,
        "cache_write_tokens": 0,
        "output_tokens": 12,
        "usage_source": "upstream",
        "cost": "0.000000000",
        "items": [],
        "error": None,
        "warnings": ["dropped:top_k"],
        "attempts": [
            {
                "channel": "main",
                "upstream_model": "claude-sonnet-5",
                "status": 200,
                "outcome": "served",
                "error": None,
                "started_at": "2023-11-14T22:13:20.250Z",
                "duration_ms": 5320.5,
                "upstream_cost": None,
                "reason": None,
                "failure_kind": None,
                "connected_ms": None,
                "first_byte_ms": None,
                "first_event_ms": None,
            }
        ],
        "skipped": [],
        "user_agent": None,
        "trace_id": None,
    }


def test_what_is_not_told_is_null() -> None:
    untold = dict.fromkeys(("key", "account", "model", "channel", "finish_reason", "first_token_ms"))
    shown = request_json(msgspec.structs.replace(RECORD, **untold))
    assert {name: shown[name] for name in untold} == untold


def test_an_error_is_an_object() -> None:
    failed = msgspec.structs.replace(RECORD, error_type="api_error", error_message="all failed")
    assert request_json(failed)["error"] == {
        "type": "api_error",
        "code": None,
        "message": "all failed",
    }


def test_durations_have_no_float_noise() -> None:
    noisy = msgspec.structs.replace(
        RECORD, duration_ms=0.1 + 0.2, attempts=(msgspec.structs.replace(ATTEMPT, duration_ms=1 / 3),)
    )
    shown = json.loads(msgspec.json.encode(request_json(noisy)))
    assert (shown["duration_ms"], shown["attempts"][0]["duration_ms"]) == (0.3, 0.333)


def test_times_are_utc_with_milliseconds() -> None:
    assert iso_time(0) == "1970-01-01T00:00:00.000Z"
    assert iso_time(1_700_000_000.9996) == "2023-11-14T22:13:20.999Z"


def test_what_it_cost_is_shown_as_exact_decimals() -> None:
    item = Item("input", 18, "3.00", "0.000054")
    attempt = replace(RECORD.attempts[0], upstream_cost=12_345)
    shown = request_json(replace(RECORD, cost=234_000, items=(item,), attempts=(attempt,)))
    assert shown["cost"] == "0.000234000"
    assert shown["items"] == [{"name": "input", "quantity": 18, "price": "3.00", "amount": "0.000054"}]
    attempts = shown["attempts"]
    assert isinstance(attempts, list)
    assert attempts[0]["upstream_cost"] == "0.000012345"
