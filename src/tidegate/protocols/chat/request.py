"""Reads a Chat Completions request as far as the gateway must, and writes it for a chat channel."""

from collections.abc import Iterator

from tidegate.core.failure import Failure
from tidegate.core.json_text import Edit, Span
from tidegate.core.protocol import Protocol
from tidegate.protocols import passthrough, prompt_text
from tidegate.protocols.base import Asked, Repair
from tidegate.protocols.request_body import (
    ARRAY,
    BOOL,
    NUMBER,
    OBJECT,
    STRING,
    RequestBody,
    Shapes,
    invalid,
    lacks_messages,
    read_body,
    read_model,
)

SHAPES: Shapes = {
    "model": STRING,
    "messages": ARRAY,
    "stream": BOOL,
    "stream_options": OBJECT,
    "max_completion_tokens": NUMBER,
    "max_tokens": NUMBER,
    "temperature": NUMBER,
    "top_p": NUMBER,
    "n": NUMBER,
    "stop": STRING + ARRAY,
    "presence_penalty": NUMBER,
    "frequency_penalty": NUMBER,
    "logit_bias": OBJECT,
    "logprobs": BOOL,
    "top_logprobs": NUMBER,
    "seed": NUMBER,
    "tools": ARRAY,
    "tool_choice": STRING + OBJECT,
    "parallel_tool_calls": BOOL,
    "functions": ARRAY,
    "function_call": STRING + OBJECT,
    "response_format": OBJECT,
    "reasoning_effort": STRING,
    "verbosity": STRING,
    "modalities": ARRAY,
    "audio": OBJECT,
    "prediction": OBJECT,
    "web_search_options": OBJECT,
    "service_tier": STRING,
    "store": BOOL,
    "metadata": OBJECT,
    "user": STRING,
    "safety_identifier": STRING,
    "prompt_cache_key": STRING,
}
MAX_CHOICES = 128

_PROMPT = ("messages", "tools", "functions", "response_format")
_SAYS_NOTHING: tuple[object, ...] = (None, "", [])
_USAGE_ALONE = (b'{"include_usage":true}', b'{"include_usage": true}')
"""The options as nearly every client writes them."""
_ABOUT_THE_MESSAGE = {"role", "name"}


def read_request(body: bytes) -> Asked | Failure:
    """Check a caller's body and read what the gateway needs; ranges of values are the upstream's to judge."""
    read = read_body(body, SHAPES)
    if isinstance(read, Failure):
        return read
    model = read_model(read)
    if isinstance(model, Failure):
        return model
    missing = lacks_messages(read)
    if missing is not None:
        return missing
    choices = _read_choices(read)
    if isinstance(choices, Failure):
        return choices
    wants_usage = _read_wants_usage(read)
    if isinstance(wants_usage, Failure):
        return wants_usage
    return Asked(
        protocol=Protocol.CHAT,
        body=read.text,
        members=read.members,
        model=model,
        stream=read.is_true("stream"),
        choices=choices,
        wants_usage=wants_usage,
    )


def write_request(asked: Asked, upstream_model: str) -> bytes:
    """The body for a chat channel: its model name, usage asked for on streams, no carriers of reasoning."""
    edits = passthrough.model_edits(asked, upstream_model) + _without_carriers(asked)
    if asked.stream:
        edits += _usage_edits(asked)
    return passthrough.edited(asked, edits)


def repair(asked: Asked, refusal: Failure) -> Repair | None:
    """STREAM_OPTIONS where the refusal names them and the request had them, or was given them here."""
    words = passthrough.refusal_words(refusal)
    has_options = asked.stream or "stream_options" in asked.members
    if words is None or not has_options or not ("stream_options" in words or "include_usage" in words):
        return None
    return Repair.STREAM_OPTIONS


def write_repaired(asked: Asked, upstream_model: str, repair: Repair) -> bytes:
    """The body without `stream_options`."""
    match repair:
        case Repair.STREAM_OPTIONS:
            edits = passthrough.model_edits(asked, upstream_model) + _without_carriers(asked)
            return passthrough.edited(asked, edits + passthrough.without_member(asked, "stream_options"))
        case Repair.THINKING | Repair.REASONING:
            return write_request(asked, upstream_model)


def prompt_texts(asked: Asked) -> Iterator[str]:
    """The texts of messages, tools and the output schema."""
    return prompt_text.texts(asked, _PROMPT)


def _read_choices(body: RequestBody) -> int | Failure:
    if not body.has("n"):
        return 1
    choices = body.value("n")
    if isinstance(choices, int) and 1 <= choices <= MAX_CHOICES:
        return choices
    return invalid(f"`n` must be a whole number from 1 to {MAX_CHOICES}.", "n")


def _read_wants_usage(body: RequestBody) -> bool | Failure:
    """Official rule: stream options only together with `stream: true`."""
    if not body.has("stream_options"):
        return False
    if not body.is_true("stream"):
        return invalid("`stream_options` is only allowed when `stream` is true.", "stream_options")
    text = body.text[slice(*body.members["stream_options"])]
    if text in _USAGE_ALONE:
        return True
    options = read_body(text, {"include_usage": BOOL})
    if isinstance(options, Failure):
        inner = "stream_options" if options.param is None else f"stream_options.{options.param}"
        return invalid(f"`stream_options` is wrong: {options.message}", inner)
    return options.is_true("include_usage")


def _usage_edits(asked: Asked) -> list[Edit]:
    """Set `stream_options.include_usage`, keeping the caller's other options byte for byte."""
    span = asked.members.get("stream_options")
    if span is None:
        after = asked.members["stream"][1]
        return [(after, after, b',"stream_options":{"include_usage":true}')]
    start, end = span
    if asked.body[start:end] in _USAGE_ALONE:
        return []
    if asked.body.startswith(b"null", start):
        return [(start, end, b'{"include_usage":true}')]
    options = passthrough.members_at(asked.body, span)
    if "include_usage" not in options:
        return [(start + 1, start + 1, b'"include_usage":true' + (b"," if options else b""))]
    at, to = options["include_usage"]
    return [] if asked.body[at:to] == b"true" else [(at, to, b"true")]


def _without_carriers(asked: Asked) -> list[Edit]:
    if not passthrough.may_hold_carriers(asked):
        return []

    def without(message: Span) -> list[Edit] | None:
        return _message_without_carriers(asked.body, message)

    return passthrough.without_parts(asked.body, asked.members["messages"], without)


def _message_without_carriers(text: bytes, message: Span) -> list[Edit] | None:
    """Edits inside one message; None where nothing that it says is left."""
    if passthrough.CARRIER_MARK not in text[slice(*message)]:
        return []
    members = passthrough.members_at(text, message)
    details = members.get("reasoning_details")
    parts = passthrough.elements_at(text, details)
    doomed = {number for number, part in enumerate(parts) if _is_carrier_entry(text, part)}
    if details is None or not doomed:
        return []
    if len(doomed) < len(parts):
        return passthrough.removals(text, details[0], parts, doomed)
    left = passthrough.dict_at(text, message).items()
    silent = {"reasoning_details", *_ABOUT_THE_MESSAGE}
    if all(name in silent or value in _SAYS_NOTHING for name, value in left):
        return None
    number = list(members).index("reasoning_details")
    return passthrough.removals(text, message[0], list(members.values()), {number})


def _is_carrier_entry(text: bytes, part: Span) -> bool:
    entry = passthrough.dict_at(text, part)
    return passthrough.is_carrier(entry.get("data")) or passthrough.is_carrier(entry.get("signature"))
