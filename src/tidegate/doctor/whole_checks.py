"""Checks an answer that is not streamed."""

from collections.abc import Iterator

import msgspec

from tidegate.core.protocol import Protocol
from tidegate.doctor.chat_checks import FINISHES
from tidegate.doctor.expectation import Summary
from tidegate.doctor.findings import Finding
from tidegate.doctor.framing import shortened
from tidegate.doctor.http_checks import content_type
from tidegate.doctor.members import Object, count, elements, part, word
from tidegate.doctor.messages_checks import STOPS
from tidegate.doctor.recording import Head
from tidegate.doctor.responses_checks import odd_members
from tidegate.doctor.usage_checks import check_usage


def check_whole(head: Head, body: bytes, protocol: Protocol) -> Iterator[Finding]:
    """The whole answer to a request that asked for no stream."""
    told = content_type(head)
    if told != "application/json":
        yield Finding("content-type", f"the content type is {told or 'not told'}, not application/json")
    try:
        answer = msgspec.json.decode(body)
    except (msgspec.DecodeError, RecursionError, UnicodeError) as error:
        yield Finding("body-form", f"the body is no JSON ({error})", shortened(body))
        return
    if not isinstance(answer, dict):
        yield Finding("body-form", "the body is no JSON object", shortened(body))
        return
    for message in _departures(answer, protocol):
        yield Finding("whole-form", message, shortened(body))
    usage = answer.get("usage")
    if isinstance(usage, dict):
        yield from check_usage(usage, protocol, spoken=True)
    else:
        yield Finding("usage-missing", "the answer tells no usage")


def whole_summary(body: bytes, protocol: Protocol) -> Summary:
    """What a whole answer said, as far as it can be read."""
    try:
        answer = msgspec.json.decode(body)
    except (msgspec.DecodeError, RecursionError, UnicodeError):
        return Summary(failed=True)
    output = "completion_tokens" if protocol is Protocol.CHAT else "output_tokens"
    stop = _stop(answer, protocol)
    return Summary(
        spoken=sum(map(_says, _told(answer, protocol))),
        stop=stop or None,
        output_tokens=count(part(answer, "usage"), output),
    )


def _told(answer: object, protocol: Protocol) -> list[object]:
    """The parts of an answer that may say something."""
    match protocol:
        case Protocol.CHAT:
            return [part(choice, "message") for choice in elements(answer, "choices")]
        case Protocol.RESPONSES:
            return elements(answer, "output")
        case Protocol.MESSAGES:
            return elements(answer, "content")


_SAYING = (
    "text",
    "thinking",
    "content",
    "refusal",
    "reasoning_content",
    "reasoning",
    "tool_calls",
    "summary",
)


def _says(told: object) -> bool:
    """Whether there is output in it; parts of types that are not known have some."""
    kind = word(told, "type")
    if kind not in ("", "message", "text", "thinking", "reasoning"):
        return True
    if kind == "message":
        return any(word(one, "text") or word(one, "refusal") for one in elements(told, "content"))
    return isinstance(told, dict) and any(told.get(name) for name in _SAYING)


def _stop(answer: object, protocol: Protocol) -> str:
    match protocol:
        case Protocol.CHAT:
            return word(next(iter(elements(answer, "choices")), None), "finish_reason")
        case Protocol.RESPONSES:
            return word(part(answer, "incomplete_details"), "reason") or word(answer, "status")
        case Protocol.MESSAGES:
            return word(answer, "stop_reason")


def _departures(answer: Object, protocol: Protocol) -> Iterator[str]:
    match protocol:
        case Protocol.CHAT:
            yield from _chat(answer)
        case Protocol.RESPONSES:
            yield from _responses(answer)
        case Protocol.MESSAGES:
            yield from _messages(answer)


def _chat(answer: Object) -> Iterator[str]:
    if answer.get("object") != "chat.completion":
        yield "object is not chat.completion"
    for name, right in (
        ("id", bool(word(answer, "id"))),
        ("created", count(answer, "created") is not None),
        ("model", bool(word(answer, "model"))),
        ("choices", bool(elements(answer, "choices"))),
    ):
        if not right:
            yield f"{name} is missing, or of the wrong kind"
    for number, choice in enumerate(elements(answer, "choices")):
        for what in _choice(choice):
            yield f"choices[{number}].{what}"


def _choice(choice: object) -> Iterator[str]:
    message = part(choice, "message")
    if count(choice, "index") is None:
        yield "index is missing"
    if message.get("role") != "assistant":
        yield "message.role is not assistant"
    if "content" not in message:
        yield "message.content is missing (null where there is none)"
    elif not isinstance(message["content"], str | None):
        yield "message.content is no text"
    if word(choice, "finish_reason") not in FINISHES:
        yield "finish_reason is none of the protocol"


def _responses(answer: Object) -> Iterator[str]:
    yield from odd_members(answer)
    if word(answer, "status") not in ("completed", "incomplete", "failed"):
        yield f"status is {answer.get('status')!r}"
    for number, item in enumerate(elements(answer, "output")):
        if not word(item, "id") or not word(item, "type"):
            yield f"output[{number}] has no id or no type"


def _messages(answer: Object) -> Iterator[str]:
    for name, right in (
        ("id", bool(word(answer, "id"))),
        ("type", answer.get("type") == "message"),
        ("role", answer.get("role") == "assistant"),
        ("model", bool(word(answer, "model"))),
        ("content", isinstance(answer.get("content"), list)),
        ("stop_reason", word(answer, "stop_reason") in STOPS),
    ):
        if not right:
            yield f"{name} is missing, or none of the protocol"
    for number, block in enumerate(elements(answer, "content")):
        if not word(block, "type"):
            yield f"content[{number}] has no type"
        elif isinstance(block, dict) and block["type"] == "text" and not isinstance(block.get("text"), str):
            yield f"content[{number}].text is no text"
