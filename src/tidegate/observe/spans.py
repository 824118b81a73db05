"""Makes the spans of a finished request: one for it, one for each attempt, never with what anybody said."""

import re
from collections.abc import Callable, Iterable
from enum import Enum
from typing import TypeAlias

from msgspec import Struct

from tidegate.core.protocol import Protocol
from tidegate.exchange.ports import AttemptRecord, RequestRecord
from tidegate.exchange.traced import Traced
from tidegate.ledger.money import NANO

Value: TypeAlias = str | bool | int | float | tuple[str, ...]
Attributes: TypeAlias = dict[str, Value]

_LONGEST = 256
_WORD = re.compile(r"[A-Za-z0-9_.-]{1,64}")
_WRONG_METHOD = 405
_OTHER = "_OTHER"
"""What the conventions write for a value that cannot be told."""


class Kind(Enum):
    """On which side of a call a span is."""

    SERVER = "server"
    CLIENT = "client"


class Moment(Struct, frozen=True):
    """Something that happened in a span; `at` in nanoseconds since 1970."""

    name: str
    at: int
    attributes: Attributes = {}


class Span(Struct, frozen=True, kw_only=True):
    """One span; times are nanoseconds since 1970, ids lower-case hex."""

    name: str
    kind: Kind
    span_id: str
    parent_id: str | None
    remote_parent: bool
    """Whether the parent is the caller's."""
    start: int
    end: int
    attributes: Attributes
    moments: tuple[Moment, ...] = ()
    failed: bool = False


class Peer(Struct, frozen=True):
    """Where a channel's requests go."""

    protocol: Protocol
    host: str
    port: int


Peers: TypeAlias = Callable[[str], Peer | None]
"""A channel by its name, if it is still there."""
Clean: TypeAlias = Callable[[str], str]
"""Takes credentials out of a text."""


def spans_of(traced: Traced, peers: Peers, clean: Clean) -> tuple[Span, ...]:
    """The request's span, then those of its attempts."""
    attempts = [
        _attempt_span(traced, number, attempt, peers(attempt.channel), clean)
        for number, attempt in enumerate(traced.record.attempts)
    ]
    return (_request_span(traced, clean), *attempts)


def _request_span(traced: Traced, clean: Clean) -> Span:
    record, trace = traced.record, traced.trace
    start = _nano(record.created_at)
    method = "POST" if record.status != _WRONG_METHOD else _OTHER
    return Span(
        # Where the method cannot be told, the conventions have this word in its place.
        name=f"{'HTTP' if method is _OTHER else method} {traced.path}",
        kind=Kind.SERVER,
        span_id=trace.span_id,
        parent_id=trace.parent_id,
        remote_parent=trace.parent_id is not None,
        start=start,
        end=start + _ms(record.duration_ms),
        attributes=_told(
            {
                "http.request.method": method,
                "http.route": traced.path,
                "http.response.status_code": record.status,
                "user_agent.original": _short(record.user_agent, clean),
                "error.type": _error_of(record),
                "gen_ai.request.model": _short(record.model, clean),
                "tidegate.request.id": record.id,
                "tidegate.key": record.key,
                "tidegate.account": record.account,
                "tidegate.protocol": record.protocol,
                "tidegate.stream": record.stream,
                "tidegate.channel": record.channel,
                "tidegate.outcome": record.outcome,
                "tidegate.attempts": len(record.attempts),
                "tidegate.first_token_ms": record.first_token_ms,
                "tidegate.usage_source": record.usage_source,
                "tidegate.cost_usd": record.cost / NANO,
            }
        ),
        moments=tuple(sorted(_moments(traced, start), key=lambda moment: moment.at)),
        failed=record.status >= 500 or record.outcome == "interrupted",
    )


