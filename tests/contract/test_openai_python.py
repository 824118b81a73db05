"""The official openai SDK, unchanged, against the demo: Chat Completions and Responses."""

import json
from collections.abc import AsyncIterator, Iterator
from typing import Any

import openai
import pytest
from pydantic import BaseModel
from tests.contract.conftest import Demo

TOOL: Any = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "The weather of a city.",
        "parameters": {
            "type": "object",
            "properties": {"city": {"type": "string"}},
            "required": ["city"],
            "additionalProperties": False,
        },
        "strict": True,
    },
}
FLAT_TOOL: Any = {"type": "function", **TOOL["function"]}
HELLO: Any = [{"role": "user", "content": "Say hello."}]
"""The SDK's types for messages and tools are unions that plain literals do not narrow to."""


class Place(BaseModel):
    city: str
    people: int


@pytest.fixture(scope="module")
def client(demo: Demo) -> Iterator[openai.OpenAI]:
    with openai.OpenAI(
        base_url=f"{demo.base_url}/v1",
        api_key=demo.key,
        max_retries=0,
        timeout=15,
        _strict_response_validation=True,
    ) as one:
        yield one


@pytest.fixture
async def later(demo: Demo) -> AsyncIterator[openai.AsyncOpenAI]:
    async with openai.AsyncOpenAI(
        base_url=f"{demo.base_url}/v1", api_key=demo.key, max_retries=0, timeout=15
    ) as one:
        yield one


def test_chat_whole(client: openai.OpenAI) -> None:
    answer = client.chat.completions.create(model="sim", messages=HELLO)
    assert answer.choices[0].message.content
    assert answer.choices[0].finish_reason == "stop"
    assert answer.model == "sim"
    assert answer.usage is not None
    assert answer.usage.total_tokens == answer.usage.prompt_tokens + answer.usage.completion_tokens
    assert answer._request_id


def test_chat_stream(client: openai.OpenAI) -> None:
    whole = client.chat.completions.create(model="sim", messages=HELLO).choices[0].message.content
    chunks = list(client.chat.completions.create(model="sim", messages=HELLO, stream=True))
    assert all(chunk.choices for chunk in chunks), "no usage chunk that was not asked for"
    text = "".join(chunk.choices[0].delta.content or "" for chunk in chunks)
    assert text == whole
    assert chunks[-1].choices[0].finish_reason == "stop"
    assert {chunk.model for chunk in chunks} == {"sim"}
    assert len({chunk.id for chunk in chunks}) == 1


async def test_chat_stream_async_with_usage(later: openai.AsyncOpenAI) -> None:
    stream = await later.chat.completions.create(
        model="sim", messages=HELLO, stream=True, stream_options={"include_usage": True}
    )
    chunks = [chunk async for chunk in stream]
    assert chunks[-1].choices == []
    assert chunks[-1].usage is not None
    assert sum(chunk.usage is not None for chunk in chunks) == 1


def test_chat_stream_helper(client: openai.OpenAI) -> None:
    with client.chat.completions.stream(model="sim", messages=HELLO) as stream:
        text = "".join(event.delta for event in stream if event.type == "content.delta")
        final = stream.get_final_completion()
    assert final.choices[0].message.content == text


def test_chat_tools_through_two_turns(client: openai.OpenAI) -> None:
    with client.chat.completions.stream(model="sim", messages=HELLO, tools=[TOOL]) as stream:
        for _ in stream:
            pass
        message = stream.get_final_completion().choices[0].message
    assert message.tool_calls
    call = message.tool_calls[0]
    assert call.function.name == "get_weather"
    assert isinstance(json.loads(call.function.arguments)["city"], str)
    whole = client.chat.completions.create(model="sim", messages=HELLO, tools=[TOOL])
    assert whole.choices[0].finish_reason == "tool_calls"
    history: Any = [
        *HELLO,
        message.model_dump(exclude_none=True, exclude={"parsed"}),
        {"role": "tool", "tool_call_id": call.id, "content": "sunny-42"},
    ]
    answer = client.chat.completions.create(model="sim", messages=history, tools=[TOOL])
    assert "sunny-42" in (answer.choices[0].message.content or "")


def test_chat_structured_output(client: openai.OpenAI) -> None:
    answer = client.chat.completions.parse(model="sim", messages=HELLO, response_format=Place)
    assert isinstance(answer.choices[0].message.parsed, Place)
    with client.chat.completions.stream(model="sim", messages=HELLO, response_format=Place) as stream:
        assert isinstance(stream.get_final_completion().choices[0].message.parsed, Place)


