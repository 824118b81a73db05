"""Reads what is kept of the content of requests."""

from tidegate.config import values
from tidegate.config.settings import Capture
from tidegate.config.table import Table
from tidegate.config.values import Wrong
from tidegate.observe.content_redaction import pattern_fault

_MOST_BYTES = 16 * 1024 * 1024
_MOST_PATTERNS = 64
_LONGEST_PATTERN = 1_000


def capture(table: Table) -> Capture:
    """The section `[capture]`."""
    default = Capture()
    patterns = table.items("redact", expression)
    if patterns is not None and len(patterns) > _MOST_PATTERNS:
        message = f"holds more than {_MOST_PATTERNS} patterns"
        table.error("redact", message, "join some of them with |")
    read = Capture(
        max_bytes=table.read("max_bytes", values.whole(1, _MOST_BYTES), default.max_bytes),
        redact=patterns or default.redact,
        retention=table.read("retention", values.seconds, default.retention),
    )
    table.close()
    return read


def expression(raw: object) -> str | Wrong:
    """A regular expression in the syntax of Python's `re`."""
    read = values.free_text(raw)
    if isinstance(read, Wrong):
        return read
    if len(read) > _LONGEST_PATTERN:
        return Wrong(f"has more than {_LONGEST_PATTERN} characters", "split it into several patterns")
    fault = pattern_fault(read)
    if fault is None:
        return read
    mend = "write a regular expression as Python's re takes it; in TOML best in single quotes: '\\d{16}'"
    return Wrong(fault, mend)
