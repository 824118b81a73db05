"""Spans tell of a request how it went, and never what it said."""

from typing import Any

import msgspec
import pytest
from msgspec.structs import replace
from tests.unit.storage.records import RECORD

from tidegate.core.protocol import Protocol
from tidegate.core.trace_context import Trace, begin
from tidegate.exchange.ports import AttemptRecord
from tidegate.exchange.traced import Traced
from tidegate.observe.spans import Kind, Peer, Span, spans_of
from tidegate.protocols.base import Imprint

TRACE = begin("req_1", {}, 1.0)
SECOND = 1_000_000_000
FIRST = AttemptRecord(
    channel="a",
    upstream_model="up-a",
    status=529,
    outcome="failed",
    error="overloaded: PROMPT",
    started_at=RECORD.created_at + 0.1,
    duration_ms=100.0,
    reason="priority 2, weight 1",
    failure_kind="overloaded",
    connected_ms=1.0,
    first_byte_ms=90.0,
)
SERVED = AttemptRecord(
    channel="b",
    upstream_model="up-b",
    status=200,
    outcome="served",
    error=None,
    started_at=RECORD.created_at + 0.25,
    duration_ms=4000.0,
    upstream_cost=5_000_000,
    reason="priority 1, weight 1",
    first_byte_ms=10.0,
    first_event_ms=50.5,
)


def peers(name: str) -> Peer | None:
    known = {"a": Peer(Protocol.MESSAGES, "a.example.com", 443), "b": Peer(Protocol.CHAT, "b.local", 8000)}
    return known.get(name)


def traced(trace: Trace = TRACE, path: str = "/v1/chat/completions", **changes: Any) -> Traced:
    more = {name: changes.pop(name) for name in ("opened_ms", "committed_ms", "imprint") if name in changes}
    record = replace(RECORD, **{"attempts": (FIRST, SERVED), "outcome": "completed", **changes})
    return Traced(trace=trace, record=record, path=path, **more)


def made(one: Traced) -> list[Span]:
    return list(spans_of(one, peers, lambda text: text.replace("sk-secret", "[redacted]")))


def test_a_request_has_a_span_and_each_attempt_one_below_it() -> None:
    request, first, served = made(traced())
    assert [span.kind for span in (request, first, served)] == [Kind.SERVER, Kind.CLIENT, Kind.CLIENT]
    assert (request.span_id, request.parent_id, request.remote_parent) == (TRACE.span_id, None, False)
    for number, span in enumerate((first, served)):
        assert (span.span_id, span.parent_id) == (TRACE.attempt_id(number), TRACE.span_id)
        assert not span.remote_parent


def test_a_request_is_below_its_callers_span() -> None:
    parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
    request, *_ = made(traced(begin("req_1", {"traceparent": parent}, 1.0)))
    assert (request.parent_id, request.remote_parent) == ("00f067aa0ba902b7", True)


def test_times_are_those_of_the_row() -> None:
    request, first, served = made(traced(duration_ms=5000.0))
    start = round(RECORD.created_at * 1e6) * 1000
    assert (request.start, request.end) == (start, start + 5 * SECOND)
    assert first.start - request.start == pytest.approx(0.1 * SECOND, abs=2000)
    assert first.end - first.start == 0.1 * SECOND
    assert served.end - served.start == 4 * SECOND


def test_what_is_told_of_a_request() -> None:
    request, *_ = made(traced(error_type=None, error_code=None, error_message=None, finish_reason="stop"))
    told = request.attributes
    assert request.name == "POST /v1/chat/completions"
    assert told["http.request.method"] == "POST"
    assert told["http.route"] == "/v1/chat/completions"
    assert told["http.response.status_code"] == RECORD.status
    assert told["tidegate.request.id"] == RECORD.id
    assert told["tidegate.outcome"] == "completed"
    assert told["tidegate.cost_usd"] == RECORD.cost / 1e9
    assert told["tidegate.attempts"] == 2
    assert told["gen_ai.request.model"] == RECORD.model
    assert not any(name.startswith("gen_ai.usage") for name in told), "else it would be counted twice"
    assert "error.type" not in told
    assert not request.failed


def test_what_is_told_of_attempts_follows_the_conventions() -> None:
    one = traced(
        finish_reason="stop",
        input_tokens=10,
        cache_read_tokens=5,
        cache_write_tokens=0,
        output_tokens=7,
        usage_source="upstream",
        stream=True,
        imprint=Imprint("chatcmpl-1", "up-b-2026"),
    )
    _, first, served = made(one)
    assert (first.name, served.name) == ("chat up-a", "chat up-b")
    assert first.attributes == {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "anthropic",
        "gen_ai.request.model": "up-a",
        "gen_ai.request.stream": True,
        "server.address": "a.example.com",
        "server.port": 443,
        "http.response.status_code": 529,
        "error.type": "overloaded",
        "tidegate.channel": "a",
        "tidegate.attempt.outcome": "failed",
        "tidegate.attempt.reason": "priority 2, weight 1",
    }
    assert first.failed
    assert served.attributes == {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "openai",
        "gen_ai.request.model": "up-b",
        "gen_ai.request.stream": True,
        "gen_ai.response.time_to_first_chunk": 0.0505,
        "gen_ai.response.id": "chatcmpl-1",
        "gen_ai.response.model": "up-b-2026",
        "gen_ai.response.finish_reasons": ("stop",),
        "gen_ai.usage.input_tokens": 15,
        "gen_ai.usage.cache_read.input_tokens": 5,
        "gen_ai.usage.output_tokens": 7,
        "server.address": "b.local",
        "server.port": 8000,
        "http.response.status_code": 200,
        "tidegate.channel": "b",
        "tidegate.attempt.outcome": "served",
        "tidegate.attempt.reason": "priority 1, weight 1",
        "tidegate.attempt.cost_usd": 0.005,
    }
    assert not served.failed


