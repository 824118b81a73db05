"""How an answer is put on the wire: head, body, and the faults that concern HTTP."""

from tidegate.core.protocol import Protocol
from tidegate.simulator import chat, messages, responses
from tidegate.simulator.ask import Ask, invalid
from tidegate.simulator.compression import squeezer
from tidegate.simulator.parameters import Coding, Ending, Nothing, Parameters
from tidegate.simulator.plot import CARRIER, Plot, Search, plot
from tidegate.simulator.script import (
    Body,
    Breathe,
    Close,
    Cut,
    Open,
    Raw,
    Say,
    Stall,
    Steps,
    Transcript,
    Wait,
    perform,
)
from tidegate.simulator.trouble import Kind, Trouble, envelope, trouble_of

_Headers = tuple[tuple[str, str], ...]
_JSON = "application/json"
_STREAM = "text/event-stream; charset=utf-8"
_INTERIM = b"HTTP/1.1 103 Early Hints\r\nlink: </>; rel=preload\r\n\r\n"
_SECOND = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}"
_NO_HTTP = b"SSH-2.0-Simulated_1.0\r\n"
_HTML = b"<!doctype html><html><body><h1>502 Bad Gateway</h1></body></html>\n"
_WHOLE = {
    Protocol.CHAT: chat.whole,
    Protocol.RESPONSES: responses.whole,
    Protocol.MESSAGES: messages.whole,
}


def staged(ask: Ask, wish: Parameters, request_id: str) -> Steps:
    """The whole answer to a request that was understood."""
    if wish.head_delay:
        yield Wait(wish.head_delay)
    if wish.drop is not None:
        yield Cut(_broken(wish.drop))
        return
    if wish.not_http:
        yield from (Raw(_NO_HTTP), Cut(Ending.TRUNCATE))
        return
    if wish.interim:
        yield Raw(_INTERIM)
    steps = _answer(ask, wish, request_id)
    if (coding := wish.coding) is not None:
        steps = _squeezed(steps, coding)
    if wish.split is not None:
        steps = _split(steps, wish.split)
    yield from steps
    if wish.twice:
        yield Raw(_SECOND)


def document(body: bytes, request_id: str, *, head_only: bool = False) -> Steps:
    """A JSON document with status 200."""
    headers = (*_ids(request_id), ("content-type", _JSON), ("content-length", str(len(body))))
    yield Open(200, headers, Body.LENGTH)
    if not head_only:
        yield Say(body)
    yield Close()


def refused(protocol: Protocol, trouble: Trouble, request_id: str, *, headers: _Headers = ()) -> Steps:
    """An error with its status and the envelope of the protocol."""
    body = envelope(protocol, trouble, request_id)
    named = (("content-type", _JSON), ("content-length", str(len(body))))
    yield Open(trouble.status, (*_ids(request_id), *named, *headers), Body.LENGTH)
    yield Say(body)
    yield Close()


def _answer(ask: Ask, wish: Parameters, request_id: str) -> Steps:
    told = _told(ask, wish)
    if (refusal := _refusal(ask, wish, told)) is not None:
        yield from refused(ask.protocol, refusal, request_id, headers=_retry_headers(wish, refusal))
        return
    if wish.html:
        yield from _fixed(_HTML, "text/html", wish, request_id)
        return
    streams = (ask.stream or wish.sse) and not wish.json
    if wish.empty is not None:
        yield from _fixed(_nothing(wish.empty), _STREAM if streams else _JSON, wish, request_id)
        return
    story = plot(ask, wish)
    if not streams:
        yield from _at_once(_WHOLE[ask.protocol](ask, story), story, wish, request_id)
        return
    yield _head(_STREAM, wish, request_id)
    yield from perform(_transcript(ask, story), wish, told)


def _told(ask: Ask, wish: Parameters) -> Trouble | None:
    """The error that `error` and `error_after` wish for."""
    if wish.error is None and wish.error_after is None:
        return None
    kind = wish.error or Kind.SERVER
    return trouble_of(ask.protocol, kind=kind, status=wish.status, message=wish.message)


def _refusal(ask: Ask, wish: Parameters, told: Trouble | None) -> Trouble | None:
    """The error that comes instead of an answer."""
    if wish.refuse is not None and wish.refuse in ask.members:
        message = f"Unsupported parameter: '{wish.refuse}' is not supported with this model."
        return invalid(wish.message or message, wish.refuse, "unsupported_parameter")
    if wish.check_reasoning and any(not carrier.startswith(CARRIER) for carrier in ask.carriers):
        message = "Invalid `signature` in `thinking` block: the encrypted content could not be verified."
        return invalid(message, None, "invalid_encrypted_content")
    if wish.status is not None:
        return trouble_of(ask.protocol, kind=wish.error, status=wish.status, message=wish.message)
    return None if ask.stream else told


