"""Writes the log: one line an event on standard error, as JSON or for people, without credentials."""

import asyncio
import json
import logging
import sys
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from enum import Enum
from typing import Any, TextIO

import msgspec

from tidegate.core.failure import Fault, Kind, fault
from tidegate.core.secret import Secret
from tidegate.exchange.current import served_now
from tidegate.exchange.ports import AttemptRecord, RequestRecord
from tidegate.exchange.story import Incoming
from tidegate.observe.plain import plain_json, plain_line
from tidegate.observe.redaction import Redactor
from tidegate.observe.request_lines import RequestLines

FORMAT_VARIABLE = "TIDEGATE_LOG_FORMAT"
LEVEL_VARIABLE = "TIDEGATE_LOG_LEVEL"

_faults_log = logging.getLogger("tidegate.faults")
requests_log = logging.getLogger("tidegate.requests")

# One for the process, as logging itself is: a secret must stay out of every line, whoever writes it.
_redactor = Redactor()
_request_lines: list[RequestLines] = []

_LEVELS = {
    "debug": logging.DEBUG,
    "info": logging.INFO,
    "warning": logging.WARNING,
    "error": logging.ERROR,
}
_OWN_FIELDS = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}
_CHANNELS_FAULTS = frozenset(kind.value for kind in Kind if fault(kind) is Fault.UPSTREAM)
_encode = msgspec.json.Encoder(enc_hook=repr).encode


class BadLogSetting(ValueError):
    """A variable of the environment that sets up the log has a value it cannot have; the text names it."""


class Format(Enum):
    """How a line looks."""

    JSON = "json"
    TEXT = "text"


def set_up(environ: Mapping[str, str], stream: TextIO | None = None) -> None:
    """Send all log lines of the process to `stream` (standard error).

    TIDEGATE_LOG_FORMAT is `json` or `text`; unset: text on a terminal, else JSON. TIDEGATE_LOG_LEVEL is
    `debug`, `info` (default), `warning` or `error`. Another value raises BadLogSetting.
    """
    target = sys.stderr if stream is None else stream
    level = _level(environ.get(LEVEL_VARIABLE, "info"))
    lines = logging.StreamHandler(target)
    _request_lines.clear()
    match _format(environ.get(FORMAT_VARIABLE), target):
        case Format.JSON:
            lines.setFormatter(JsonLines(_redactor))
            _request_lines.append(RequestLines(target, requests_log.name, _redactor))
        case Format.TEXT:
            lines.setFormatter(TextLines(_redactor))
    root = logging.getLogger()
    root.handlers[:] = [lines]
    root.setLevel(max(level, logging.WARNING))  # libraries: only what is wrong
    logging.getLogger("tidegate").setLevel(level)
    logging.captureWarnings(capture=True)


def register_secret(secret: Secret) -> None:
    """Keep this secret out of every later line, whoever writes it."""
    _redactor.register(secret)
    for lines in _request_lines:
        lines.forget()


def known_secrets() -> Redactor:
    """What has been registered, for texts that go elsewhere."""
    return _redactor


def log_request(record: RequestRecord) -> None:
    """The line of a finished request; a warning if the gateway or an upstream failed the caller."""
    level = logging.WARNING if record.outcome in ("failed", "interrupted") else logging.INFO
    if requests_log.isEnabledFor(level) and not _wrote_quickly(record, level):
        # Made by hand: `Logger.log` would walk the stack to find a caller that nobody asks for.
        line = logging.LogRecord(requests_log.name, level, __file__, 0, "request %s", (record.outcome,), None)
        line.facts = _facts(record)
        requests_log.handle(line)


def log_attempt(request_id: str, attempt: AttemptRecord) -> None:
    """The line of a try that failed; a warning if that was the channel's fault."""
    level = logging.WARNING if attempt.failure_kind in _CHANNELS_FAULTS else logging.INFO
    facts = {
        "request_id": request_id,
        **_traced(served_now()),
        "channel": attempt.channel,
        "upstream_model": attempt.upstream_model,
        "outcome": attempt.outcome,
        "status": attempt.status,
        "failure_kind": attempt.failure_kind,
        "duration_ms": round(attempt.duration_ms, 3),
        "error": attempt.error,
    }
    requests_log.log(level, "attempt %s", attempt.outcome, extra={"facts": _told(facts)})


