"""Finds what an error body says, in whichever of the shapes that servers use."""

from msgspec import Struct

from tidegate.core.protocol import Protocol
from tidegate.protocols.loose import listing, mapping, mappings, text

_MESSAGE_NAMES = ("message", "msg", "error_message", "Message", "error_description", "detail", "title")
_FIRST_IN_A_LIST = 5
_OPENAI_TYPES = ("server_error", "insufficient_quota", "rate_limit_exceeded", "tokens", "requests")
"""Words that only OpenAI's servers use for the type of an error."""


class Told(Struct, frozen=True, kw_only=True):
    """An upstream's own words. `origin` is the protocol in whose vocabulary they are, if one is known.

    `in_form` tells an error object, as all three protocols have it, from a bare sentence.
    """

    message: str | None = None
    type: str | None = None
    code: str | None = None
    param: str | None = None
    details: tuple[tuple[str, object], ...] = ()
    origin: Protocol | None = None
    in_form: bool = False


def read_told(value: object, channel: Protocol) -> Told:
    """What the decoded JSON `value` of a channel tells; empty where it tells nothing.

    Shapes: `{"error":{…}}`, the same inside an array or a `response`, `{"type":"error","error":{…}}`, flat
    `{"type":"error","code","message","param"}`, `{"object":"error","message",…}`, `{"error":"text"}`,
    `{"message":…}`, `{"detail":"text"}` and `{"detail":[{"loc","msg"}]}`.
    """
    if isinstance(value, list):
        value = next(iter(mappings(value)), None)
    body = mapping(value)
    error = body.get("error") or mapping(body.get("response")).get("error")
    if isinstance(error, dict):
        return _read_object(error, _origin(body, error, channel))
    if isinstance(error, str):
        return _read_flat(body, error, channel)
    if body.get("type") == "error" or body.get("object") == "error":
        words = {name: body[name] for name in body if name != "type" or body[name] != "error"}
        return _read_object(words, _openai(channel))
    return _read_flat(body, None, channel)


def _origin(body: dict[str, object], error: dict[str, object], channel: Protocol) -> Protocol:
    """Messages has `type` beside `error` and no codes; Responses events in practice have both."""
    bare = body.get("type") == "error" and "code" not in error and "param" not in error
    foreign = bare and error.get("type") not in _OPENAI_TYPES
    return Protocol.MESSAGES if foreign else _openai(channel)


def _openai(channel: Protocol) -> Protocol:
    return Protocol.CHAT if channel is Protocol.MESSAGES else channel


def _read_object(error: dict[str, object], origin: Protocol) -> Told:
    inner = error.get("error")
    if isinstance(inner, dict) and text(error.get("message")) is None:
        error = inner
    return Told(
        message=_message(error),
        type=text(error.get("type")),
        code=_code(error.get("code")),
        param=text(error.get("param")),
        details=tuple(mapping(error.get("details")).items()) if origin is Protocol.MESSAGES else (),
        origin=origin,
        in_form=True,
    )


def _read_flat(body: dict[str, object], error: str | None, channel: Protocol) -> Told:
    """A sentence, perhaps with a code; what else stands there is no protocol's vocabulary."""
    message = _message(body) or error or _message(next(iter(mappings(body.get("errors"))), {}))
    param = _param_of_list(body.get("detail"))
    return Told(
        message=message,
        code=_code(body.get("code")),
        param=param,
        origin=None if param is None else _openai(channel),
    )


def _message(error: dict[str, object]) -> str | None:
    """The sentence, which some servers wrap once more."""
    for name in _MESSAGE_NAMES:
        value = error.get(name)
        inner = mapping(value)
        candidates = (value, *(inner.get(each) for each in _MESSAGE_NAMES), _message_of_list(listing(value)))
        found = next((told for each in candidates if (told := text(each)) is not None), None)
        if found is not None:
            return found
    return None


def _message_of_list(value: list[object]) -> str | None:
    """A validator's list: each entry says where and what."""
    sentences = []
    for entry in mappings(value)[:_FIRST_IN_A_LIST]:
        what = text(entry.get("msg")) or text(entry.get("message"))
        where = _path(entry.get("loc"))
        if what is not None:
            sentences.append(f"{where}: {what}" if where else what)
    return "; ".join(sentences) or None


def _param_of_list(value: object) -> str | None:
    return next((path for entry in mappings(value) if (path := _path(entry.get("loc")))), None)


def _path(loc: object) -> str:
    steps = [str(step) for step in listing(loc) if isinstance(step, str | int)]
    return ".".join(steps[1:] if steps[:1] == ["body"] else steps)


def _code(value: object) -> str | None:
    """A code as text; some servers repeat the status here as a number."""
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return text(value)
