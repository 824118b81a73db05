"""Telling a whole answer as a stream and gathering it again says the same, whatever it holds."""

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from tests.unit.protocols.answers import asked, told

from tidegate.core.failure import Failure
from tidegate.core.protocol import Protocol
from tidegate.protocols.base import Whole
from tidegate.protocols.chat import answer as chat_answer
from tidegate.protocols.chat import assemble as chat_assemble
from tidegate.protocols.chat import replay as chat_replay
from tidegate.protocols.messages import answer as messages_answer
from tidegate.protocols.messages import assemble as messages_assemble
from tidegate.protocols.messages import replay as messages_replay
from tidegate.protocols.responses import answer as responses_answer
from tidegate.protocols.responses import assemble as responses_assemble
from tidegate.protocols.responses import replay as responses_replay

words = st.text(max_size=20)
values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(-1e300, 1e300) | words,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=3),
    max_leaves=6,
)
objects = st.dictionaries(words, values, max_size=3)
counts = st.integers(0, 10**6)


def maybe(strategy: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.none() | strategy


def laid_out(answer: object, indent: int | None) -> bytes:
    return json.dumps(answer, ensure_ascii=indent is None, indent=indent).encode()


layouts = st.sampled_from([None, 0, 2])

calls = st.builds(
    lambda kind, name, argument: (
        {"type": "function", "function": {"name": name, "arguments": argument}}
        if kind
        else {"type": "custom", "custom": {"name": name, "input": argument}}
    ),
    st.booleans(),
    st.text(min_size=1, max_size=5),
    words,
)
chat_messages = st.fixed_dictionaries(
    {"role": st.just("assistant"), "content": maybe(words)},
    optional={
        "refusal": maybe(words),
        "reasoning_content": words,
        "annotations": st.lists(objects.map(lambda one: {"type": "url_citation", "at": one}), max_size=2),
        "tool_calls": st.lists(calls, max_size=3),
        "vendor": st.dictionaries(st.just("x"), st.lists(st.integers(), min_size=1, max_size=2), max_size=1),
    },
)
chat_usage = st.fixed_dictionaries({"prompt_tokens": counts, "completion_tokens": counts})


@st.composite
def chat_answers(draw: st.DrawFn) -> Any:
    messages = draw(st.lists(chat_messages, min_size=1, max_size=3))
    for message in messages:
        for index, call in enumerate(message.get("tool_calls", ())):
            call["id"] = f"call_{index}"
    reasons = st.sampled_from(["stop", "length", "tool_calls", "content_filter"])
    choices = [
        {"index": index, "message": message, "finish_reason": draw(reasons)}
        for index, message in enumerate(messages)
    ]
    answer = {"id": "c", "object": "chat.completion", "created": 1, "model": "up", "choices": choices}
    usage = draw(maybe(chat_usage))
    return answer if usage is None else answer | {"usage": usage}


def plain(answer: Any) -> Any:
    """Without what a stream cannot tell apart: nothing said, and nothing said in so many words."""
    if isinstance(answer, dict):
        inner = {name: plain(member) for name, member in answer.items()}
        return {name: member for name, member in inner.items() if member not in (None, [], "", {})}
    return [plain(each) for each in answer] if isinstance(answer, list) else answer


@given(chat_answers(), layouts)
def test_chat(answer: Any, indent: int | None) -> None:
    request = asked(Protocol.CHAT, choices=len(answer["choices"]))
    body = laid_out(answer, indent)
    stream = chat_replay.replay(request, body)
    assert all(event.startswith(b"data: ") and b"\n" not in event for event in stream.split(b"\n\n")[:-1])
    again = chat_assemble.assemble(request, stream)
    assert isinstance(again, bytes)
    assert plain(json.loads(again)) == plain(answer)
    first, second = chat_answer.read_whole(request, body), chat_answer.read_whole(request, again)
    assert isinstance(first, Whole)
    assert isinstance(second, Whole)
    assert first.usage == second.usage
    assert (first.finish_reason, first.incomplete) == (second.finish_reason, second.incomplete)
    assert sorted(first.text) == sorted(second.text)


blocks = st.one_of(
    st.fixed_dictionaries(
        {"type": st.just("text"), "text": words}, optional={"citations": st.lists(objects, max_size=2)}
    ),
    st.fixed_dictionaries({"type": st.just("thinking"), "thinking": words, "signature": words}),
    st.fixed_dictionaries({"type": st.just("redacted_thinking"), "data": words}),
    st.fixed_dictionaries(
        {
            "type": st.sampled_from(["tool_use", "server_tool_use"]),
            "id": words,
            "name": words,
            "input": objects,
        }
    ),
    st.fixed_dictionaries({"type": st.just("web_search_tool_result"), "content": st.lists(objects)}),
)
messages_answers = st.fixed_dictionaries(
    {
        "id": words,
        "type": st.just("message"),
        "role": st.just("assistant"),
        "model": words,
        "content": st.lists(blocks, max_size=5),
        "stop_reason": st.sampled_from(["end_turn", "max_tokens", "tool_use", "refusal"]),
        "stop_sequence": maybe(words),
        "usage": st.fixed_dictionaries(
            {"input_tokens": counts, "output_tokens": counts},
            optional={
                "cache_read_input_tokens": counts,
                "server_tool_use": st.just({"web_search_requests": 1}),
            },
        ),
    },
    optional={"container": objects, "vendor": values},
)


@given(messages_answers, layouts)
def test_messages(answer: Any, indent: int | None) -> None:
    request = asked(Protocol.MESSAGES)
    body = laid_out(answer, indent)
    again = messages_assemble.assemble(request, messages_replay.replay(request, body))
    assert isinstance(again, bytes)
    assert told(json.loads(again)) == told(answer)
    first, second = messages_answer.read_whole(request, body), messages_answer.read_whole(request, again)
    assert isinstance(first, Whole)
    assert isinstance(second, Whole)
    assert (first.usage, first.text, first.incomplete) == (second.usage, second.text, second.incomplete)


texts = st.fixed_dictionaries(
    {"type": st.just("output_text"), "text": words, "annotations": st.lists(objects, max_size=2)}
)
refusals = st.fixed_dictionaries({"type": st.just("refusal"), "refusal": words})
items = st.one_of(
    st.fixed_dictionaries(
        {"type": st.just("message"), "status": words, "content": st.lists(texts | refusals)}
    ),
    st.fixed_dictionaries(
        {
            "type": st.just("reasoning"),
            "summary": st.lists(st.fixed_dictionaries({"text": words}), max_size=2),
        },
        optional={"encrypted_content": words},
    ),
    st.fixed_dictionaries({"type": st.just("function_call"), "call_id": words, "arguments": words}),
    st.fixed_dictionaries({"type": st.just("custom_tool_call"), "call_id": words, "input": words}),
    st.fixed_dictionaries({"type": st.just("web_search_call"), "action": objects}),
)
responses_answers = st.fixed_dictionaries(
    {
        "id": words,
        "object": st.just("response"),
        "status": st.sampled_from(["completed", "incomplete", "failed"]),
        "model": words,
        "output": st.lists(items, max_size=4),
        "usage": maybe(st.fixed_dictionaries({"input_tokens": counts, "output_tokens": counts})),
    },
    optional={"vendor": values, "error": maybe(objects)},
)


@given(responses_answers, layouts, st.booleans())
def test_responses(answer: Any, indent: int | None, emptied: bool) -> None:
    request = asked(Protocol.RESPONSES)
    body = laid_out(answer, indent)
    stream = responses_replay.replay(request, body)
    if emptied:  # an upstream may leave the final output empty
        *events, last, end = stream.split(b"\n\n")
        name, _, data = last.partition(b"\ndata: ")
        terminal = json.loads(data)
        terminal["response"]["output"] = None
        stream = b"\n\n".join([*events, name + b"\ndata: " + json.dumps(terminal).encode(), end])
    again = responses_assemble.assemble(request, stream)
    assert isinstance(again, bytes)
    assert told(json.loads(again)) == told(answer)
    first, second = responses_answer.read_whole(request, body), responses_answer.read_whole(request, again)
    assert isinstance(first, Whole)
    assert isinstance(second, Whole)
    assert (first.usage, first.text, first.ids) == (second.usage, second.text, second.ids)
    assert (first.failure is None) is (second.failure is None)


@given(st.binary() | values.map(lambda value: json.dumps(value).encode()), st.binary())
def test_no_bytes_raise(body: bytes, noise: bytes) -> None:
    for dialect, read, replay, assemble in (
        (Protocol.CHAT, chat_answer.read_whole, chat_replay.replay, chat_assemble.assemble),
        (Protocol.MESSAGES, messages_answer.read_whole, messages_replay.replay, messages_assemble.assemble),
        (
            Protocol.RESPONSES,
            responses_answer.read_whole,
            responses_replay.replay,
            responses_assemble.assemble,
        ),
    ):
        request = asked(dialect)
        assert isinstance(read(request, body), Whole | Failure)
        assert isinstance(replay(request, body), bytes)
        assert isinstance(assemble(request, b"data: " + body + b"\n\n" + noise), bytes | Failure)