def _attempt_span(
    traced: Traced, number: int, attempt: AttemptRecord, peer: Peer | None, clean: Clean
) -> Span:
    operation = "count_tokens" if traced.path.endswith("/count_tokens") else "chat"
    model = _short(attempt.upstream_model, clean) or ""
    start = _nano(attempt.started_at)
    is_last = number == len(traced.record.attempts) - 1
    protocol = Protocol(traced.record.protocol) if peer is None else peer.protocol
    return Span(
        name=f"{operation} {model}",
        kind=Kind.CLIENT,
        span_id=traced.trace.attempt_id(number),
        parent_id=traced.trace.span_id,
        remote_parent=False,
        start=start,
        end=start + _ms(attempt.duration_ms),
        attributes=_told(
            {
                "gen_ai.operation.name": operation,
                "gen_ai.provider.name": "anthropic" if protocol is Protocol.MESSAGES else "openai",
                "gen_ai.request.model": model,
                "gen_ai.request.stream": traced.record.stream or None,
                "gen_ai.response.time_to_first_chunk": _seconds(attempt.first_event_ms),
                "server.address": None if peer is None else peer.host,
                "server.port": None if peer is None else peer.port,
                "http.response.status_code": attempt.status,
                "error.type": _failure_of(attempt),
                "tidegate.channel": attempt.channel,
                "tidegate.attempt.outcome": attempt.outcome,
                "tidegate.attempt.reason": attempt.reason,
                "tidegate.attempt.cost_usd": _usd(attempt.upstream_cost),
                **(_answer(traced, clean) if is_last else {}),
            }
        ),
        moments=tuple(_steps(attempt, start)),
        failed=attempt.outcome in ("failed", "repaired"),
    )


def _answer(traced: Traced, clean: Clean) -> dict[str, Value | None]:
    """What came of the last attempt. Only there: a reader that adds spans up would count it twice."""
    record, imprint = traced.record, traced.imprint
    told: dict[str, Value | None] = {
        "gen_ai.response.id": _short(imprint.id, clean),
        "gen_ai.response.model": _short(imprint.model, clean),
    }
    if record.finish_reason is not None:
        told["gen_ai.response.finish_reasons"] = (_word(record.finish_reason),)
    if record.usage_source == "none":
        return told
    cached = record.cache_read_tokens + record.cache_write_tokens
    return told | {
        "gen_ai.usage.input_tokens": record.input_tokens + cached,
        "gen_ai.usage.cache_read.input_tokens": record.cache_read_tokens or None,
        "gen_ai.usage.cache_write.input_tokens": record.cache_write_tokens or None,
        "gen_ai.usage.output_tokens": record.output_tokens,
    }


def _moments(traced: Traced, start: int) -> Iterable[Moment]:
    """What happened to the request, as the client saw it."""
    record = traced.record
    for name, after in (
        ("tidegate.keepalive_commit", traced.opened_ms),
        ("tidegate.commit", traced.committed_ms),
        ("tidegate.first_useful_event", record.first_token_ms),
    ):
        if after is not None:
            yield Moment(name, start + _ms(after))
    for before, after_it in zip(record.attempts, record.attempts[1:], strict=False):
        moved = before.channel != after_it.channel
        yield Moment(
            "tidegate.failover" if moved else "tidegate.repair",
            _nano(after_it.started_at),
            _told(
                {
                    "tidegate.from": before.channel,
                    "tidegate.to": after_it.channel,
                    "error.type": _failure_of(before),
                }
            ),
        )


def _steps(attempt: AttemptRecord, start: int) -> Iterable[Moment]:
    for name, after in (
        ("tidegate.connected", attempt.connected_ms),
        ("tidegate.first_byte", attempt.first_byte_ms),
        ("tidegate.first_event", attempt.first_event_ms),
    ):
        if after is not None:
            yield Moment(name, start + _ms(after))


def _error_of(record: RequestRecord) -> str | None:
    told = record.error_code or record.error_type
    if told is not None:
        return _word(told)
    return "client_closed" if record.outcome == "client_closed" else None


def _failure_of(attempt: AttemptRecord) -> str | None:
    match attempt.outcome:
        case "failed" | "repaired":
            return attempt.failure_kind or _OTHER
        case "abandoned":
            return "abandoned"
        case _:  # served
            return None


def _told(attributes: dict[str, Value | None]) -> Attributes:
    return {name: value for name, value in attributes.items() if value is not None}


def _short(text: str | None, clean: Clean) -> str | None:
    """What callers and upstreams can write is cut, and searched for credentials.

    Half a surrogate pair, which JSON can hold and UTF-8 cannot, would cost the whole batch.
    """
    return None if text is None else clean(text[:_LONGEST].encode("utf-8", "replace").decode())


def _word(text: str) -> str:
    """An upstream's own word for something; a text in its place is not told."""
    return text if _WORD.fullmatch(text) else _OTHER


def _usd(nano: int | None) -> float | None:
    return None if nano is None else nano / NANO


def _seconds(milliseconds: float | None) -> float | None:
    return None if milliseconds is None else milliseconds / 1000


def _nano(seconds: float) -> int:
    return round(seconds * 1e6) * 1000


def _ms(milliseconds: float) -> int:
    return max(0, round(milliseconds * 1e6))
