"""The JSON shapes of the overview."""

from tidegate.admin.resources import iso_time
from tidegate.ledger.money import usd
from tidegate.storage.figures import KeyUse
from tidegate.storage.overview import Group, Overview, Question
from tidegate.storage.pages import OUTCOMES
from tidegate.storage.sums import COUNTS, TOKENS
from tidegate.storage.tally import Sums, bins, percentile, requests_in

Json = dict[str, object]


def overview_json(question: Question, overview: Overview, at: float) -> Json:
    """All of it; `at` is when it was read (Unix seconds)."""
    span = question.span
    attempts = question.group_by == "channel"
    return {
        "since": iso_time(span.since),
        "until": iso_time(span.until),
        "bucket_seconds": span.bucket,
        "as_of": iso_time(at),
        "totals": sums_json(overview.totals),
        "series": [{"at": iso_time(start), **sums_json(sums)} for start, sums in overview.series],
        "groups": [_group_json(group, attempts=attempts) for group in overview.groups],
        "open_requests": overview.open_requests,
        "uncounted_rows": overview.uncounted_rows,
    }


def sums_json(sums: Sums) -> Json:
    """What some requests come to."""
    counts = dict(zip(COUNTS, sums, strict=False))
    return {
        "requests": requests_in(sums),
        **{name: counts[name] for name in (*OUTCOMES, *TOKENS)},
        "cost": usd(counts["cost"]),
        "first_token_ms": _percentiles(bins(sums)),
    }


def key_json(use: KeyUse | None) -> Json:
    """What a key has done."""
    last = None if use is None else use.last_used_at
    return {
        "last_used_at": None if last is None else iso_time(last),
        "spent_today": None if use is None else usd(use.spent_today),
        "spent_month": None if use is None else usd(use.spent_month),
    }


def _group_json(group: Group, *, attempts: bool) -> Json:
    tried = {name: group.sums[COUNTS.index(name)] for name in ("attempts", "attempts_failed")}
    return {
        "name": group.name,
        "kind": group.kind,
        **sums_json(group.sums),
        **(tried if attempts else {}),
    }


def _percentiles(counts: list[int]) -> Json | None:
    half, most = percentile(counts, 0.5), percentile(counts, 0.95)
    if half is None or most is None:
        return None
    return {"p50": round(half, 1), "p95": round(most, 1)}