def test_what_happened_stands_in_the_order_of_time() -> None:
    one = traced(first_token_ms=300.0, opened_ms=120.0, committed_ms=301.0)
    request, first, served = made(one)
    assert [(moment.name, moment.at - request.start) for moment in request.moments] == [
        ("tidegate.keepalive_commit", 120_000_000),
        ("tidegate.failover", pytest.approx(250_000_000, abs=2000)),
        ("tidegate.first_useful_event", 300_000_000),
        ("tidegate.commit", 301_000_000),
    ]
    failover = request.moments[1].attributes
    assert failover == {"tidegate.from": "a", "tidegate.to": "b", "error.type": "overloaded"}
    assert [moment.name for moment in first.moments] == ["tidegate.connected", "tidegate.first_byte"]
    assert [moment.name for moment in served.moments] == ["tidegate.first_byte", "tidegate.first_event"]


def test_a_repair_is_no_failover() -> None:
    refused = replace(FIRST, outcome="repaired", failure_kind="invalid_request", channel="b")
    request, first, _ = made(traced(attempts=(refused, SERVED), first_token_ms=None))
    assert [moment.name for moment in request.moments] == ["tidegate.repair"]
    assert first.failed


@pytest.mark.parametrize(
    ("status", "outcome", "code", "error", "failed"),
    [
        (429, "rejected", "rate_limit_exceeded", "rate_limit_exceeded", False),
        (502, "failed", None, "api_error", True),
        (200, "interrupted", "stream_interrupted", "stream_interrupted", True),
        (400, "failed", "a whole text of an upstream", "_OTHER", False),
    ],
)
def test_how_a_request_failed(status: int, outcome: str, code: str | None, error: str, failed: bool) -> None:
    request, *_ = made(traced(status=status, outcome=outcome, error_type="api_error", error_code=code))
    assert (request.attributes["error.type"], request.failed) == (error, failed)


def test_a_client_that_left_is_no_failure() -> None:
    request, *_ = made(traced(status=499, outcome="client_closed"))
    assert (request.attributes["error.type"], request.failed) == ("client_closed", False)


def test_an_attempt_that_was_given_up_has_not_failed() -> None:
    left = replace(SERVED, outcome="abandoned", status=None)
    _, attempt = made(traced(attempts=(left,), usage_source="none", finish_reason=None))
    assert (attempt.attributes["error.type"], attempt.failed) == ("abandoned", False)
    assert "http.response.status_code" not in attempt.attributes
    assert "gen_ai.usage.input_tokens" not in attempt.attributes


def test_a_channel_that_is_gone_and_a_count() -> None:
    gone = replace(SERVED, channel="z")
    one = traced(path="/v1/messages/count_tokens", attempts=(gone,), protocol="messages", stream=False)
    _, attempt = made(one)
    assert attempt.name == "count_tokens up-b"
    assert attempt.attributes["gen_ai.provider.name"] == "anthropic"
    assert "server.address" not in attempt.attributes
    assert "gen_ai.request.stream" not in attempt.attributes


def test_a_request_that_was_turned_away_has_one_span() -> None:
    bare = traced(
        attempts=(), key=None, account=None, model=None, channel=None, status=405, first_token_ms=None
    )
    [request] = made(bare)
    assert request.attributes["http.request.method"] == "_OTHER"
    assert request.name == "HTTP /v1/chat/completions"
    assert not {"tidegate.key", "gen_ai.request.model"} & request.attributes.keys()
    assert request.moments == ()


def test_nothing_is_told_that_anybody_said() -> None:
    said: dict[str, Any] = {
        "model": "sk-secret",
        "user_agent": "sdk sk-secret",
        "error_type": "PROMPT of many words",
        "error_code": "PROMPT: text",
        "error_message": "PROMPT",
        "finish_reason": "PROMPT of many words",
        "warnings": ("PROMPT",),
        "attempts": (replace(FIRST, upstream_model="sk-secret"), SERVED),
    }
    told = repr(
        [msgspec.to_builtins(span) for span in made(traced(**said, imprint=Imprint("sk-secret", "m" * 999)))]
    )
    assert "PROMPT" not in told
    assert "sk-secret" not in told
    assert "m" * 257 not in told
