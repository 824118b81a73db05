"""The wishes that a caller writes into the model name, such as `sim;ttft=2s;rate=80;cut_after=5`."""

import re
from collections.abc import Callable
from enum import Enum
from typing import Any, TypeVar
from urllib.parse import unquote

import msgspec
from msgspec import Struct

from tidegate.simulator.trouble import ErrorForm, Kind

MAX_COUNT = 1_000_000
MAX_BYTES = 64 * 1024 * 1024
_DURATION = re.compile(r"(\d{1,7}(?:\.\d{1,6})?)(ms|s|m)?")
_RATIO = re.compile(r"(\d{1,4})/(\d{1,4})")
_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, None: 1.0}


class Ending(Enum):
    """How the connection ends when it is cut."""

    CLEAN = "clean"
    """The body ends in order; only the protocol's end mark is missing."""
    TRUNCATE = "truncate"
    """The connection closes in order, before the body's own end."""
    RESET = "reset"
    """A TCP reset."""


class Coding(Enum):
    """A content coding that nobody asked for."""

    GZIP = "gzip"
    BR = "br"
    ZSTD = "zstd"


class Nothing(Enum):
    """What an answer without a single event consists of."""

    BYTES = "bytes"
    """No byte at all."""
    COMMENTS = "comments"
    """Three comment lines."""
    DONE = "done"
    """`data: [DONE]` alone."""


class Ratio(Struct, frozen=True):
    """The first `failing` of every `out_of` requests fail."""

    failing: int
    out_of: int


class Parameters(Struct, frozen=True, kw_only=True):
    """Every parameter, by the name it has in the model name; docs/simulator.md says what each does.

    Times are seconds, lengths are counts of words, events or bytes. `None` means "not told".
    """

    base: str

    # what is said
    words: int | None = None
    events: int | None = None
    text: str | None = None
    big: int = 0
    reasoning: int | None = None
    raw_reasoning: bool = False
    redacted: bool = False
    tools: int | None = None
    tool: str | None = None
    tool_input: str | None = None
    web_search: int = 0
    refusal: bool = False
    finish: str | None = None
    dated: bool = False
    unique_ids: bool = False
    input: int | None = None
    cache_read: int | None = None
    cache_write: int | None = None
    cache_write_1h: int = 0
    output: int | None = None

    # pace
    head_delay: float = 0.0
    ttft: float = 0.0
    rate: float | None = None
    finish_delay: float = 0.0
    hold: float = 0.0
    ping: bool = False
    ping_every: float | None = None

    # refusals
    status: int | None = None
    error: Kind | None = None
    error_after: int | None = None
    error_form: ErrorForm = ErrorForm.USUAL
    bare_error: bool = False
    after_error: bool = False
    message: str | None = None
    retry_after: str | None = None
    retry_after_ms: str | None = None
    should_retry: str | None = None
    refuse: str | None = None
    check_reasoning: bool = False
    fail_rate: Ratio | None = None
    fail_first: int | None = None

    # faults of the stream
    stall_after: int | None = None
    stall: float | None = None
    cut_after: int | None = None
    cut_event: int | None = None
    cut: Ending = Ending.CLEAN
    garble_after: int | None = None
    no_usage: bool = False
    no_finish: bool = False
    no_end: bool = False
    done: bool = False

    # faults of the bytes
    split: int | None = None
    crlf: bool = False
    cr: bool = False
    no_space: bool = False
    bom: bool = False
    comments: bool = False
    retry: bool = False
    no_data: bool = False
    ids: bool = False
    no_event_names: bool = False
    event_names: bool = False
    multiline: bool = False
    bad_utf8: bool = False
    no_final_blank: bool = False

    # faults of HTTP
    html: bool = False
    empty: Nothing | None = None
    json: bool = False
    sse: bool = False
    wrong_type: str | None = None
    gzip: bool = False
    br: bool = False
    zstd: bool = False
    http10: bool = False
    close: bool = False
    interim: bool = False
    trailers: bool = False
    headers: int = 0
    header_size: int = 0
    twice: bool = False
    not_http: bool = False
    drop: Ending | None = None
    close_silently: bool = False

    @property
    def coding(self) -> Coding | None:
        """The content coding asked for, if any."""
        return next((coding for coding in Coding if getattr(self, coding.value)), None)


class BadParameter(Struct, frozen=True):
    """A parameter that cannot be obeyed; `why` is a sentence for the caller."""

    name: str
    why: str


FAULTS: frozenset[str] = frozenset(
    Parameters.__struct_fields__[Parameters.__struct_fields__.index("status") :]
) | {"head_delay"}
"""The parameters that a request spared by `fail_rate` or `fail_first` does not feel."""


def parse(model: str) -> Parameters | BadParameter:
    """Reads `base;name=value;flag`. Values are percent-decoded; empty pieces are ignored."""
    base, *pieces = model.split(";")
    found: dict[str, Any] = {}
    for piece in filter(None, (piece.strip() for piece in pieces)):
        name, equals, raw = (part.strip() for part in piece.partition("="))
        if name not in _READERS:
            return BadParameter(name, f"Unknown simulator parameter {name!r}. See docs/simulator.md.")
        if name in found:
            return BadParameter(name, f"Simulator parameter {name!r} is given twice.")
        value = _READERS[name](unquote(raw) if equals else None)
        if isinstance(value, _Wanted):
            return BadParameter(name, f"Simulator parameter {name!r} wants {value.form}, not {raw!r}.")
        found[name] = value
    return Parameters(base=base.strip(), **found)