def _retry_headers(wish: Parameters, refusal: Trouble) -> _Headers:
    told = {
        "retry-after": wish.retry_after,
        "retry-after-ms": wish.retry_after_ms,
        "x-should-retry": wish.should_retry,
        "location": "/elsewhere" if 300 <= refusal.status < 400 else None,
    }
    return tuple((name, value) for name, value in told.items() if value is not None)


def _transcript(ask: Ask, story: Plot) -> Transcript:
    match ask.protocol:
        case Protocol.CHAT:
            return chat.ChatTranscript(ask, story)
        case Protocol.RESPONSES:
            return responses.ResponsesTranscript(ask, story)
        case Protocol.MESSAGES:
            return messages.MessagesTranscript(ask, story)


def _at_once(body: bytes, story: Plot, wish: Parameters, request_id: str) -> Steps:
    """An answer in one piece, after the time that its stream would have taken."""
    events = sum(0 if isinstance(block, Search) else len(block.pieces) for block in story.blocks)
    seconds = wish.ttft + (max(0, events - 1) / wish.rate if wish.rate else 0.0)
    if seconds:
        yield Wait(seconds)
    half = len(body) // 2
    if wish.garble_after is not None:
        body = body[:half]
    yield _head(_JSON, wish, request_id, length=len(body))
    if wish.cut_after is not None:
        yield from (Say(body[:half]), Cut(_broken(wish.cut)))
        return
    if wish.stall_after is None:
        yield Say(body)
    else:
        yield from (Say(body[:half]), Stall() if wish.stall is None else Wait(wish.stall), Say(body[half:]))
    yield _close(wish)


def _broken(how: Ending) -> Ending:
    """The ending, where there is no body that could end in order."""
    return Ending.RESET if how is Ending.RESET else Ending.TRUNCATE


def _fixed(body: bytes, content_type: str, wish: Parameters, request_id: str) -> Steps:
    yield _head(content_type, wish, request_id)
    if body:
        yield Say(body)
    yield _close(wish)


def _nothing(kind: Nothing) -> bytes:
    match kind:
        case Nothing.BYTES:
            return b""
        case Nothing.COMMENTS:
            return b": nothing to say\n\n" * 3
        case Nothing.DONE:
            return b"data: [DONE]\n\n"


def _head(content_type: str, wish: Parameters, request_id: str, *, length: int | None = None) -> Open:
    told = wish.wrong_type or content_type
    wished = {
        "content-type": told if told != "none" else None,
        "cache-control": "no-cache" if content_type == _STREAM else None,
        "content-encoding": wish.coding.value if wish.coding else None,
        "connection": "close" if wish.close or wish.http10 else None,
        "trailer": "x-simulated-trailer" if wish.trailers else None,
        "x-simulated-size": "x" * wish.header_size or None,
    }
    many = tuple((f"x-simulated-{nth}", "1") for nth in range(wish.headers))
    headers = (*_ids(request_id), *((name, value) for name, value in wished.items() if value), *many)
    if wish.http10:
        return Open(200, headers, Body.CLOSE, version="1.0")
    if length is None or wish.coding is not None:
        return Open(200, headers, Body.CHUNKED)
    return Open(200, (*headers, ("content-length", str(length))), Body.LENGTH)


def _close(wish: Parameters) -> Close:
    return Close(connection=wish.close or wish.close_silently or wish.http10)


def _ids(request_id: str) -> _Headers:
    return (("x-request-id", request_id), ("request-id", request_id))


def _squeezed(steps: Steps, coding: Coding) -> Steps:
    """Every piece of the body in the coding, each readable as soon as it arrives."""
    press = squeezer(coding)
    for step in steps:
        match step:
            case Say(data):
                yield Say(press.piece(data))
            case Close() | Cut(Ending.CLEAN):
                yield Say(press.end())
                yield step
            case _:  # has no bytes of the body
                yield step


def _split(steps: Steps, size: int) -> Steps:
    """Every piece of the body in writes of `size` bytes that leave one by one."""
    for step in steps:
        match step:
            case Say(data):
                for start in range(0, len(data), size):
                    yield Say(data[start : start + size])
                    yield Breathe()
            case _:  # has no bytes of the body
                yield step
