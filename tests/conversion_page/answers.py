"""Lets upstreams answer with one feature at a time and says where each client finds it."""

import json
from collections.abc import Iterable, Iterator
from typing import Any

from msgspec import Struct, structs
from tests.conversion_page.requests import written_table
from tests.harness import sse
from tests.unit.protocols import upstreams as up
from tests.unit.protocols.encoding import BODIES, SEED, client_request, context
from tests.unit.protocols.frames import data

from tidegate.core.events import CallKind
from tidegate.core.protocol import Protocol
from tidegate.core.sse import Framer
from tidegate.protocols.conversion import ToolName
from tidegate.protocols.converting import ConvertingWatcher
from tidegate.protocols.pairs import halves_of
from tidegate.protocols.registry import dialect_of

MARK, SEAL = "MARK", "SEALED"
"""Stand in what is looked for: a text of the upstream, and what the gateway seals."""
_NAMES = {"patch": ToolName("patch", CallKind.CUSTOM)}
_ITEM = {"id": "i1", "status": "completed"}
_PAGE = {"url": f"https://{MARK}", "title": "t", "start_index": 0, "end_index": 2}


class Answer(Struct, frozen=True):
    """A feature of an answer as each upstream sends it; empty: its protocol has no such thing."""

    says: str
    chat: tuple[bytes, ...] = ()
    responses: tuple[bytes, ...] = ()
    messages: tuple[bytes, ...] = ()
    mark: str = MARK
    summarised: bool = False
    """A Responses client asks for a summary."""

    def events(self, upstream: Protocol) -> tuple[bytes, ...]:
        """The upstream's events from its first to its last."""
        found: tuple[bytes, ...] = getattr(self, upstream.value)
        return found


def _chat(*deltas: dict[str, Any], reason: str = "stop", **members: Any) -> tuple[bytes, ...]:
    chunks = [up.chunk(delta, **members) for delta in ({"role": "assistant"}, *deltas)]
    return (*chunks, up.chunk({}, reason), up.DONE)


def _item(item: dict[str, Any], *between: bytes, **members: Any) -> tuple[bytes, ...]:
    return (
        up.created(**members),
        up.added(0, {**item, "status": "in_progress"}),
        *between,
        up.done(0, {**_ITEM, **item}),
        up.completed({**_ITEM, **item}, **members),
    )


def _block(*events: bytes, reason: str = "end_turn", **members: Any) -> tuple[bytes, ...]:
    return (up.message(), *events, up.ending(reason, {"output_tokens": 3}, **members), up.MESSAGE_STOP)


def _said(*more: bytes) -> tuple[bytes, ...]:
    return (up.begin(0, {"type": "text", "text": ""}), up.grow(0, text="hi"), *more, up.stop(0))


def _spoken(*events: bytes, **part: Any) -> tuple[bytes, ...]:
    message = up.spoken("hi", id="i1", role="assistant")
    message["content"][0] |= part
    return _item(message, up.event("output_text.delta", content_index=0, delta="hi"), *events)


def _thought(delta: bytes, **item: Any) -> tuple[bytes, ...]:
    return _item({"type": "reasoning", "id": "i1", "summary": [], **item}, delta)


