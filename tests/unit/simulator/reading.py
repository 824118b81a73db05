"""Reads what the simulator writes, the way a plain client would."""

import json
from collections.abc import Iterable
from typing import Any

from tidegate.core.protocol import Protocol
from tidegate.simulator.provider import Provider, Received, Tally
from tidegate.simulator.script import Open, Raw, Say, Step

PATHS = {
    Protocol.CHAT: "/v1/chat/completions",
    Protocol.RESPONSES: "/v1/responses",
    Protocol.MESSAGES: "/v1/messages",
}
FUNCTION = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "days": {"type": "integer", "minimum": 2}},
    "required": ["city", "days"],
}


def request(protocol: Protocol, model: str = "sim", **members: Any) -> dict[str, Any]:
    """A small streaming request."""
    turn = [{"role": "user", "content": "How high is the tide?"}]
    body: dict[str, Any] = {"model": model, "stream": True}
    match protocol:
        case Protocol.CHAT:
            body["messages"] = turn
        case Protocol.RESPONSES:
            body["input"] = turn
        case Protocol.MESSAGES:
            body |= {"messages": turn, "max_tokens": 1000}
    return body | members


def tools(protocol: Protocol, *names: str) -> list[dict[str, Any]]:
    """Function tools in the form of the protocol."""
    match protocol:
        case Protocol.CHAT:
            return [
                {"type": "function", "function": {"name": name, "parameters": FUNCTION}} for name in names
            ]
        case Protocol.RESPONSES:
            return [
                {"type": "function", "name": name, "parameters": FUNCTION, "strict": False} for name in names
            ]
        case Protocol.MESSAGES:
            return [{"name": name, "input_schema": FUNCTION} for name in names]


def received(
    path: str, body: Any = b"", *, method: str = "POST", headers: tuple[tuple[str, str], ...] = ()
) -> Received:
    """A request as the server hands it over."""
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    return Received(method, path, "", headers, raw)


def asked(protocol: Protocol, model: str = "sim", **members: Any) -> list[Step]:
    """The steps of an answer that ends."""
    provider = Provider(Tally())
    return list(provider.answer(received(PATHS[protocol], request(protocol, model, **members))))


def head(steps: Iterable[Step]) -> Open:
    """The status line and headers."""
    return next(step for step in steps if isinstance(step, Open))


def body(steps: Iterable[Step]) -> bytes:
    """The bytes of the body."""
    return b"".join(step.data for step in steps if isinstance(step, Say))


def raw(steps: Iterable[Step]) -> list[bytes]:
    """The bytes outside of the body."""
    return [step.data for step in steps if isinstance(step, Raw)]


def events(text: bytes) -> list[tuple[str | None, Any]]:
    """Names and JSON values of the events of a regular stream."""
    found: list[tuple[str | None, Any]] = []
    for block in text.decode().split("\n\n"):
        lines = dict(line.split(": ", 1) for line in block.split("\n") if ": " in line)
        if "data" in lines:
            data = lines["data"]
            found.append((lines.get("event"), data if data == "[DONE]" else json.loads(data)))
    return found
