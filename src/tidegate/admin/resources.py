"""The JSON shapes of the admin API."""

from collections.abc import Collection
from datetime import UTC, datetime

from tidegate.exchange.ports import AttemptRecord, RequestRecord, SkippedRecord
from tidegate.ledger.entries import Item
from tidegate.ledger.money import usd
from tidegate.storage.pages import Page


def page_json(page: Page, captured: Collection[str]) -> dict[str, object]:
    """A page of rows; `next` is the `before` of the page that follows."""
    return {
        "data": [request_json(record, captured) for record in page.requests],
        "has_more": page.next is not None,
        "next": page.next,
    }


def request_json(record: RequestRecord, captured: Collection[str] | None = None) -> dict[str, object]:
    """One row, as docs/journal.md describes it.

    `captured` are ids of requests whose content is kept; None: nobody has looked.
    """
    row: dict[str, object] = {
        "id": record.id,
        "created_at": iso_time(record.created_at),
        "key": record.key,
        "account": record.account,
        "protocol": record.protocol,
        "stream": record.stream,
        "model": record.model,
        "channel": record.channel,
        "status": record.status,
        "outcome": record.outcome,
        "finish_reason": record.finish_reason,
        "first_token_ms": _milliseconds(record.first_token_ms),
        "duration_ms": round(record.duration_ms, 3),
        "input_tokens": record.input_tokens,
        "cache_read_tokens": record.cache_read_tokens,
        "cache_write_tokens": record.cache_write_tokens,
        "output_tokens": record.output_tokens,
        "usage_source": record.usage_source,
        "cost": usd(record.cost),
        "items": [_item_json(item) for item in record.items],
        "error": _error_json(record),
        "warnings": list(record.warnings),
        "attempts": [_attempt_json(attempt) for attempt in record.attempts],
        "skipped": [_skipped_json(skipped) for skipped in record.skipped],
        "user_agent": record.user_agent,
        "trace_id": record.trace_id,
    }
    return row if captured is None else row | {"captured": record.id in captured}


def iso_time(seconds: float) -> str:
    """Unix seconds as ISO 8601 in UTC with milliseconds."""
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _error_json(record: RequestRecord) -> dict[str, object] | None:
    if record.error_type is None and record.error_code is None and record.error_message is None:
        return None
    return {"type": record.error_type, "code": record.error_code, "message": record.error_message}


def _attempt_json(attempt: AttemptRecord) -> dict[str, object]:
    return {
        "channel": attempt.channel,
        "upstream_model": attempt.upstream_model,
        "status": attempt.status,
        "outcome": attempt.outcome,
        "error": attempt.error,
        "started_at": iso_time(attempt.started_at),
        "duration_ms": round(attempt.duration_ms, 3),
        "upstream_cost": None if attempt.upstream_cost is None else usd(attempt.upstream_cost),
        "reason": attempt.reason,
        "failure_kind": attempt.failure_kind,
        "connected_ms": _milliseconds(attempt.connected_ms),
        "first_byte_ms": _milliseconds(attempt.first_byte_ms),
        "first_event_ms": _milliseconds(attempt.first_event_ms),
    }


def _skipped_json(skipped: SkippedRecord) -> dict[str, object]:
    return {"channel": skipped.channel, "upstream_model": skipped.upstream_model, "why": skipped.why}


def _milliseconds(told: float | None) -> float | None:
    return None if told is None else round(told, 3)


def _item_json(item: Item) -> dict[str, object]:
    return {"name": item.name, "quantity": item.quantity, "price": item.price, "amount": item.amount}
