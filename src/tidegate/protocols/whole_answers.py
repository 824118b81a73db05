"""What reading a whole answer has in common in every dialect."""

from collections.abc import Iterator

from tidegate.core.failure import Failure, Kind
from tidegate.core.json_text import JsonError, members, replaced
from tidegate.core.protocol import Protocol
from tidegate.protocols.failures import failed
from tidegate.protocols.loose import encoded, listing, mapping, mappings, readable, text
from tidegate.protocols.refusals import read_error_event


def no_answer(channel: Protocol, value: object) -> Failure:
    """Why the decoded body of a 2xx is no answer: the error that it tells, or that it is something else."""
    body = mapping(value)
    if body.get("error") or body.get("type") == "error" or body.get("object") == "error":
        return read_error_event(channel, value)
    what = "no JSON" if value is None else "not an answer of the protocol"
    return failed(Kind.UPSTREAM, f"the body of the answer is {what}")


def broken_stream(detail: str) -> Failure:
    """An event stream from which no whole answer can be made; `detail` says why."""
    return failed(Kind.UPSTREAM, detail)


def under_name(body: bytes, answer: dict[str, object], model: str) -> bytes:
    """The body with its `model` set to the caller's name if it differs; every other readable byte stays."""
    body = readable(body)
    if "model" not in answer or answer["model"] == model:
        return body
    try:
        start, end = members(body)["model"]
    except JsonError:  # a member occurs twice: no byte of the spelling can be trusted to be the one in force
        return encoded(answer | {"model": model})
    return replaced(body, [(start, end, encoded(model))])


def texts_of(value: object) -> Iterator[str]:
    """The text of a member that is a string, or a list of parts with texts."""
    if isinstance(value, str):
        yield value
    for part in mappings(listing(value)):
        yield from (told for name in ("text", "refusal", "thinking") if (told := text(part.get(name))))


def argument_text(value: object) -> str:
    """The arguments of a tool call as JSON text; some servers send them as an object."""
    if isinstance(value, str):
        return value
    return "" if value is None else encoded(value).decode()
