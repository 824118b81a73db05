"""Reads a whole answer of Messages."""

from collections.abc import Iterator

from tidegate.core.failure import Failure
from tidegate.core.protocol import Protocol
from tidegate.protocols.base import Asked, Imprint, Whole
from tidegate.protocols.loose import decoded, mapping, mappings, text
from tidegate.protocols.messages.usage import read_usage
from tidegate.protocols.whole_answers import argument_text, no_answer, texts_of, under_name

_CUT = frozenset({"max_tokens", "model_context_window_exceeded"})


def read_whole(asked: Asked, body: bytes) -> Whole | Failure:
    """The answer, if `body` is one: an object with a list of content blocks."""
    answer = mapping(value := decoded(body))
    is_message = isinstance(answer.get("content"), list) and answer.get("type", "message") == "message"
    if answer.get("error") or not is_message:
        return no_answer(Protocol.MESSAGES, value)
    reason = text(answer.get("stop_reason"))
    return Whole(
        body=under_name(body, answer, asked.model),
        imprint=Imprint(text(answer.get("id")), text(answer.get("model"))),
        usage=read_usage(answer.get("usage")),
        finish_reason=reason,
        incomplete=reason in _CUT,
        text="".join(piece for block in mappings(answer.get("content")) for piece in said(block)),
    )


def said(block: dict[str, object]) -> Iterator[str]:
    """Everything that a block says: for an estimate of its tokens."""
    yield from texts_of(block.get("text"))
    yield from texts_of(block.get("thinking"))
    yield text(block.get("name")) or ""
    yield argument_text(block.get("input"))
