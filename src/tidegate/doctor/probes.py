"""The requests that an endpoint is examined with."""

from enum import Enum
from typing import TypeAlias

import msgspec
from msgspec import Struct, structs

from tidegate.core.protocol import Protocol
from tidegate.doctor.expectation import Expectation

_SHORT = "Say hello in one short sentence."
_LONG = "Count from one to one hundred and fifty in words, one number on each line. Write nothing else."
_TOOL = "What is the weather in Paris? Use the tool."
_TOOL_NAME = "get_weather"
_LEAST = 16
"""Output tokens of the request with a small limit: the least that Responses takes."""
_PLENTY = 2048
_WITH_USAGE: dict[str, object] = {"stream_options": {"include_usage": True}}
_ABSENT_MODEL = "tidegate-doctor-no-such-model"


class Examination(Enum):
    """What is tried; the value is its name for `--only`."""

    PLAIN = "plain"
    LONG = "long"
    TOOL = "tool"
    USAGE = "usage"
    LIMIT = "limit"
    WHOLE = "whole"
    WRONG_KEY = "wrong-key"
    UNKNOWN_MODEL = "unknown-model"
    MALFORMED = "malformed"


SHORT_SET = (Examination.PLAIN, Examination.TOOL, Examination.WHOLE)
"""What a channel is tested with."""


class Streamed(Struct, frozen=True):
    """The answer should be a stream."""

    expected: Expectation


class Whole(Struct, frozen=True):
    """The answer should be one JSON object."""

    expected: Expectation


class Refused(Struct, frozen=True):
    """The request should be refused with this status; one of those that are `near` is no surprise."""

    status: int
    near: tuple[int, ...] = ()


Wanted: TypeAlias = Streamed | Whole | Refused


class Probe(Struct, frozen=True, kw_only=True):
    """One request: `path` comes after the base URL."""

    name: str
    path: str
    body: bytes
    wanted: Wanted
    own_key: bool = True
    """Whether it goes out with the right credential."""


def probes(
    protocol: Protocol, model: str, chosen: tuple[Examination, ...] = tuple(Examination)
) -> tuple[Probe, ...]:
    """The requests that are chosen, in their order; those that the protocol has no use for are left out."""
    found = (_probe(protocol, model, each) for each in Examination if each in chosen)
    return tuple(probe for probe in found if probe is not None)


def is_short(probe: Probe) -> bool:
    """Whether the answer is a stream of one short sentence."""
    match probe.wanted:
        case Streamed(expected):
            return not expected.long and expected.tool is None and expected.limit is None
        case Whole() | Refused():
            return False


def path_of(protocol: Protocol) -> str:
    """Where the protocol is served, after what its own SDKs take as base URL."""
    match protocol:
        case Protocol.CHAT:
            return "/chat/completions"
        case Protocol.RESPONSES:
            return "/responses"
        case Protocol.MESSAGES:
            return "/v1/messages"


def _probe(protocol: Protocol, model: str, what: Examination) -> Probe | None:
    asked = _asked(protocol, model, _SHORT)
    match what:
        case Examination.USAGE if protocol is not Protocol.CHAT:
            return None  # there it is told in every stream
        case Examination.WHOLE:
            return _made("whole answer", protocol, asked, Whole(Expectation()))
        case Examination.WRONG_KEY:
            return structs.replace(_made("wrong key", protocol, asked, Refused(401, (403,))), own_key=False)
        case Examination.UNKNOWN_MODEL:
            return _made("unknown model", protocol, asked | {"model": _ABSENT_MODEL}, Refused(404, (400,)))
        case Examination.MALFORMED:
            made = _made("malformed body", protocol, asked, Refused(400, (422,)))
            return structs.replace(made, body=made.body[:-1])
        case _:  # streams
            return _stream(protocol, model, what)


def _stream(protocol: Protocol, model: str, what: Examination) -> Probe:
    expected = Expectation(usage=protocol is not Protocol.CHAT)
    prompt, limit, more = _SHORT, None, dict[str, object]()
    match what:
        case Examination.LONG:
            expected, prompt = structs.replace(expected, long=True), _LONG
        case Examination.TOOL:
            expected, prompt = structs.replace(expected, tool=_TOOL_NAME), _TOOL
            more = _tool(protocol)
        case Examination.USAGE:
            expected, more = Expectation(), _WITH_USAGE
        case Examination.LIMIT:  # usage tells whether the limit was reached
            expected, prompt, limit = Expectation(limit=_LEAST), _LONG, _LEAST
            more = _WITH_USAGE if protocol is Protocol.CHAT else {}
        case _:  # the plain stream; the others are none
            pass
    name = "limited stream" if limit else f"{what.value} stream"
    body = _asked(protocol, model, prompt, limit) | {"stream": True} | more
    return _made(name, protocol, body, Streamed(expected))


def _made(name: str, protocol: Protocol, body: dict[str, object], wanted: Wanted) -> Probe:
    return Probe(name=name, path=path_of(protocol), body=msgspec.json.encode(body), wanted=wanted)


def _asked(protocol: Protocol, model: str, prompt: str, limit: int | None = None) -> dict[str, object]:
    turn = [{"role": "user", "content": prompt}]
    match protocol:
        case Protocol.CHAT:
            asked: dict[str, object] = {"model": model, "messages": turn}
            return asked | ({} if limit is None else {"max_completion_tokens": limit})
        case Protocol.RESPONSES:
            asked = {"model": model, "input": turn, "store": False}
            return asked | ({} if limit is None else {"max_output_tokens": limit})
        case Protocol.MESSAGES:
            return {"model": model, "messages": turn, "max_tokens": limit or _PLENTY}


def _tool(protocol: Protocol) -> dict[str, object]:
    schema = {
        "type": "object",
        "properties": {"city": {"type": "string", "description": "Name of the city"}},
        "required": ["city"],
        "additionalProperties": False,
    }
    about = {"name": _TOOL_NAME, "description": "Tells the weather in a city."}
    match protocol:
        case Protocol.CHAT:
            function = about | {"parameters": schema}
            choice: dict[str, object] = {"type": "function", "function": {"name": _TOOL_NAME}}
            return {"tools": [{"type": "function", "function": function}], "tool_choice": choice}
        case Protocol.RESPONSES:
            tool = {"type": "function", **about, "parameters": schema, "strict": False}
            return {"tools": [tool], "tool_choice": {"type": "function", "name": _TOOL_NAME}}
        case Protocol.MESSAGES:
            tool = about | {"input_schema": schema}
            return {"tools": [tool], "tool_choice": {"type": "tool", "name": _TOOL_NAME}}
