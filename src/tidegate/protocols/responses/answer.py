"""Reads a whole answer of Responses."""

from collections.abc import Iterator

from tidegate.core.failure import Failure
from tidegate.core.protocol import Protocol
from tidegate.protocols.base import Asked, Imprint, Whole
from tidegate.protocols.loose import decoded, mapping, mappings, text
from tidegate.protocols.responses.errors import read_error_event
from tidegate.protocols.responses.usage import calls_among, read_usage, with_searches
from tidegate.protocols.service_tier import with_tier
from tidegate.protocols.whole_answers import argument_text, no_answer, texts_of, under_name

_ENDED = frozenset({"completed", "incomplete", "failed", "cancelled"})


def read_whole(asked: Asked, body: bytes) -> Whole | Failure:
    """The answer, if `body` is one: a response that has ended. One that failed is an answer and a failure."""
    answer = mapping(value := decoded(body))
    status = text(answer.get("status")) or "completed"
    if not _is_response(answer) or status not in _ENDED:
        return no_answer(Protocol.RESPONSES, value)
    items = mappings(answer.get("output"))
    reason = text(mapping(answer.get("incomplete_details")).get("reason"))
    cut = status == "incomplete"
    ids = [answer.get("id"), *(item.get("id") for item in items)]
    return Whole(
        body=under_name(body, answer, asked.model),
        imprint=Imprint(text(answer.get("id")), text(answer.get("model"))),
        usage=with_tier(
            with_searches(read_usage(answer.get("usage")), answer.get("tool_usage"), calls_among(items)),
            answer.get("service_tier"),
        ),
        finish_reason=(reason or status) if cut else status,
        incomplete=cut and reason != "content_filter",
        text="".join(piece for item in items for piece in said(item)),
        ids=tuple(told for each in ids if (told := text(each)) is not None) if asked.stores else (),
        failure=None if status in ("completed", "incomplete") else read_error_event({"response": answer}),
    )


def said(item: dict[str, object]) -> Iterator[str]:
    """Everything that an item says: for an estimate of its tokens."""
    yield from texts_of(item.get("summary"))
    yield from texts_of(item.get("content"))
    yield text(item.get("name")) or ""
    yield argument_text(item.get("arguments"))
    yield argument_text(item.get("input"))


def _is_response(answer: dict[str, object]) -> bool:
    """An error in an answer's place has neither output nor status."""
    told = isinstance(answer.get("output"), list) or ("output" in answer and "status" in answer)
    return told or (answer.get("object") == "response" and answer.get("status") == "failed")
