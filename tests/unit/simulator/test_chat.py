import json
from itertools import pairwise
from typing import Any

import pytest

from tidegate.core.protocol import Protocol

from .reading import asked, body, events, tools


def chunks(model: str = "sim", **members: Any) -> list[Any]:
    found = events(body(asked(Protocol.CHAT, model, **members)))
    assert all(name is None for name, _ in found)
    return [data for _, data in found]


def choices(found: list[Any], nth: int = 0) -> list[Any]:
    told = [choice for chunk in found if chunk != "[DONE]" for choice in chunk.get("choices", ())]
    return [choice for choice in told if choice["index"] == nth]


def joined(found: list[Any], member: str, nth: int = 0) -> str:
    return "".join(choice["delta"].get(member) or "" for choice in choices(found, nth))


def test_a_stream_begins_with_the_role_and_ends_with_one_finish_and_the_mark() -> None:
    found = chunks()
    assert choices(found)[0]["delta"] == {"role": "assistant", "content": ""}
    assert [c["finish_reason"] for c in choices(found) if c["finish_reason"]] == ["stop"]
    assert (choices(found)[-1]["delta"], found[-1]) == ({}, "[DONE]")
    assert all("usage" not in chunk for chunk in found[:-1])
    assert len({(c["id"], c["created"], c["model"], c["object"]) for c in found[:-1]}) == 1


def test_usage_comes_last_and_only_if_asked_for() -> None:
    found = chunks(stream_options={"include_usage": True})
    assert found[-2]["choices"] == []
    assert found[-2]["usage"]["completion_tokens"] > 0
    assert "usage" not in chunks("sim;no_usage", stream_options={"include_usage": True})[-2]


def test_each_call_starts_once_and_then_only_grows() -> None:
    found = chunks("sim;tools=2", tools=tools(Protocol.CHAT, "f", "g"))
    calls = [call for choice in choices(found) for call in choice["delta"].get("tool_calls", [])]
    starts = [call for call in calls if "id" in call]
    assert [(call["index"], call["function"]["name"]) for call in starts] == [(0, "f"), (1, "g")]
    assert all(set(call) == {"index", "function"} for call in calls if call not in starts)
    for nth in range(2):
        arguments = "".join(call["function"]["arguments"] for call in calls if call["index"] == nth)
        assert json.loads(arguments) == {"city": "Paris", "days": 2}
    assert choices(found)[-1]["finish_reason"] == "tool_calls"


def test_every_choice_that_was_asked_for_says_its_part_and_finishes() -> None:
    found = chunks(n=3, tools=tools(Protocol.CHAT, "f"))
    assert [choices(found, nth)[-1]["finish_reason"] for nth in range(3)] == ["tool_calls"] * 3
    first_seen = list(dict.fromkeys(c["index"] for chunk in found[:-1] for c in chunk["choices"]))
    assert all(a < b for a, b in pairwise(first_seen))


@pytest.mark.parametrize(
    "model",
    ["sim", "sim;reasoning=5", "sim;refusal", "sim;web_search=1", "sim;tools=2;text=a b", "sim;finish=odd"],
)
def test_the_whole_answer_says_what_the_stream_said(model: str) -> None:
    given = tools(Protocol.CHAT, "f") if "tools" in model else None
    found = chunks(model, tools=given, stream_options={"include_usage": True})
    # The stream member is part of what the ids are made of.
    whole = json.loads(body(asked(Protocol.CHAT, model, tools=given, stream=False)))
    (choice,) = whole["choices"]
    message = choice["message"]
    for member in ("content", "refusal", "reasoning_content"):
        assert joined(found, member) == (message.get(member) or "")
    notes = [note for c in choices(found) for note in c["delta"].get("annotations", [])]
    assert notes == message.get("annotations", [])
    assert choice["finish_reason"] == choices(found)[-1]["finish_reason"]
    assert whole["usage"]["completion_tokens"] == found[-2]["usage"]["completion_tokens"]
    assert len(message.get("tool_calls", [])) == (2 if given else 0)


def test_a_custom_tool_is_a_function_in_a_stream_and_itself_in_a_whole_answer() -> None:
    given = [{"type": "custom", "custom": {"name": "free"}}]
    calls = [c for choice in choices(chunks(tools=given)) for c in choice["delta"].get("tool_calls", [])]
    assert json.loads("".join(c["function"]["arguments"] for c in calls)) == {"input": 'text("hello")'}
    whole = json.loads(body(asked(Protocol.CHAT, tools=given, stream=False)))
    (call,) = whole["choices"][0]["message"]["tool_calls"]
    assert (call["type"], call["custom"]) == ("custom", {"name": "free", "input": 'text("hello")'})


@pytest.mark.parametrize(
    ("form", "error"),
    [("usual", dict), ("text", str), ("chunk", dict)],
)
def test_an_error_ends_the_stream_without_the_mark(form: str, error: type) -> None:
    found = chunks(f"sim;error=overloaded;error_after=2;error_form={form}")
    assert isinstance(found[-1]["error"], error)
    assert joined(found, "content").split() == ["This", "is"]
    assert ("choices" in found[-1]) == (form == "chunk")


def test_a_cut_by_the_limit_is_told() -> None:
    found = chunks("sim;words=9", max_tokens=4)
    assert (len(joined(found, "content").split()), choices(found)[-1]["finish_reason"]) == (4, "length")
