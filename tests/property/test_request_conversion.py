"""Whatever a client sends, conversion answers with a request or with a refusal that names the fault."""

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.unit.protocols.asking import READ, WRITE, abilities, opener, target
from tests.unit.protocols.test_request_corpus import recorded, scenario

from tidegate.core.capability import ReplayReasoning, UnsupportedTools
from tidegate.core.conversation import Conversation
from tidegate.core.events import Opaque
from tidegate.core.failure import Failure, Kind
from tidegate.core.protocol import Protocol
from tidegate.protocols.base import Asked
from tidegate.protocols.conversion import Written
from tidegate.protocols.registry import dialect_of

REFUSALS = {Kind.INVALID_REQUEST, Kind.UNSUPPORTED_PARAMETER, Kind.UNSUPPORTED_VALUE}
CARRIERS = {
    "tgr1.m": Opaque(Protocol.MESSAGES, [{"type": "thinking", "thinking": "t", "signature": "s"}]),
    "tgr1.r": Opaque(Protocol.RESPONSES, {"type": "reasoning", "id": "rs_1", "summary": []}),
    "tgr1.c": Opaque(Protocol.CHAT, "t"),
}
WORDS = st.sampled_from(
    [
        *(
            "",
            "a",
            "auto",
            "none",
            "required",
            "any",
            "tool",
            "function",
            "custom",
            "namespace",
            "web_search",
        ),
        *("text", "input_text", "output_text", "image_url", "input_image", "input_file", "file", "refusal"),
        *("user", "assistant", "system", "developer", "tool", "function_call", "function_call_output"),
        *("reasoning", "message", "json_schema", "json_object", "grammar", "item_reference", "high", "max"),
        *("custom_tool_call", "custom_tool_call_output", "additional_tools", "allowed_tools", "base64"),
        *(
            "data:image/png;base64,iVBORw0KGgo",
            "data:text/plain;base64,_",
            "https://h.test/a",
            "\ud800",
            "ü.x",
        ),
        *(
            "tool_use",
            "tool_result",
            "thinking",
            "document",
            "image",
            "adaptive",
            "enabled",
            "n" * 90,
            *CARRIERS,
        ),
    ]
)
NAMES = st.sampled_from(
    [
        *(
            "type",
            "role",
            "content",
            "text",
            "name",
            "id",
            "call_id",
            "tool_call_id",
            "tool_calls",
            "function",
        ),
        *(
            "arguments",
            "parameters",
            "schema",
            "strict",
            "format",
            "input",
            "output",
            "url",
            "detail",
            "image_url",
        ),
        *(
            "file",
            "file_data",
            "file_id",
            "filename",
            "namespace",
            "tools",
            "mode",
            "effort",
            "summary",
            "custom",
        ),
        *("encrypted_content", "reasoning_details", "reasoning_content", "data", "definition", "properties"),
        *("required", "additionalProperties", "filters", "user_location", "approximate", "refusal", "source"),
    ]
)
SCALARS = st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats(allow_nan=False) | WORDS
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=4),
    max_leaves=12,
)
CLIENTS = sorted({(name, client) for name, _ in recorded() for client in scenario(name)["client"]})


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Every place in a JSON value, by the keys that lead there."""
    found = [path] if path else []
    members = (
        value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    )
    for key, member in members:
        found += places(member, (*path, key))
    return found


@st.composite
def spoilt(draw: st.DrawFn) -> tuple[Protocol, dict[str, Any]]:
    """A recorded request with a few places overwritten."""
    name, client = draw(st.sampled_from(CLIENTS))
    body: dict[str, Any] = json.loads(json.dumps(scenario(name)["client"][client]))
    for _ in range(draw(st.integers(1, 3))):
        *way, last = draw(st.sampled_from(places(body)))
        inner: Any = body
        for key in way:
            inner = inner[key]
        inner[last] = draw(VALUES)
    for extra in draw(st.lists(NAMES, max_size=2)):
        body[extra] = draw(VALUES)
    return Protocol(client.partition(".")[0]), body


def converted(
    client: Protocol, body: dict[str, Any], channel: Protocol, **changes: Any
) -> Written | Failure | None:
    """None: refused before any conversion."""
    asked = dialect_of(client).read_request(json.dumps(body, ensure_ascii=True).encode())
    if not isinstance(asked, Asked):
        return None
    found = READ[client](asked, opener(CARRIERS))
    return WRITE[channel](found, target(channel, **changes)) if isinstance(found, Conversation) else found


CHANGES = st.fixed_dictionaries(
    {
        "replay_reasoning": st.sampled_from(ReplayReasoning),
        "unsupported_tools": st.sampled_from(UnsupportedTools),
        "tool_name_max": st.sampled_from([1, 8, 10, 64]),
        "efforts": st.sampled_from([(), abilities(Protocol.CHAT).efforts[1:3]]),
    },
    optional={
        name: st.booleans()
        for name in (
            *("sampling", "custom_tools", "web_search", "developer_role", "instructions_required"),
            *("structured_output", "reasoning_summary", "mid_system", "prefill"),
        )
    },
)


@pytest.mark.parametrize("channel", list(Protocol))
@settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow]
)
@given(spoilt(), CHANGES)
def test_a_spoilt_request_is_converted_or_refused_by_name(
    channel: Protocol, asking: tuple[Protocol, dict[str, Any]], changes: dict[str, Any]
) -> None:
    client, body = asking
    if client is channel:
        return
    found = converted(client, body, channel, **changes)
    match found:
        case None:
            return
        case Failure():
            assert found.kind in REFUSALS
            assert found.message
            assert found.param is None or found.param.partition(".")[0].partition("[")[0] in body
        case Written():
            sent = json.loads(found.body)
            assert sent["model"] == target(channel).model
            assert all(loss.path for loss in found.losses)
            assert isinstance(dialect_of(channel).read_request(found.body), Asked)