def spared(parameters: Parameters, nth: int) -> Parameters:
    """The parameters of the `nth` request (from 0) of this model name: without faults if it is spared.

    A request that is to fail, and for which no fault is named, is refused with status 500.
    """
    if parameters.fail_rate is None and parameters.fail_first is None:
        return parameters
    ratio, first = parameters.fail_rate, parameters.fail_first
    fails = (ratio is not None and nth % ratio.out_of < ratio.failing) or (first is not None and nth < first)
    if not fails:
        healthy = Parameters(base=parameters.base)
        return msgspec.structs.replace(parameters, **{name: getattr(healthy, name) for name in FAULTS})
    bare = Parameters(base=parameters.base, fail_rate=ratio, fail_first=first)
    if all(getattr(parameters, name) == getattr(bare, name) for name in FAULTS):
        return msgspec.structs.replace(parameters, status=500)
    return parameters


class _Wanted(Struct, frozen=True):
    """Says that a value was not of the form wanted."""

    form: str


_Reader = Callable[[str | None], object]
_Choice = TypeVar("_Choice", bound=Enum)


def _flag(raw: str | None) -> object:
    match raw:
        case None | "1" | "true":
            return True
        case "0" | "false":
            return False
        case _:
            return _Wanted("no value, 1 or 0")


def _seconds(raw: str | None) -> object:
    found = _DURATION.fullmatch(raw or "")
    return float(found[1]) * _UNITS[found[2]] if found else _Wanted("a time such as 500ms, 2s or 1m")


def _rate(raw: str | None) -> object:
    try:
        value = float(raw or "")
    except ValueError:
        value = 0.0
    return value if 0.001 <= value <= 1_000_000 else _Wanted("events per second, above 0")


def _number(low: int, high: int, *, bare: int | None = None) -> _Reader:
    def read(raw: str | None) -> object:
        if raw is None and bare is not None:
            return bare
        value = int(raw) if raw is not None and raw.isascii() and raw.isdigit() and len(raw) < 10 else -1
        return value if low <= value <= high else _Wanted(f"a whole number from {low} to {high}")

    return read


def _text(*, bare: str | None = None) -> _Reader:
    def read(raw: str | None) -> object:
        value = bare if raw is None else raw
        if not value or any(ord(char) < 32 and char not in "\n\t" for char in value):
            return _Wanted("a text (percent-encoded where it holds ; or %)")
        return value

    return read


def _header_value(raw: str | None) -> object:
    fits = bool(raw) and raw is not None and raw.isascii() and raw.isprintable()
    return raw if fits else _Wanted("a header value")


def _choice(choices: type[_Choice], *, bare: _Choice | None = None) -> _Reader:
    def read(raw: str | None) -> object:
        if raw is None and bare is not None:
            return bare
        by_name = {str(choice.value): choice for choice in choices}
        return by_name.get(raw or "") or _Wanted("one of " + ", ".join(by_name))

    return read


def _ratio(raw: str | None) -> object:
    found = _RATIO.fullmatch(raw or "")
    ratio = Ratio(int(found[1]), int(found[2])) if found else Ratio(1, 0)
    return ratio if ratio.failing <= ratio.out_of else _Wanted("a share such as 1/3")


_COUNT = _number(0, MAX_COUNT)
_READERS: dict[str, _Reader] = {
    **{
        name: _flag
        for name, default in zip(
            Parameters.__struct_fields__[1:], Parameters.__struct_defaults__, strict=True
        )
        if default is False
    },
    **dict.fromkeys(("words", "reasoning", "web_search", "error_after", "stall_after", "cut_after"), _COUNT),
    **dict.fromkeys(("cut_event", "garble_after", "fail_first"), _COUNT),
    **dict.fromkeys(
        ("input", "cache_read", "cache_write", "cache_write_1h", "output"), _number(0, 10**9 - 1)
    ),
    **dict.fromkeys(("head_delay", "ttft", "finish_delay", "hold", "stall"), _seconds),
    **dict.fromkeys(("text", "tool", "tool_input", "finish", "message", "refuse"), _text()),
    **dict.fromkeys(("retry_after", "retry_after_ms", "should_retry"), _header_value),
    "events": _number(1, MAX_COUNT),
    "big": _number(1, MAX_BYTES),
    "tools": _number(0, 64),
    "rate": _rate,
    "ping_every": _seconds,
    "status": _number(300, 599),
    "error": _choice(Kind),
    "error_form": _choice(ErrorForm),
    "fail_rate": _ratio,
    "cut": _choice(Ending),
    "split": _number(1, MAX_BYTES, bare=1),
    "empty": _choice(Nothing, bare=Nothing.BYTES),
    "wrong_type": _text(bare="text/plain"),
    "headers": _number(0, 10_000),
    "header_size": _number(0, MAX_BYTES),
    "drop": _choice(Ending, bare=Ending.TRUNCATE),
}