def test_chat_two_choices(client: openai.OpenAI) -> None:
    answer = client.chat.completions.create(model="sim", messages=HELLO, n=2)
    assert [choice.index for choice in answer.choices] == [0, 1]
    chunks = list(client.chat.completions.create(model="sim", messages=HELLO, n=2, stream=True))
    finished = [c.index for chunk in chunks for c in chunk.choices if c.finish_reason]
    assert sorted(finished) == [0, 1]


def test_responses_whole(client: openai.OpenAI) -> None:
    answer = client.responses.create(model="sim", input="Say hello.")
    assert answer.output_text
    assert (answer.status, answer.model) == ("completed", "sim")
    assert answer.usage is not None
    assert answer._request_id


def test_responses_stream(client: openai.OpenAI) -> None:
    events = list(client.responses.create(model="sim", input="Say hello.", stream=True))
    assert (events[0].type, events[-1].type) == ("response.created", "response.completed")
    assert [event.sequence_number for event in events] == list(range(len(events)))
    text = "".join(event.delta for event in events if event.type == "response.output_text.delta")
    final: Any = events[-1]
    assert final.response.output_text == text
    assert final.response.model == "sim"


async def test_responses_stream_async(later: openai.AsyncOpenAI) -> None:
    stream = await later.responses.create(model="sim", input="Say hello.", stream=True)
    types = [event.type async for event in stream]
    assert types[-1] == "response.completed"


def test_responses_stream_helper_and_tools(client: openai.OpenAI) -> None:
    with client.responses.stream(model="sim", input="Say hello.", tools=[FLAT_TOOL]) as stream:
        for _ in stream:
            pass
        final = stream.get_final_response()
    (call,) = [item for item in final.output if item.type == "function_call"]
    assert call.name == "get_weather"
    history: Any = [
        *HELLO,
        {"type": "function_call", "call_id": call.call_id, "name": call.name, "arguments": call.arguments},
        {"type": "function_call_output", "call_id": call.call_id, "output": "sunny-42"},
    ]
    answer = client.responses.create(model="sim", input=history, tools=[FLAT_TOOL])
    assert "sunny-42" in answer.output_text


def test_responses_structured_output(client: openai.OpenAI) -> None:
    answer = client.responses.parse(model="sim", input="Name a place.", text_format=Place)
    assert isinstance(answer.output_parsed, Place)


def test_responses_build_on_a_stored_response(client: openai.OpenAI) -> None:
    first = client.responses.create(model="sim;unique_ids", input="Say hello.", store=True)
    second = client.responses.create(model="sim;unique_ids", input="Go on.", previous_response_id=first.id)
    assert second.output_text


def test_reasoning(client: openai.OpenAI) -> None:
    reasoning: Any = {"effort": "high", "summary": "auto"}
    events = list(
        client.responses.create(model="sim", input="Think.", reasoning=reasoning, stream=True, store=False)
    )
    kinds = {event.type for event in events}
    assert "response.reasoning_summary_text.delta" in kinds
    final = events[-1]
    assert final.type == "response.completed"
    items: Any = [item.to_dict() for item in final.response.output]
    again = client.responses.create(model="sim", input=[*HELLO, *items, *HELLO], store=False)
    assert again.output_text


def test_models(client: openai.OpenAI) -> None:
    assert [model.id for model in client.models.list()]
    assert client.models.retrieve("sim").id == "sim"


def test_raw_response_headers(client: openai.OpenAI) -> None:
    raw = client.chat.completions.with_raw_response.create(model="sim", messages=HELLO)
    assert raw.headers["x-request-id"]
    assert raw.parse().choices


@pytest.mark.parametrize("fault", ["ids", "crlf", "split=1", "no_space", "bom", "comments", "retry", "dated"])
@pytest.mark.parametrize("more", ["", "event_names", "ping", "done", "bad_utf8", "no_final_blank"])
def test_streams_that_break_the_sdk_alone_do_not_behind_the_gateway(
    client: openai.OpenAI, fault: str, more: str
) -> None:
    model = f"sim;words=6;{fault}" + (f";{more}" if more else "")
    chunks = list(client.chat.completions.create(model=model, messages=HELLO, stream=True))
    assert chunks[-1].choices[0].finish_reason == "stop"
    events = list(client.responses.create(model=model, input="Say hello.", stream=True))
    assert events[-1].type == "response.completed"
