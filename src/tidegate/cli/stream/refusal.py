"""Says why a server refused a request or did not stream."""

import json
from collections.abc import Mapping

from tidegate.cli.complaint import Complaint
from tidegate.cli.exit_codes import Exit
from tidegate.cli.stream.call import NoAnswer, NoStream, Refused
from tidegate.cli.stream.drawing import printable
from tidegate.cli.stream.reading import failed, part

_SHOWN = 300


def refused(url: str, answer: Refused) -> Complaint:
    """An error status, with the server's own words where it has some."""
    told = [f"{url} answered {answer.status}", _reason(answer.body)]
    if request_id := answer.headers.get("x-request-id") or answer.headers.get("request-id"):
        told.append(f"request id {request_id}")
    return Complaint(
        printable(" · ".join(word for word in told if word)),
        mend=_mend(answer.status, answer.headers),
        code=Exit.REFUSED,
    )


def no_stream(url: str, answer: NoStream) -> Complaint:
    """A good status with something else than an event stream."""
    start = printable(answer.body[:_SHOWN].decode(errors="replace"))
    return Complaint(
        f"{url} answered with no event stream (content-type {printable(answer.content_type)}): {start}",
        mend="check that an API which speaks this protocol is at this base URL",
        code=Exit.FAILED,
    )


def no_answer(url: str, answer: NoAnswer) -> Complaint:
    """No connection, or one that ended before an answer."""
    detail = f" ({answer.failure.detail})" if answer.failure.detail else ""
    return Complaint(
        printable(f"no answer from {url}: {answer.failure.message}{detail}"),
        mend="start a server there (`tidegate demo`), or name another with --base-url or TIDEGATE_BASE_URL",
        code=Exit.NO_CONNECTION,
    )


def _reason(body: bytes) -> str:
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        return body[:_SHOWN].decode(errors="replace").strip()
    error = part(value, "error") or (value if isinstance(value, dict) else {"message": str(value)})
    told = failed(dict(error))
    return f"{told.kind}: {told.message}"


def _mend(status: int, headers: Mapping[str, str]) -> str | None:
    match status:
        case 401:
            return "give a valid credential in TIDEGATE_KEY or with --key"
        case 403:
            return "ask for what this credential may use, or give another in TIDEGATE_KEY or with --key"
        case 404:
            return "check --model and --base-url"
        case 429 | 503 | 529:
            wait = headers.get("retry-after")
            return f"try again in {wait} seconds" if wait else "try again later"
        case _:  # the server's own words say what is wrong
            return None
