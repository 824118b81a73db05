"""Reads a whole answer of Chat Completions."""

from collections.abc import Iterator

from tidegate.core.failure import Failure
from tidegate.core.protocol import Protocol
from tidegate.protocols.base import Asked, Imprint, Whole
from tidegate.protocols.chat.usage import read_usage
from tidegate.protocols.loose import decoded, mapping, mappings, text
from tidegate.protocols.service_tier import with_tier
from tidegate.protocols.whole_answers import argument_text, broken_stream, no_answer, texts_of, under_name

CUT_BY_LIMIT = frozenset({"length", "max_tokens"})
"""Finish reasons of an answer that the token limit cut; some servers use the word of Messages."""

_NO_FINISH = frozenset({"abort", "insufficient_system_resource"})


def read_whole(asked: Asked, body: bytes) -> Whole | Failure:
    """The answer, if `body` is one: an object with choices that hold messages."""
    answer = mapping(value := decoded(body))
    choices = mappings(answer.get("choices"))
    if answer.get("error") or not any(isinstance(choice.get("message"), dict) for choice in choices):
        return no_answer(Protocol.CHAT, value)
    reasons = [reason for choice in choices if (reason := text(choice.get("finish_reason"))) is not None]
    if any(map(tells_failure, reasons)):
        return broken_stream("the upstream gave up: finish reason " + ", ".join(reasons)[:200])
    return Whole(
        body=under_name(body, answer, asked.model),
        imprint=Imprint(text(answer.get("id")), text(answer.get("model"))),
        usage=with_tier(read_usage(answer.get("usage")), answer.get("service_tier")),
        finish_reason=reasons[0] if reasons else None,
        incomplete=not CUT_BY_LIMIT.isdisjoint(reasons),
        text="".join(piece for choice in choices for piece in said(mapping(choice.get("message")))),
    )


def tells_failure(reason: str) -> bool:
    """Whether a finish reason in the wild means that the upstream broke off."""
    return "error" in reason or reason in _NO_FINISH


def said(message: dict[str, object]) -> Iterator[str]:
    """Everything that a message says, in order: for an estimate of its tokens."""
    yield text(message.get("reasoning_content")) or text(message.get("reasoning")) or ""
    yield from texts_of(message.get("content"))
    yield from texts_of(message.get("refusal"))
    yield text(mapping(message.get("audio")).get("transcript")) or ""
    calls = [*mappings(message.get("tool_calls")), {"function": message.get("function_call")}]
    for call in calls:
        function = mapping(call.get("function") or call.get("custom"))
        yield text(function.get("name")) or ""
        yield argument_text(function.get("arguments") or function.get("input"))
