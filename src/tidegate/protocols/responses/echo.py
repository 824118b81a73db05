"""Writes the response object of a converted answer, with the client's own request echoed in it."""

import msgspec

from tidegate.core.json_text import JsonError, load
from tidegate.protocols.base import Asked
from tidegate.protocols.conversion import AnswerContext
from tidegate.protocols.loose import encoded

_DEFAULTS: dict[str, bytes] = {
    "instructions": b"null",
    "max_output_tokens": b"null",
    "metadata": b"{}",
    "parallel_tool_calls": b"true",
    "previous_response_id": b"null",
    "reasoning": b'{"effort":null,"summary":null}',
    "store": b"false",
    "temperature": b"null",
    "text": b'{"format":{"type":"text"}}',
    "tool_choice": b'"auto"',
    "tools": b"[]",
    "top_p": b"null",
    "truncation": b'"disabled"',
}
"""What a response says of a member that the request does not tell."""
_NOT_OURS = frozenset({"previous_response_id", "store"})
"""Nothing is stored for a converted answer, whatever the client asked."""
_IF_TOLD = (
    "max_tool_calls",
    "prompt_cache_key",
    "prompt_cache_retention",
    "safety_identifier",
    "top_logprobs",
    "user",
)
_COMPLETED: dict[str, dict[str, object]] = {
    "reasoning": {"effort": None, "summary": None},
    "text": {"format": {"type": "text"}},
}
"""Objects whose members have defaults of their own."""


class ResponseObject:
    """The response at any time of its life; everything that does not change is encoded once."""

    def __init__(self, context: AnswerContext) -> None:
        seed, asked = context.seed, context.asked
        fixed = {"id": f"resp_{seed.id}", "object": "response", "created_at": seed.now, "model": asked.model}
        self._start = encoded(fixed)[:-1] + b"," + _echo(asked)

    def written(self, status: str, output: bytes = b"", **told: object) -> bytes:
        """The object with its output items (JSON texts, comma-separated) and what else is told."""
        state = {"status": status, "error": None, "incomplete_details": None, "usage": None, **told}
        return self._start + b"," + encoded(state)[1:-1] + b',"output":[' + output + b"]}"


def _echo(asked: Asked) -> bytes:
    names = [*_DEFAULTS, *(name for name in _IF_TOLD if name in asked.members)]
    return b",".join(encoded(name) + b":" + _member(asked, name) for name in names)


def _member(asked: Asked, name: str) -> bytes:
    """The client's value on one line, or what stands for one that is not told."""
    span = asked.members.get(name)
    default = _DEFAULTS.get(name, b"null")
    if span is None or name in _NOT_OURS:
        return default
    if name in _COMPLETED:
        value = _value(asked, name)
        given = value if isinstance(value, dict) else {}
        told = {key: member for key, member in given.items() if member is not None}
        return encoded({**_COMPLETED[name], **told})
    text = asked.body[slice(*span)]
    return default if text == b"null" else _on_one_line(asked, name, text)


def _on_one_line(asked: Asked, name: str, text: bytes) -> bytes:
    """Line breaks would end the event's data."""
    if b"\n" not in text and b"\r" not in text:
        return text
    try:
        return bytes(msgspec.json.format(text, indent=-1))
    except (msgspec.DecodeError, RecursionError):
        # The quick reader takes no lone surrogates.
        return encoded(_value(asked, name))


def _value(asked: Asked, name: str) -> object:
    try:
        return load(asked.body, asked.members[name])
    except JsonError:
        return None
