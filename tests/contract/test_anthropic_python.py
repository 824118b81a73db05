"""The official anthropic SDK, unchanged, against the demo."""

from collections.abc import AsyncIterator, Iterator
from typing import Any

import anthropic
import pytest
from pydantic import BaseModel
from tests.contract.conftest import Demo

TOOL: Any = {
    "name": "get_weather",
    "description": "The weather of a city.",
    "input_schema": {
        "type": "object",
        "properties": {"city": {"type": "string"}},
        "required": ["city"],
    },
}
HELLO: Any = [{"role": "user", "content": "Say hello."}]


class Place(BaseModel):
    city: str
    people: int


@pytest.fixture(scope="module")
def client(demo: Demo) -> Iterator[anthropic.Anthropic]:
    with anthropic.Anthropic(
        base_url=demo.base_url,
        api_key=demo.key,
        max_retries=0,
        timeout=15,
        _strict_response_validation=True,
    ) as one:
        yield one


@pytest.fixture
async def later(demo: Demo) -> AsyncIterator[anthropic.AsyncAnthropic]:
    """With the key as bearer token, as some tools send it."""
    async with anthropic.AsyncAnthropic(
        base_url=demo.base_url, auth_token=demo.key, api_key=None, max_retries=0, timeout=15
    ) as one:
        yield one


def test_whole(client: anthropic.Anthropic) -> None:
    answer = client.messages.create(model="sim", max_tokens=500, messages=HELLO)
    assert answer.content[0].type == "text"
    assert (answer.stop_reason, answer.model) == ("end_turn", "sim")
    assert answer.usage.output_tokens > 0
    assert answer._request_id


def test_stream(client: anthropic.Anthropic) -> None:
    events = list(client.messages.create(model="sim", max_tokens=500, messages=HELLO, stream=True))
    assert (events[0].type, events[-1].type) == ("message_start", "message_stop")
    assert events[0].type == "message_start"
    assert events[0].message.model == "sim"


async def test_stream_async_with_a_bearer_token(later: anthropic.AsyncAnthropic) -> None:
    stream = await later.messages.create(model="sim", max_tokens=500, messages=HELLO, stream=True)
    types = [event.type async for event in stream]
    assert types[-1] == "message_stop"


async def test_stream_helper_async(later: anthropic.AsyncAnthropic) -> None:
    async with later.messages.stream(model="sim", max_tokens=500, messages=HELLO) as stream:
        text = "".join([piece async for piece in stream.text_stream])
        final = await stream.get_final_message()
    assert text
    assert final.stop_reason == "end_turn"


def test_stream_helper(client: anthropic.Anthropic) -> None:
    whole = client.messages.create(model="sim", max_tokens=500, messages=HELLO)
    with client.messages.stream(model="sim", max_tokens=500, messages=HELLO) as stream:
        text = "".join(stream.text_stream)
        final = stream.get_final_message()
    assert final.content[0].to_dict() == whole.content[0].to_dict()
    assert text
    assert final.usage.output_tokens == whole.usage.output_tokens


def test_tools_through_two_turns(client: anthropic.Anthropic) -> None:
    with client.messages.stream(model="sim", max_tokens=500, messages=HELLO, tools=[TOOL]) as stream:
        message = stream.get_final_message()
    assert message.stop_reason == "tool_use"
    (call,) = [block for block in message.content if block.type == "tool_use"]
    assert call.name == "get_weather"
    assert isinstance(call.input, dict)
    result = {"type": "tool_result", "tool_use_id": call.id, "content": "sunny-42"}
    history: Any = [
        *HELLO,
        {"role": "assistant", "content": [block.to_dict() for block in message.content]},
        {"role": "user", "content": [result]},
    ]
    answer = client.messages.create(model="sim", max_tokens=500, messages=history, tools=[TOOL])
    assert answer.content[0].type == "text"
    assert "sunny-42" in answer.content[0].text


def test_structured_output(client: anthropic.Anthropic) -> None:
    answer = client.messages.parse(model="sim", max_tokens=500, messages=HELLO, output_format=Place)
    assert isinstance(answer.parsed_output, Place)


def test_thinking_and_its_way_back(client: anthropic.Anthropic) -> None:
    thinking: Any = {"type": "enabled", "budget_tokens": 1024}
    with client.messages.stream(
        model="sim;redacted", max_tokens=4000, messages=HELLO, thinking=thinking
    ) as stream:
        message = stream.get_final_message()
    kinds = [block.type for block in message.content]
    assert "thinking" in kinds
    assert "redacted_thinking" in kinds
    history: Any = [
        *HELLO,
        {"role": "assistant", "content": [block.to_dict() for block in message.content]},
        *HELLO,
    ]
    answer = client.messages.create(model="sim", max_tokens=4000, messages=history, thinking=thinking)
    assert answer.stop_reason == "end_turn"


def test_server_tools(client: anthropic.Anthropic) -> None:
    with client.messages.stream(model="sim;web_search=1", max_tokens=500, messages=HELLO) as stream:
        message = stream.get_final_message()
    kinds = [block.type for block in message.content]
    assert "server_tool_use" in kinds
    assert "web_search_tool_result" in kinds


def test_counting(client: anthropic.Anthropic) -> None:
    assert client.messages.count_tokens(model="sim", messages=HELLO).input_tokens > 0


def test_models(client: anthropic.Anthropic) -> None:
    assert [model.id for model in client.models.list()]
    assert client.models.retrieve("sim").id == "sim"


@pytest.mark.parametrize("fault", ["ids", "crlf", "split=1", "no_space", "bom", "comments", "retry", "dated"])
@pytest.mark.parametrize("more", ["", "no_event_names", "ping", "done", "bad_utf8", "no_final_blank"])
def test_streams_that_break_the_sdk_alone_do_not_behind_the_gateway(
    client: anthropic.Anthropic, fault: str, more: str
) -> None:
    model = f"sim;words=6;{fault}" + (f";{more}" if more else "")
    with client.messages.stream(model=model, max_tokens=500, messages=HELLO) as stream:
        message = stream.get_final_message()
    assert message.stop_reason == "end_turn"
    assert message.content[0].type == "text"
    assert len(message.content[0].text.split()) == 6
