"""How answers end, how their usage is told, and what channels are able to: more tables of the page."""

from typing import Any

import msgspec
from tests.conversion_page.answers import converted
from tests.conversion_page.requests import MODEL, written_table
from tests.harness import sse
from tests.unit.protocols import upstreams as up
from tests.unit.protocols.frames import data

from tidegate.core.capability import Capabilities
from tidegate.core.protocol import Protocol
from tidegate.protocols.abilities import resolve

_CALL = up.calls(up.call(0, "call_1", "f", "{}"))
_USE = (up.begin(0, {"type": "tool_use", "id": "toolu_1", "name": "f", "input": {}}), up.stop(0))
_SAID = (up.begin(0, {"type": "text", "text": "hi"}), up.stop(0))
_ITEM: dict[str, Any] = {"id": "i1", "status": "completed"}
_TEXT = {**_ITEM, "type": "message", "content": [{"type": "output_text", "text": "hi"}]}
_NO = {**_ITEM, "type": "message", "content": [{"type": "refusal", "refusal": "no"}]}
_TOOL = {**_ITEM, "type": "function_call", "call_id": "call_1", "name": "f", "arguments": "{}"}


def _chat(reason: str, *chunks: bytes) -> list[bytes]:
    return [*(chunks or (up.chunk({"content": "hi"}),)), up.chunk({}, reason), up.DONE]


def _responses(item: dict[str, Any], status: str = "completed", reason: str | None = None) -> list[bytes]:
    details = {} if reason is None else {"incomplete_details": {"reason": reason}}
    return [up.created(), up.added(0, item), up.done(0, item), up.completed(item, status=status, **details)]


def _messages(reason: str, *blocks: bytes) -> list[bytes]:
    return [up.message(), *(blocks or _SAID), up.ending(reason, {"output_tokens": 3}), up.MESSAGE_STOP]


_ENDINGS: list[tuple[Protocol, str, list[bytes]]] = [
    (Protocol.CHAT, "`stop`", _chat("stop")),
    (Protocol.CHAT, "`stop` after a refusal", _chat("stop", up.chunk({"refusal": "no"}))),
    (Protocol.CHAT, "`stop` or `tool_calls` after a call", _chat("stop", _CALL)),
    (Protocol.CHAT, "`length`", _chat("length")),
    (Protocol.CHAT, "`content_filter`", _chat("content_filter")),
    (Protocol.RESPONSES, "`completed`", _responses(_TEXT)),
    (Protocol.RESPONSES, "`completed` with a refusal", _responses(_NO)),
    (Protocol.RESPONSES, "`completed` with a call", _responses(_TOOL)),
    (
        Protocol.RESPONSES,
        "`incomplete`: `max_output_tokens`",
        _responses(_TEXT, "incomplete", "max_output_tokens"),
    ),
    (Protocol.RESPONSES, "`incomplete`: `content_filter`", _responses(_TEXT, "incomplete", "content_filter")),
    *(
        (Protocol.MESSAGES, f"`{reason}`", _messages(reason))
        for reason in (
            *("end_turn", "stop_sequence", "max_tokens", "model_context_window_exceeded"),
            *("refusal", "pause_turn"),
        )
    ),
    (Protocol.MESSAGES, "`tool_use`", _messages("tool_use", *_USE)),
]
_USAGES: dict[Protocol, list[bytes]] = {
    Protocol.CHAT: [
        up.chunk({"content": "hi"}),
        up.chunk({}, "stop"),
        data(
            {
                "choices": [],
                "usage": {
                    "prompt_tokens": 1200,
                    "completion_tokens": 90,
                    "total_tokens": 1290,
                    "prompt_tokens_details": {"cached_tokens": 1024, "cache_write_tokens": 100},
                    "completion_tokens_details": {"reasoning_tokens": 40},
                },
            }
        ),
        up.DONE,
    ],
    Protocol.MESSAGES: [
        up.message({"input_tokens": 76, "cache_read_input_tokens": 1024, "cache_creation_input_tokens": 100}),
        *_SAID,
        up.ending("end_turn", {"output_tokens": 90, "output_tokens_details": {"thinking_tokens": 40}}),
        up.MESSAGE_STOP,
    ],
}
_FAMILIES = (
    (Protocol.CHAT, MODEL),
    (Protocol.RESPONSES, MODEL),
    (Protocol.MESSAGES, MODEL),
    (Protocol.CHAT, "gpt-5.5"),
    (Protocol.CHAT, "deepseek-reasoner"),
    (Protocol.MESSAGES, "claude-sonnet-4-5"),
    (Protocol.MESSAGES, "claude-sonnet-5"),
)


def ends() -> str:
    """Markdown: the reasons for which answers end."""
    heads = ["upstream", *(f"{client.value} client" for client in Protocol)]
    lines = [
        [
            f"{upstream.value}: {says}",
            *("–" if client is upstream else f"`{_reason(upstream, client, events)}`" for client in Protocol),
        ]
        for upstream, says, events in _ENDINGS
    ]
    return written_table(heads, lines)


def usage() -> str:
    """Markdown: one usage in the three protocols, each told by the other side of a pair."""
    told = {
        Protocol.CHAT: _usage(Protocol.MESSAGES, Protocol.CHAT),
        Protocol.RESPONSES: _usage(Protocol.CHAT, Protocol.RESPONSES),
        Protocol.MESSAGES: _usage(Protocol.CHAT, Protocol.MESSAGES),
    }
    return written_table(
        ["client", "`usage`"],
        [
            [client.value, ", ".join(f"`{name}` {count}" for name, count in _flat(counts))]
            for client, counts in told.items()
        ],
    )


def capabilities() -> str:
    """Markdown: what holds where nothing is set."""
    heads = [
        "",
        *(
            f"{protocol.value}, {'any other model' if model == MODEL else f'`{model}`'}"
            for protocol, model in _FAMILIES
        ),
    ]
    found = [resolve(protocol, model, Capabilities(), Capabilities()) for protocol, model in _FAMILIES]
    names = Capabilities.__struct_fields__
    return written_table(
        heads, [[f"`{name}`", *(_told(getattr(able, name)) for able in found)] for name in names]
    )


def _told(value: Any) -> str:
    plain = msgspec.to_builtins(value)
    match plain:
        case bool():
            return "true" if plain else "false"
        case list() | tuple():
            return ", ".join(plain) or "none at all"
        case _:  # a word or a number
            return str(plain)


def _reason(upstream: Protocol, client: Protocol, events: list[bytes]) -> str:
    values = sse.read(converted(upstream, client, events)).json()
    match client:
        case Protocol.CHAT:
            reasons = (choice["finish_reason"] for value in values for choice in value["choices"])
            return str(next(reason for reason in reasons if reason))
        case Protocol.RESPONSES:
            response = values[-1]["response"]
            details = response.get("incomplete_details")
            return str(response["status"]) + (f": {details['reason']}" if details else "")
        case Protocol.MESSAGES:
            return str(values[-2]["delta"]["stop_reason"])


def _usage(upstream: Protocol, client: Protocol) -> dict[str, Any]:
    values = sse.read(converted(upstream, client, _USAGES[upstream])).json()
    last = values[-1]["response"] if client is Protocol.RESPONSES else None
    told: dict[str, Any] = next(
        value["usage"] for value in (last, *reversed(values)) if value and value.get("usage")
    )
    return told


def _flat(counts: dict[str, Any], base: str = "") -> list[tuple[str, int]]:
    found: list[tuple[str, int]] = []
    for name, value in counts.items():
        found += _flat(value, f"{base}{name}.") if isinstance(value, dict) else [(base + name, value)]
    return found