_ARGUMENTS = json.dumps({"a": MARK})
_CALL = {"type": "function_call", "id": "i1", "call_id": "call_1", "name": "f", "arguments": _ARGUMENTS}
_CUSTOM = {"type": "custom_tool_call", "id": "i1", "call_id": "call_1", "name": "patch", "input": MARK}
_THINKING = {"type": "thinking", "thinking": "", "signature": ""}
_RESULT = {"type": "web_search_tool_result", "tool_use_id": "s1", "content": []}
_QUERY = json.dumps({"query": MARK})
ANSWERS = [
    Answer(
        "text",
        _chat({"content": MARK}),
        _item(up.spoken(MARK, id="i1"), up.event("output_text.delta", content_index=0, delta=MARK)),
        _block(up.begin(0, {"type": "text", "text": ""}), up.grow(0, text=MARK), up.stop(0)),
    ),
    Answer(
        "refusal in words",
        _chat({"refusal": MARK}),
        _item(
            {"type": "message", "id": "i1", "content": [{"type": "refusal", "refusal": MARK}]},
            up.event("refusal.delta", content_index=0, delta=MARK),
        ),
        _block(*_said(), reason="refusal", stop_details={"type": "refusal", "explanation": MARK}),
    ),
    Answer(
        "reasoning",
        _chat({"reasoning_content": MARK}, {"content": "hi"}),
        _thought(
            up.event("reasoning_text.delta", content_index=0, delta=MARK),
            content=[{"type": "reasoning_text", "text": MARK}],
        ),
        _block(up.begin(0, _THINKING), up.grow(0, thinking=MARK), up.stop(0)),
    ),
    Answer(
        "reasoning, client asked for `reasoning.summary`",
        _chat({"reasoning_content": MARK}, {"content": "hi"}),
        messages=_block(up.begin(0, _THINKING), up.grow(0, thinking=MARK), up.stop(0)),
        summarised=True,
    ),
    Answer(
        "summary of reasoning",
        responses=_thought(
            up.event("reasoning_summary_text.delta", summary_index=0, delta=MARK),
            summary=[{"type": "summary_text", "text": MARK}],
        ),
    ),
    Answer(
        "what the upstream needs to get its reasoning back",
        _chat({"reasoning_content": "so"}, {"content": "hi"}),
        _thought(up.event("x"), encrypted_content="ZW5j"),
        _block(
            up.begin(0, _THINKING),
            up.grow(0, thinking="so"),
            up.grow(0, signature="c2ln"),
            up.stop(0),
        ),
        mark=SEAL,
    ),
    Answer(
        "redacted thinking",
        messages=_block(up.begin(0, {"type": "redacted_thinking", "data": "ZW5j"}), up.stop(0)),
        mark=SEAL,
    ),
    Answer(
        "call of a function",
        _chat({"tool_calls": [up.call(0, "call_1", "f", _ARGUMENTS)]}, reason="tool_calls"),
        _item(_CALL, up.event("function_call_arguments.delta", delta=_ARGUMENTS)),
        _block(
            up.begin(0, {"type": "tool_use", "id": "toolu_1", "name": "f", "input": {}}),
            up.grow(0, partial_json=_ARGUMENTS),
            up.stop(0),
            reason="tool_use",
        ),
    ),
    Answer(
        "call of a custom tool",
        _chat(
            {"tool_calls": [up.call(0, "call_1", "patch", json.dumps({"input": MARK}))]}, reason="tool_calls"
        ),
        _item(_CUSTOM, up.event("custom_tool_call_input.delta", delta=MARK)),
        _block(
            up.begin(0, {"type": "tool_use", "id": "toolu_1", "name": "patch", "input": {}}),
            up.grow(0, partial_json=json.dumps({"input": MARK})),
            up.stop(0),
            reason="tool_use",
        ),
    ),
    Answer(
        "citation of a page",
        _chat({"content": "hi"}, {"annotations": [{"type": "url_citation", "url_citation": _PAGE}]}),
        _spoken(
            up.event(
                "output_text.annotation.added",
                content_index=0,
                annotation_index=0,
                annotation={"type": "url_citation", **_PAGE},
            ),
            annotations=[{"type": "url_citation", **_PAGE}],
        ),
        _block(
            *_said(
                up.grow(
                    0,
                    citation={
                        "type": "web_search_result_location",
                        "url": f"https://{MARK}",
                        "title": "t",
                        "cited_text": "hi",
                        "encrypted_index": "e",
                    },
                )
            )
        ),
    ),
    Answer(
        "a web search of the upstream",
        responses=_item({"type": "web_search_call", "id": "i1", "action": {"type": "search", "query": MARK}}),
        messages=_block(
            up.begin(0, {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {}}),
            up.grow(0, partial_json=_QUERY),
            up.stop(0),
            up.begin(1, _RESULT),
            up.stop(1),
        ),
    ),
    Answer(
        "log probabilities",
        (
            data(
                {
                    "choices": [
                        {
                            "index": 0,
                            "delta": {"content": "hi"},
                            "logprobs": {
                                "content": [
                                    {"token": MARK, "logprob": -0.5, "bytes": [104], "top_logprobs": []}
                                ]
                            },
                        }
                    ]
                }
            ),
            up.chunk({}, "stop"),
            up.DONE,
        ),
        _item(
            up.spoken("hi", id="i1"),
            up.event(
                "output_text.delta",
                content_index=0,
                delta="hi",
                logprobs=[{"token": MARK, "logprob": -0.5, "top_logprobs": []}],
            ),
        ),
    ),
    Answer(
        "service tier",
        _chat({"content": "hi"}, service_tier=MARK),
        _item(up.spoken("hi", id="i1"), service_tier=MARK),
        (up.message({"service_tier": MARK}), *_block(*_said())[1:]),
    ),
]


