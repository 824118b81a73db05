"""Whatever a caller sends is read or refused, and nothing but the agreed members changes on its way up."""

import json
from collections.abc import Callable
from typing import NamedTuple

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tidegate.core.failure import Failure, Kind
from tidegate.protocols.base import Asked, Repair
from tidegate.protocols.chat import request as chat
from tidegate.protocols.messages import request as messages
from tidegate.protocols.prompt_text import image_count
from tidegate.protocols.responses import request as responses


class Dialect(NamedTuple):
    read: Callable[[bytes], Asked | Failure]
    write: Callable[[Asked, str], bytes]
    repair: Callable[[Asked, Failure], Repair | None]
    write_repaired: Callable[[Asked, str, Repair], bytes]
    texts: Callable[[Asked], object]
    minimal: dict[str, object]


CONVERSATION: dict[str, object] = {"model": "m", "messages": [{"role": "user", "content": "hi"}]}
DIALECTS = {
    "chat": Dialect(
        chat.read_request,
        chat.write_request,
        chat.repair,
        chat.write_repaired,
        lambda asked: list(chat.prompt_texts(asked)),
        CONVERSATION,
    ),
    "responses": Dialect(
        responses.read_request,
        responses.write_request,
        responses.repair,
        responses.write_repaired,
        lambda asked: list(responses.prompt_texts(asked)),
        {"model": "m", "input": "hi"},
    ),
    "messages": Dialect(
        messages.read_request,
        messages.write_request,
        messages.repair,
        messages.write_repaired,
        lambda asked: list(messages.prompt_texts(asked)),
        {**CONVERSATION, "max_tokens": 9},
    ),
}
every_dialect = pytest.mark.parametrize("dialect", DIALECTS.values(), ids=DIALECTS.keys())

WORDS = [
    "assistant",
    "user",
    "thinking",
    "redacted_thinking",
    "signature",
    "data",
    "tgr1.x",
    "reasoning",
    "encrypted_content",
    "reasoning_details",
    "item_reference",
    "rs_1",
    "tool_result",
    "tool_use",
    "enabled",
    "clear_thinking_20251015",
    "image",
    "text",
    "url",
]
NAMES = [
    "role",
    "content",
    "type",
    "id",
    "signature",
    "data",
    "reasoning_details",
    "encrypted_content",
    "summary",
    "tool_calls",
    "input",
    "source",
]
words = st.sampled_from(WORDS) | st.text(max_size=4)
names = st.sampled_from(NAMES) | st.text(max_size=3)
leaves = (
    st.none()
    | st.booleans()
    | st.integers(-3, 200)
    | st.floats(allow_nan=False, allow_infinity=False)
    | words
)
values = st.recursive(
    leaves,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(names, inner, max_size=4),
    max_leaves=10,
)
blocks = st.fixed_dictionaries(
    {"type": words}, optional={"signature": words, "data": words, "encrypted_content": words, "id": words}
)
turns = st.fixed_dictionaries(
    {"role": st.sampled_from(["assistant", "user", "system"])},
    optional={
        "content": st.lists(blocks | values, max_size=3) | words,
        "reasoning_details": st.lists(blocks),
    },
)
parts = st.lists(turns | blocks | values, min_size=1, max_size=4)
bodies = st.fixed_dictionaries(
    {},
    optional={
        "model": st.just("m") | values,
        "messages": parts | values,
        "input": parts | values,
        "max_tokens": st.just(9) | values,
        "stream": st.booleans() | values,
        "stream_options": st.dictionaries(st.just("include_usage") | names, st.booleans(), max_size=3)
        | values,
        "n": values,
        "thinking": st.fixed_dictionaries({"type": words}) | values,
        "context_management": st.fixed_dictionaries({"edits": st.lists(blocks)}) | values,
        "tools": values,
        "previous_response_id": values,
    },
)
REFUSAL = Failure(
    kind=Kind.INVALID_REQUEST,
    status=400,
    message="stream_options; Invalid `signature` in `thinking` block; invalid_encrypted_content",
)


def exercise(dialect: Dialect, body: bytes) -> None:
    """All that may happen to a request; every body that goes up must be JSON again."""
    asked = dialect.read(body)
    if isinstance(asked, Failure):
        assert asked.kind in (Kind.INVALID_REQUEST, Kind.UNSUPPORTED_PARAMETER)
        assert asked.message
        return
    assert json.loads(dialect.write(asked, "up"))["model"] == "up"
    for repair in Repair:
        assert json.loads(dialect.write_repaired(asked, "up", repair))["model"] == "up"
    found = dialect.repair(asked, REFUSAL)
    if found is not None:
        assert dialect.write_repaired(asked, "up", found) != dialect.write(asked, "up")
    dialect.texts(asked)
    assert image_count(asked) >= 0


