"""Judges what an upstream means by an error: which kind of failure, and whose."""

import re
from collections.abc import Mapping

from msgspec.structs import replace

from tidegate.core.failure import Failure, Fault, Kind, fault
from tidegate.core.protocol import Protocol
from tidegate.protocols.cleaning import cleaned_failure, cleaner
from tidegate.protocols.failures import default_message
from tidegate.protocols.loose import decoded
from tidegate.protocols.retry_hints import read_retry_hints
from tidegate.protocols.told import Told, read_told

_QUOTA = frozenset(
    {
        "insufficient_quota",
        "credit_balance_exhausted",
        "organization_spend_limit_exceeded",
        "project_spend_limit_exceeded",
        "organization_usage_limit_exceeded",
        "billing_error",
        "billing_hard_limit_reached",
        "billing_not_active",
        "insufficient_balance",
    }
)
_OVERLOADED = frozenset(
    {
        "overloaded_error",
        "overloaded",
        "server_is_overloaded",
        "service_unavailable_error",
        "engine_overloaded",
        "engine_overloaded_error",
    }
)
_NO_SUCH_MODEL = frozenset(
    {"model_not_found", "modelnotfound", "unknown_model", "deploymentnotfound", "deployment_not_found"}
)
_NOT_FOUND = frozenset({"not_found_error", "notfounderror"})
_POLICY = frozenset({"content_filter", "invalid_prompt", "responsibleaipolicyviolation"})
_KINDS_OF_WORDS = {
    **dict.fromkeys(_QUOTA | _NO_SUCH_MODEL | _NOT_FOUND | {"server_error", "api_error"}, Kind.UPSTREAM),
    **dict.fromkeys(_OVERLOADED, Kind.OVERLOADED),
    **dict.fromkeys(_POLICY, Kind.CONTENT_POLICY),
    **dict.fromkeys(
        ("rate_limit_error", "rate_limit_exceeded", "slow_down", "requests", "tokens"), Kind.RATE_LIMIT
    ),
    **dict.fromkeys(("timeout_error", "request_timeout", "upstream_timeout", "timeout"), Kind.TIMEOUT),
    **dict.fromkeys(
        ("authentication_error", "permission_error", "invalid_api_key", "permission_denied"),
        Kind.CHANNEL_AUTH,
    ),
    **dict.fromkeys(("invalid_request_error", "invalid_request"), Kind.INVALID_REQUEST),
    "context_length_exceeded": Kind.CONTEXT_LENGTH,
    "request_too_large": Kind.BODY_TOO_LARGE,
}
_CONTEXT_LENGTH = re.compile(
    r"prompt is too long|exceed context limit|maximum context length|context window", re.IGNORECASE
)
_ABOUT_A_MODEL = re.compile(r"\bmodel\b", re.IGNORECASE)
_ABOUT_INPUT = ("invalid_", "unsupported_", "image_", "empty_image", "failed_to_download_image")
_CLEAN = cleaner()


def read_refusal(
    channel: Protocol, status: int, headers: Mapping[str, str], body: bytes, now: float
) -> Failure:
    """What an answer with a status other than 2xx means; header names in lower case, `now` in Unix seconds.

    CONTRACT.md, "While nothing useful has been sent": 400, 413, 422 and a 404 that is not about the model are
    the request's own, and keep status, words and message; everything else is the channel's.
    """
    told = read_told(decoded(body), channel)
    kind = _kind_of_status(status, told)
    hints = read_retry_hints(headers, now)
    refused = fault(kind) is Fault.CLIENT
    failure = Failure(
        kind=kind,
        message=_message(kind, told, status),
        detail=_detail(f"HTTP {status}", told),
        retry_after=hints.after,
        retry_after_ms=hints.after_ms,
        should_retry=hints.should_retry,
    )
    if refused:
        # A proxy before the server says 413 in no protocol's words: then they are the table's.
        unworded = kind is Kind.BODY_TOO_LARGE and not told.in_form
        origin = None if unworded else told.origin or channel
        failure = replace(_with_words(failure, told), status=status, origin=origin)
    return cleaned_failure(failure, _CLEAN)