def log_fault(_loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """A fault that nobody caught, as an event loop tells it."""
    extra = {name: context[name] for name in ("request_id",) if context.get(name)}
    words = str(context.get("message") or "a fault that nobody caught")
    _faults_log.error("%s", words, exc_info=context.get("exception"), extra=extra)


def _wrote_quickly(record: RequestRecord, level: int) -> bool:
    """JSON lines have a quick way; what it cannot write (lone surrogates, a full disk) goes the usual one."""
    try:
        for lines in _request_lines:
            lines.write(record, logging.getLevelName(level).lower(), time.time())
    except (ValueError, OSError):
        return False
    return bool(_request_lines)


def _facts(record: RequestRecord) -> dict[str, object]:
    facts: dict[str, object] = {
        "request_id": record.id,
        "key": record.key,
        "account": record.account,
        "protocol": record.protocol,
        "stream": record.stream,
        "model": record.model,
        "channel": record.channel,
        "status": record.status,
        "finish_reason": record.finish_reason,
        "first_token_ms": record.first_token_ms,
        "duration_ms": record.duration_ms,
        "input_tokens": record.input_tokens,
        "cache_read_tokens": record.cache_read_tokens,
        "cache_write_tokens": record.cache_write_tokens,
        "output_tokens": record.output_tokens,
        "usage_source": record.usage_source,
        "error_type": record.error_type,
        "error_code": record.error_code,
        "error": record.error_message,
        "warnings": record.warnings or None,
        "attempts": len(record.attempts),
        "trace_id": record.trace_id,
    }
    return _told(facts)


def _told(facts: Mapping[str, object]) -> dict[str, object]:
    return {name: value for name, value in facts.items() if value is not None}


class JsonLines(logging.Formatter):
    """One JSON object a line; what was given as `extra` stands beside the message."""

    def __init__(self, redact: Redactor) -> None:
        super().__init__()
        self._redact = redact

    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, Any] = {
            "time": _time(record),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
            **_extra(record),
        }
        trace = _trace(self, record)
        if trace:
            line["exception"] = trace
        return plain_json(self._redact(_to_json(line)))


class TextLines(logging.Formatter):
    """A line for people: time, level, logger, message, then `name=value` of what was given as `extra`."""

    def __init__(self, redact: Redactor) -> None:
        super().__init__()
        self._redact = redact

    def format(self, record: logging.LogRecord) -> str:
        words = [_time(record), f"{record.levelname:<7}", record.name, record.getMessage()]
        words += [f"{name}={_shown(value)}" for name, value in _extra(record).items()]
        # A line break in a value must not look like a line of its own.
        lines = [" ".join(words).replace("\n", "\\n"), *_trace(self, record).splitlines()]
        return "\n".join(map(plain_line, self._redact("\n".join(lines)).split("\n")))


def _extra(record: logging.LogRecord) -> dict[str, Any]:
    facts: dict[str, Any] | None = getattr(record, "facts", None)  # as `log_request` gives them, all at once
    if facts is not None:
        return facts
    given = {name: value for name, value in vars(record).items() if name not in _OWN_FIELDS}
    served = None if "request_id" in given else served_now()
    return given if served is None else {"request_id": served.id, **_traced(served), **given}


def _traced(served: Incoming | None) -> dict[str, object]:
    trace = None if served is None else served.trace
    return {} if trace is None else {"trace_id": trace.trace_id}


def _trace(formatter: logging.Formatter, record: logging.LogRecord) -> str:
    parts = [record.exc_text or ""]
    if record.exc_info and not record.exc_text:
        parts = [formatter.formatException(record.exc_info)]
    if record.stack_info:
        parts.append(formatter.formatStack(record.stack_info))
    return "\n".join(part for part in parts if part)


def _time(record: logging.LogRecord) -> str:
    moment = datetime.fromtimestamp(record.created, UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _to_json(line: dict[str, Any]) -> str:
    try:
        return _encode(line).decode()
    except (TypeError, ValueError, RecursionError):  # lone surrogates, keys that are no text, circles
        return json.dumps({name: str(value) for name, value in line.items()})


def _shown(value: object) -> str:
    text = str(value)
    return json.dumps(text, ensure_ascii=False) if not text or " " in text or "=" in text else text


def _level(name: str) -> int:
    level = _LEVELS.get(name.lower())
    if level is None:
        raise BadLogSetting(f"{LEVEL_VARIABLE}: must be one of {', '.join(_LEVELS)}")
    return level


def _format(name: str | None, stream: TextIO) -> Format:
    if not name:
        return Format.TEXT if stream.isatty() else Format.JSON
    try:
        return Format(name.lower())
    except ValueError:
        raise BadLogSetting(f"{FORMAT_VARIABLE}: must be `json` or `text`") from None