@every_dialect
@given(body=st.binary(max_size=80))
@example(body=b"\xef\xbb\xbf")
@example(body=b'{"model":"m","messages":[' + b"[" * 100_000)
@example(body=b'{"model":"m","input":"' + b"\\ud800" * 10 + b'","messages":[{}],"max_tokens":1}')
def test_no_bytes_make_reading_raise(dialect: Dialect, body: bytes) -> None:
    exercise(dialect, body)


@every_dialect
@given(body=bodies, spaces=st.sampled_from([None, 1, "\t"]))
def test_no_shape_makes_anything_raise(
    dialect: Dialect, body: dict[str, object], spaces: int | str | None
) -> None:
    exercise(dialect, json.dumps(body, indent=spaces).encode())
    exercise(dialect, json.dumps({**dialect.minimal, **body}, indent=spaces).encode())


@every_dialect
@given(body=bodies, data=st.data())
def test_no_damage_makes_anything_raise(
    dialect: Dialect, body: dict[str, object], data: st.DataObject
) -> None:
    text = json.dumps({**body, **dialect.minimal}).encode()
    at = data.draw(st.integers(0, len(text)))
    exercise(
        dialect, text[:at] + data.draw(st.binary(max_size=2)) + text[at + data.draw(st.integers(0, 3)) :]
    )


extras = st.dictionaries(st.sampled_from(["vendor_x", "metadata_x", "é", "top_q"]), values, max_size=3)


@every_dialect
@given(extra=extras, spaces=st.sampled_from([None, 1, "\t"]), plain=st.booleans(), first=st.booleans())
def test_only_the_model_changes_and_every_other_byte_stays(
    dialect: Dialect, extra: dict[str, object], spaces: int | str | None, plain: bool, first: bool
) -> None:
    without_marks = json.loads(json.dumps(extra).replace("tgr1.", "tgr2."))
    whole = {**without_marks, **dialect.minimal} if first else {**dialect.minimal, **without_marks}
    text = json.dumps(whole, indent=spaces, ensure_ascii=plain).encode()
    asked = dialect.read(text)
    assert isinstance(asked, Asked)
    start, end = asked.members["model"]
    assert dialect.write(asked, "up/é") == text[:start] + '"up/é"'.encode() + text[end:]
    assert dialect.write(asked, "m") == text


@given(
    options=st.dictionaries(names, values, max_size=3) | st.none(), spaces=st.sampled_from([None, 1, "\t"])
)
def test_a_chat_stream_asks_for_usage_and_changes_nothing_else(
    options: dict[str, object] | None, spaces: int | str | None
) -> None:
    whole = {"stream_options": options, **CONVERSATION, "stream": True}
    asked = chat.read_request(json.dumps(whole, indent=spaces).encode())
    assert isinstance(asked, Asked)
    sent = json.loads(chat.write_request(asked, "up"))
    wanted = {**(options or {}), "include_usage": True}
    assert sent == {**whole, "model": "up", "stream_options": wanted}
    without = json.loads(chat.write_repaired(asked, "m", Repair.STREAM_OPTIONS))
    assert without == {**CONVERSATION, "stream": True}


@given(history=st.lists(turns, min_size=1, max_size=5), spaces=st.sampled_from([None, 1]))
def test_taking_thinking_out_leaves_all_other_blocks(
    history: list[dict[str, object]], spaces: int | None
) -> None:
    whole = {**CONVERSATION, "messages": history, "max_tokens": 9}
    asked = messages.read_request(json.dumps(whole, indent=spaces).encode())
    assert isinstance(asked, Asked)
    sent = json.loads(messages.write_repaired(asked, "m", Repair.THINKING))
    assert sent == {**whole, "messages": without_thinking(json.loads(json.dumps(history)))}


def without_thinking(history: list[dict[str, object]]) -> list[dict[str, object]]:
    kept = []
    for turn in history:
        content = turn.get("content")
        if turn["role"] != "assistant" or not isinstance(content, list):
            kept.append(turn)
            continue
        left = [block for block in content if not is_thinking(block)]
        if left or not content:
            kept.append({**turn, "content": left})
    return kept


def is_thinking(block: object) -> bool:
    return isinstance(block, dict) and block.get("type") in ("thinking", "redacted_thinking")


@given(items=st.lists(turns | blocks, max_size=5), spaces=st.sampled_from([None, 1]))
def test_taking_reasoning_out_leaves_all_other_items(
    items: list[dict[str, object]], spaces: int | None
) -> None:
    whole = {"model": "m", "input": items}
    asked = responses.read_request(json.dumps(whole, indent=spaces).encode())
    assert isinstance(asked, Asked)
    sent = json.loads(responses.write_repaired(asked, "m", Repair.REASONING))
    left = [item for item in items if item.get("type") != "reasoning" and not refers_to_reasoning(item)]
    assert sent == {**whole, "input": json.loads(json.dumps(left))}


def refers_to_reasoning(item: dict[str, object]) -> bool:
    typed = item.get("type") == "item_reference" or ("type" not in item and "role" not in item)
    return typed and str(item.get("id")).startswith("rs_")
