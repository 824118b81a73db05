"""Checks token counts, which must be whole numbers that fit together."""

from collections.abc import Iterator

from tidegate.core.protocol import Protocol
from tidegate.doctor.findings import Finding
from tidegate.doctor.members import Object, count, part


def check_usage(usage: Object, protocol: Protocol, *, spoken: bool) -> Iterator[Finding]:
    """The usage of a whole answer, or the last of a stream; `spoken`: there was output."""
    shown = str(usage)[:500]
    for message in _wrong_numbers(usage, _NUMBERS[protocol], _DETAILS[protocol]):
        yield Finding("usage-form", message, shown)
    prompt, output = _prompt(usage, protocol), count(usage, _NUMBERS[protocol][1])
    match protocol:
        case Protocol.CHAT:
            yield from _check_sum(usage, prompt, output)
            yield from _check_details(usage, "prompt_tokens_details", _CACHED, prompt)
            yield from _check_details(usage, "completion_tokens_details", _REASONING, output)
        case Protocol.RESPONSES:
            yield from _check_sum(usage, prompt, output)
            yield from _check_details(usage, "input_tokens_details", _CACHED, prompt)
            yield from _check_details(usage, "output_tokens_details", _REASONING, output)
        case Protocol.MESSAGES:
            yield from _check_written(usage)
            yield from _check_details(usage, "output_tokens_details", ("thinking_tokens",), output)
    if prompt == 0 or (output == 0 and spoken):
        what = "prompt" if prompt == 0 else "output"
        yield Finding("usage-zero", f"the {what} counts as zero tokens, though there was one", shown)


def _prompt(usage: Object, protocol: Protocol) -> int | None:
    """All tokens of the prompt, cached or not."""
    told = count(usage, _NUMBERS[protocol][0])
    if protocol is not Protocol.MESSAGES or told is None:
        return told
    read, written = count(usage, "cache_read_input_tokens"), count(usage, "cache_creation_input_tokens")
    return told + (read or 0) + (written or 0)


_CACHED = ("cached_tokens", "cache_write_tokens")
_REASONING = ("reasoning_tokens",)
_NUMBERS = {
    Protocol.CHAT: ("prompt_tokens", "completion_tokens", "total_tokens"),
    Protocol.RESPONSES: ("input_tokens", "output_tokens", "total_tokens"),
    Protocol.MESSAGES: ("input_tokens", "output_tokens"),
}


_DETAILS = {
    Protocol.CHAT: {"prompt_tokens_details": _CACHED, "completion_tokens_details": _REASONING},
    Protocol.RESPONSES: {"input_tokens_details": _CACHED, "output_tokens_details": _REASONING},
    Protocol.MESSAGES: {
        "": ("cache_read_input_tokens", "cache_creation_input_tokens"),
        "cache_creation": ("ephemeral_5m_input_tokens", "ephemeral_1h_input_tokens"),
        "output_tokens_details": ("thinking_tokens",),
    },
}
"""Counts that may be left out, and the objects that they stand in."""


def _wrong_numbers(
    usage: Object, demanded: tuple[str, ...], further: dict[str, tuple[str, ...]]
) -> Iterator[str]:
    for name in demanded:
        if count(usage, name) is None:
            yield f"{name} is no whole number"
    for details, names in further.items():
        if details and not isinstance(usage.get(details), dict | None):
            yield f"{details} is no object"
        yield from _wrong_details(part(usage, details) if details else usage, names)
    yield from _negative(usage, "")
    for name, value in usage.items():
        if isinstance(value, dict):
            yield from _negative(value, f"{name}.")


def _wrong_details(inside: Object, names: tuple[str, ...]) -> Iterator[str]:
    for name in names:
        if inside.get(name) is not None and count(inside, name) is None:
            yield f"{name} is no whole number"


def _negative(counts: Object, before: str) -> Iterator[str]:
    for name, value in counts.items():
        if isinstance(value, int | float) and value < 0:
            yield f"{before}{name} is negative"


def _check_sum(usage: Object, prompt: int | None, output: int | None) -> Iterator[Finding]:
    total = count(usage, "total_tokens")
    if prompt is not None and output is not None and total is not None and total != prompt + output:
        message = f"total_tokens is {total}, not {prompt} + {output}"
        yield Finding("usage-sum", message, str(usage)[:500])


def _check_details(
    usage: Object, details: str, names: tuple[str, ...], whole: int | None
) -> Iterator[Finding]:
    inside = sum(count(part(usage, details), name) or 0 for name in names)
    if whole is not None and inside > whole:
        message = f"{details} come to {inside}, more than the {whole} that they are a part of"
        yield Finding("usage-overlap", message, str(usage)[:500])


def _check_written(usage: Object) -> Iterator[Finding]:
    creation, written = part(usage, "cache_creation"), count(usage, "cache_creation_input_tokens") or 0
    if not creation:
        return
    apart = sum(count(creation, name) or 0 for name in creation)
    if apart != written:
        message = f"cache_creation adds up to {apart}, cache_creation_input_tokens is {written}"
        yield Finding("usage-sum", message, str(usage)[:500])
