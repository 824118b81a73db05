"""Writes the JSON line of a finished request, past the logging machinery: there is one for every request."""

from collections.abc import Callable
from datetime import UTC, datetime
from functools import lru_cache
from typing import TextIO

import msgspec
from msgspec import Struct

from tidegate.exchange.ports import RequestRecord
from tidegate.observe.plain import plain_json

_encode = msgspec.json.Encoder().encode
_REMEMBERED = 1024


class RequestLine(Struct, omit_defaults=True, kw_only=True):
    """The members of the line in their order; what is None or empty is left out."""

    time: str
    level: str
    logger: str
    message: str
    request_id: str
    key: str | None = None
    account: str | None = None
    protocol: str
    stream: bool
    model: str | None = None
    channel: str | None = None
    status: int
    finish_reason: str | None = None
    first_token_ms: float | None = None
    duration_ms: float
    input_tokens: int
    cache_read_tokens: int
    cache_write_tokens: int
    output_tokens: int
    usage_source: str
    error_type: str | None = None
    error_code: str | None = None
    error: str | None = None
    warnings: tuple[str, ...] = ()
    attempts: int
    trace_id: str | None = None


class RequestLines:
    """Writes to one stream. Only what callers and upstreams can write into a row is searched for secrets."""

    def __init__(self, stream: TextIO, logger: str, redact: Callable[[str], str]) -> None:
        self._stream = stream
        self._logger = logger
        self._redact = lru_cache(_REMEMBERED)(redact)
        self._second = -1
        self._prefix = ""

    def forget(self) -> None:
        """Another secret is known now: what passed before may hold it."""
        self._redact.cache_clear()

    def write(self, record: RequestRecord, level: str, now: float) -> None:
        """One line; `now` in Unix seconds. A stream that is gone is no reason to fail a request."""
        line = RequestLine(
            time=self._time(now),
            level=level,
            logger=self._logger,
            message=f"request {record.outcome}",
            request_id=record.id,
            key=record.key,
            account=record.account,
            protocol=record.protocol,
            stream=record.stream,
            model=self._clean(record.model),
            channel=record.channel,
            status=record.status,
            finish_reason=self._clean(record.finish_reason),
            first_token_ms=record.first_token_ms,
            duration_ms=record.duration_ms,
            input_tokens=record.input_tokens,
            cache_read_tokens=record.cache_read_tokens,
            cache_write_tokens=record.cache_write_tokens,
            output_tokens=record.output_tokens,
            usage_source=record.usage_source,
            error_type=self._clean(record.error_type),
            error_code=self._clean(record.error_code),
            error=self._clean(record.error_message),
            warnings=tuple(map(self._redact, record.warnings)),
            attempts=len(record.attempts),
            trace_id=record.trace_id,
        )
        self._stream.write(plain_json(_encode(line).decode()) + "\n")
        self._stream.flush()

    def _clean(self, text: str | None) -> str | None:
        return None if text is None else self._redact(text)

    def _time(self, now: float) -> str:
        second = int(now)
        if second != self._second:
            self._second = second
            self._prefix = datetime.fromtimestamp(second, UTC).strftime("%Y-%m-%dT%H:%M:%S.")
        return f"{self._prefix}{int((now - second) * 1000):03d}Z"
