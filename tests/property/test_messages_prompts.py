"""Whatever turns a client sends, the prompt for a messages channel keeps the rules of that API."""

import json
from itertools import pairwise
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from tests.unit.protocols.messages.conversing import C, chat, write

from tidegate.core.failure import Failure
from tidegate.protocols.conversion import Written

TEXTS = st.sampled_from(["", " ", "a", "b \n", "c"])
IDS = st.sampled_from(["a", "b", "c"])
PARTS = TEXTS | st.lists(TEXTS.map(lambda text: {"type": "text", "text": text}), max_size=3)
CALLS = st.lists(
    IDS.map(lambda id_: {"id": id_, "type": "function", "function": {"name": "f", "arguments": ""}}),
    max_size=3,
)
MESSAGES = st.lists(
    st.one_of(
        st.builds(
            lambda role, content: {"role": role, "content": content},
            st.sampled_from(["system", "developer", "user"]),
            PARTS,
        ),
        st.builds(
            lambda content, calls: {"role": "assistant", "content": content, "tool_calls": calls},
            PARTS,
            CALLS,
        ),
        st.builds(lambda id_, content: {"role": "tool", "tool_call_id": id_, "content": content}, IDS, PARTS),
    ),
    min_size=1,
    max_size=8,
)


def blocks(message: dict[str, Any]) -> list[dict[str, Any]]:
    content = message["content"]
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def of(message: dict[str, Any], kind: str, member: str) -> list[str]:
    return [block[member] for block in blocks(message) if block["type"] == kind]


@given(MESSAGES, st.booleans())
def test_the_rules_of_the_api_hold(turns: list[dict[str, Any]], mid_system: bool) -> None:
    written = write(C, chat(*turns), mid_system=mid_system)
    if isinstance(written, Failure):
        return
    assert isinstance(written, Written)
    body = json.loads(written.body)
    found = body["messages"]
    roles = [message["role"] for message in found]
    assert all(one != other for one, other in pairwise(roles))
    assert all(roles[at - 1] == "user" for at, role in enumerate(roles) if role == "system")
    for at, message in enumerate(found):
        kinds = [block["type"] for block in blocks(message)]
        assert kinds
        assert kinds == sorted(kinds, key=lambda kind: kind != "tool_result") or message["role"] != "user"
        assert not [text for text in of(message, "text", "text") if not text.strip()]
        results = of(message, "tool_result", "tool_use_id")
        assert len(results) == len(set(results))
        called = of(found[at - 1], "tool_use", "id") if at else []
        known = [id_ for id_ in dict.fromkeys(called) if id_ in results]
        assert results[: len(known)] == known
    if roles[-1] == "assistant":
        last = blocks(found[-1])[-1]
        assert last["type"] != "text" or last["text"] == last["text"].rstrip()