def read_error_event(channel: Protocol, payload: object) -> Failure:
    """What an error inside a stream, or in place of an answer, means; `payload` is its decoded JSON.

    The upstream's words stay with the failure, since the same protocol passes them on.
    """
    told = read_told(payload, channel)
    kind = _kind_of_words(told)
    failure = Failure(
        kind=kind,
        message=_message(kind, told, None),
        origin=told.origin,
        detail=_detail("error event", told),
    )
    return cleaned_failure(_with_words(failure, told), _CLEAN)


def _with_words(failure: Failure, told: Told) -> Failure:
    return replace(failure, type=told.type, code=told.code, param=told.param, details=told.details)


def _kind_of_status(status: int, told: Told) -> Kind:
    words = _words(told)
    if words & _QUOTA:
        return Kind.UPSTREAM
    match status:
        case 400 | 413 | 422:
            return _kind_of_refusal(status, told)
        case 404:
            return Kind.INVALID_REQUEST if _is_about_the_request(told, words) else Kind.UPSTREAM
        case 401 | 403:
            return Kind.CHANNEL_AUTH
        case 408 | 504:
            return Kind.TIMEOUT
        case 429:
            return Kind.RATE_LIMIT
        case 503 | 529:
            return Kind.OVERLOADED
        case _:  # other 5xx, redirects, and statuses that no protocol gives a meaning
            return Kind.OVERLOADED if status >= 500 and words & _OVERLOADED else Kind.UPSTREAM


def _kind_of_refusal(status: int, told: Told) -> Kind:
    if "context_length_exceeded" in _words(told) or _tells_context_length(told):
        return Kind.CONTEXT_LENGTH
    if _tells_policy(told):
        return Kind.CONTENT_POLICY
    return Kind.BODY_TOO_LARGE if status == 413 else Kind.INVALID_REQUEST


def _is_about_the_request(told: Told, words: frozenset[str]) -> bool:
    """A 404 with an error object that does not say that there is no such model.

    Messages and vLLM have no code for that: a type that says "not found" names the model in the sentence.
    """
    if not told.in_form or words & _NO_SUCH_MODEL or told.param == "model":
        return False
    return not (words & _NOT_FOUND and _ABOUT_A_MODEL.search(told.message or ""))


def _kind_of_words(told: Told) -> Kind:
    """The kind by code, then by type; the text only where there is no other sign of a full context."""
    if _tells_policy(told):
        return Kind.CONTENT_POLICY
    kind = None
    for word in (told.code, told.type):
        kind = kind or _kind_of_word(word)
    if kind in (None, Kind.INVALID_REQUEST) and _tells_context_length(told):
        return Kind.CONTEXT_LENGTH
    return kind or Kind.UPSTREAM


def _kind_of_word(word: str | None) -> Kind | None:
    """Some servers put the status here that they would have answered with."""
    if word is None:
        return None
    if len(word) == 3 and word.isascii() and word.isdigit():
        return _kind_of_status(int(word), Told())
    kind = _KINDS_OF_WORDS.get(word.lower())
    return Kind.INVALID_REQUEST if kind is None and word.startswith(_ABOUT_INPUT) else kind


def _words(told: Told) -> frozenset[str]:
    return frozenset(word.lower() for word in (told.code, told.type) if word is not None)


def _tells_context_length(told: Told) -> bool:
    return _CONTEXT_LENGTH.search((told.message or "")[:2000]) is not None


def _tells_policy(told: Told) -> bool:
    code = (told.code or "").lower()
    return code in _POLICY or "_policy" in code


def _message(kind: Kind, told: Told, status: int | None) -> str:
    """The upstream's sentence, unless it is about the operator's account or models: that would mislead."""
    private = kind is Kind.CHANNEL_AUTH or (kind is Kind.UPSTREAM and status in (402, 404))
    if private or _words(told) & (_QUOTA | _NO_SUCH_MODEL) or told.message is None:
        return default_message(kind)
    return told.message


def _detail(what: str, told: Told) -> str:
    """What the operator reads: everything that was told."""
    words = [word for word in (told.type, told.code) if word is not None]
    said = "" if told.message is None else ": " + told.message
    return " ".join([what, *words]) + said