def table() -> str:
    """Markdown: where a client finds what an upstream says."""
    pairs = [(upstream, client) for upstream in Protocol for client in Protocol if upstream is not client]
    heads = ["", *(f"{upstream.value} → {client.value}" for upstream, client in pairs)]
    return written_table(heads, [[row.says, *(_cell(row, *pair) for pair in pairs)] for row in ANSWERS])


def _cell(row: Answer, upstream: Protocol, client: Protocol) -> str:
    events = row.events(upstream)
    if not events:
        return "–"
    body = {"reasoning": {"summary": "auto"}} if client is Protocol.RESPONSES and row.summarised else {}
    found = next(_places(client, converted(upstream, client, events, body), row.mark), None)
    return "left out" if found is None else f"`{found}`"


def _places(client: Protocol, stream: bytes, mark: str) -> Iterator[str]:
    """Where the mark stands, event by event, in the client's own words."""
    for value in sse.read(stream).json():
        path = _path(value, mark)
        if path is None:
            continue
        match client:
            case Protocol.CHAT:
                yield ".".join(path[1:3] if path[0] == "choices" else path)
            case Protocol.RESPONSES:
                kind = value["type"].removeprefix("response.")
                yield kind if path == ["delta"] else f"{kind}: {path[-1]}"
            case Protocol.MESSAGES:
                inner = value.get("delta") or value.get("content_block") or {}
                kind = inner.get("type") or value["type"]
                yield kind if len(path) == 2 else f"{kind}: {path[-1]}"


def _path(value: Any, mark: str) -> list[str] | None:
    """The names that lead to a text with the mark."""
    if isinstance(value, str):
        return [] if mark in value else None
    members: list[tuple[str | None, Any]] = []
    if isinstance(value, dict):
        members = list(value.items())
    elif isinstance(value, list):
        members = [(None, element) for element in value]
    for name, member in members:
        found = _path(member, mark)
        if found is not None:
            return found if name is None else [name, *found]
    return None


def converted(
    upstream: Protocol, client: Protocol, events: Iterable[bytes], body: dict[str, Any] | None = None
) -> bytes:
    """The stream that the client gets."""
    asked = client_request(upstream, {"model": "up", **BODIES[upstream], "stream": True})
    told = structs.replace(context(client, upstream, body, names=_NAMES), seal=lambda _: SEAL)
    watcher = ConvertingWatcher(
        dialect_of(upstream).watcher(asked, str, SEED),
        halves_of(upstream).decoder(),
        halves_of(client).encoder(told),
        (),
        str,
        wants_usage=True,
    )
    out = b""
    for frame in Framer(1 << 20).feed(b"".join(events)):
        watcher.read(frame)
        assert watcher.failure is None, watcher.failure
        out += watcher.outgoing(frame)
    return out + watcher.closing(None)
