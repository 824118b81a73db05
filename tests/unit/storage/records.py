"""Rows for the tests of the storage."""

from msgspec.structs import replace

from tidegate.exchange.ports import AttemptRecord, RequestRecord

ATTEMPT = AttemptRecord(
    channel="main",
    upstream_model="claude-sonnet-5",
    status=200,
    outcome="served",
    error=None,
    started_at=1_700_000_000.25,
    duration_ms=5320.5,
)

RECORD = RequestRecord(
    id="req_0",
    created_at=1_700_000_000.123,
    key="laptop",
    account="acme",
    protocol="chat",
    stream=True,
    model="sonnet",
    channel="main",
    status=200,
    outcome="completed",
    finish_reason="stop",
    first_token_ms=412.5,
    duration_ms=5321.0,
    input_tokens=18,
    cache_read_tokens=0,
    cache_write_tokens=0,
    output_tokens=12,
    usage_source="upstream",
    error_type=None,
    error_code=None,
    error_message=None,
    warnings=("dropped:top_k",),
    attempts=(ATTEMPT,),
)


def record(number: int, **changes: object) -> RequestRecord:
    """A row of its own id and time: a second later for each number."""
    return replace(RECORD, **{"id": f"req_{number:05}", "created_at": RECORD.created_at + number, **changes})
