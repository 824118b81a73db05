"""Encoders with a context made up from a client's request, and answers as events."""

import base64
import json
from collections.abc import Iterable, Mapping
from typing import Any

from tidegate.core.conversation import Conversation, Given, Reasoning
from tidegate.core.events import (
    CallDelta,
    CallKind,
    CallOpened,
    Closed,
    Event,
    Failed,
    Finished,
    Opaque,
    ReasoningDelta,
    ReasoningForm,
    ReasoningOpened,
    RefusalOpened,
    Spoken,
    Started,
    Stop,
    TextDelta,
    TextOpened,
)
from tidegate.core.failure import Failure
from tidegate.core.protocol import Protocol
from tidegate.core.usage import Usage
from tidegate.protocols.base import Asked, Seed
from tidegate.protocols.chat.encoder import ChatEncoder
from tidegate.protocols.conversion import AnswerContext, Encoder, ToolName
from tidegate.protocols.messages.encoder import MessagesEncoder
from tidegate.protocols.registry import dialect_of
from tidegate.protocols.responses.encoder import ResponsesEncoder

SEED = Seed("Seed0123456789ABCDEFabcd", 1_700_000_000)
ENCODERS: Mapping[Protocol, Any] = {
    Protocol.CHAT: ChatEncoder,
    Protocol.RESPONSES: ResponsesEncoder,
    Protocol.MESSAGES: MessagesEncoder,
}
BODIES: Mapping[Protocol, dict[str, Any]] = {
    Protocol.CHAT: {"messages": [{"role": "user", "content": "Hi"}]},
    Protocol.RESPONSES: {"input": "Hi"},
    Protocol.MESSAGES: {"max_tokens": 100, "messages": [{"role": "user", "content": "Hi"}]},
}


def seal(opaque: Opaque) -> str:
    """A carrier that anybody can open."""
    text = json.dumps([opaque.origin.value, opaque.value], sort_keys=True)
    return "tgr1." + base64.urlsafe_b64encode(text.encode()).decode()


def client_request(protocol: Protocol, body: Mapping[str, Any]) -> Asked:
    asked = dialect_of(protocol).read_request(json.dumps(body).encode())
    assert not isinstance(asked, Failure), asked
    return asked


def context(
    client: Protocol,
    upstream: Protocol,
    body: Mapping[str, Any] | None = None,
    *,
    names: Mapping[str, ToolName] | None = None,
    stream: bool = True,
    wants_usage: bool = True,
    input_estimate: int | None = None,
) -> AnswerContext:
    whole: dict[str, Any] = {"model": "public", **BODIES[client], "stream": stream, **(body or {})}
    if client is Protocol.CHAT and stream and wants_usage:
        whole["stream_options"] = {"include_usage": True}
    reasoning = whole.get("reasoning") or {}
    effort = whole.get("reasoning_effort")
    return AnswerContext(
        asked=client_request(client, whole),
        conversation=Conversation(
            protocol=client,
            model=whole["model"],
            stream=stream,
            turns=(),
            reasoning=Reasoning(summary=reasoning.get("summary")),
            metadata=None if effort is None else Given(effort, "reasoning_effort"),
            legacy_functions="functions" in whole,
        ),
        upstream=upstream,
        seed=SEED,
        seal=seal,
        names=names or {},
        input_estimate=input_estimate,
    )


def encoder(client: Protocol, upstream: Protocol, **members: Any) -> Encoder:
    made: Encoder = ENCODERS[client](context(client, upstream, **members))
    return made


def written(encoder: Encoder, events: Iterable[Event], usage: Usage | None = None) -> bytes:
    """What an encoder makes of an answer that ends, or goes on."""
    out = b""
    for event in events:
        match event:
            case Finished():
                out += encoder.finish(event, usage)
            case Failed(failure):
                out += encoder.error_event(failure)
            case _:
                out += encoder.encode(event)
    return out


def text(*pieces: str, cut: bool = False) -> list[Spoken]:
    return [TextOpened(), *map(TextDelta, pieces), Closed(cut=cut)]


def refusal(*pieces: str) -> list[Spoken]:
    return [RefusalOpened(), *map(TextDelta, pieces), Closed()]


def thought(
    *pieces: str, opaque: Opaque | None = None, form: ReasoningForm = ReasoningForm.RAW
) -> list[Spoken]:
    return [ReasoningOpened(), *(ReasoningDelta(piece, form) for piece in pieces), Closed(opaque)]


def call(
    id: str, name: str, *pieces: str, kind: CallKind = CallKind.FUNCTION, cut: bool = False
) -> list[Spoken]:
    return [CallOpened(id, name, kind), *map(CallDelta, pieces), Closed(cut=cut)]


def answer(*blocks: list[Spoken], stop: Stop = Stop.END, **ending: Any) -> list[Event]:
    return [Started(), *(event for block in blocks for event in block), Finished(stop, **ending)]


def payloads(stream: bytes) -> list[Any]:
    """The JSON of every event; `[DONE]` as its text."""
    found = []
    for event in stream.decode().removesuffix("\n\n").split("\n\n"):
        data = event.split("data: ", 1)[1]
        found.append(data if data == "[DONE]" else json.loads(data))
    return found
