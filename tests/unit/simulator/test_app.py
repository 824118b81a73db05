import asyncio
import json
import ssl
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import anthropic
import openai
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

from tidegate.core.protocol import Protocol
from tidegate.simulator.app import Simulator, start

from .reading import FUNCTION, tools

pytestmark = pytest.mark.timeout(60)
TURN: list[Any] = [{"role": "user", "content": "How high is the tide?"}]
FRAMINGS = ["", ";split=7", ";crlf", ";cr", ";no_space", ";multiline", ";gzip", ";br", ";close", ";trailers"]


@pytest.fixture
async def simulator() -> AsyncIterator[Simulator]:
    running = await start("127.0.0.1", 0)
    yield running
    await running.close()


@pytest.fixture
async def chat(simulator: Simulator) -> AsyncIterator[openai.AsyncOpenAI]:
    url = simulator.base_url(Protocol.CHAT)
    async with openai.AsyncOpenAI(
        base_url=url, api_key="k", max_retries=0, _strict_response_validation=True
    ) as client:
        yield client


@pytest.fixture
async def claude(simulator: Simulator) -> AsyncIterator[anthropic.AsyncAnthropic]:
    url = simulator.base_url(Protocol.MESSAGES)
    async with anthropic.AsyncAnthropic(
        base_url=url, api_key="k", max_retries=0, _strict_response_validation=True
    ) as client:
        yield client


@pytest.mark.parametrize("framing", FRAMINGS)
async def test_the_chat_helper_reads_a_stream(chat: openai.AsyncOpenAI, framing: str) -> None:
    async with chat.chat.completions.stream(
        model="sim;text=a café in 北京 😀" + framing,
        messages=TURN,
        stream_options={"include_usage": True},
    ) as stream:
        kinds = {event.type async for event in stream}
        final = await stream.get_final_completion()
    assert final.choices[0].message.content == "a café in 北京 😀"
    assert final.usage is not None
    assert final.usage.completion_tokens == 5
    assert "content.done" in kinds


@pytest.mark.parametrize("framing", FRAMINGS)
async def test_the_responses_helper_reads_a_stream(chat: openai.AsyncOpenAI, framing: str) -> None:
    async with chat.responses.stream(
        model="sim;text=a café in 北京 😀;reasoning=3;web_search=1" + framing, input="hi"
    ) as stream:
        async for _ in stream:
            pass
        final = await stream.get_final_response()
    assert final.output_text == "a café in 北京 😀"
    assert [item.type for item in final.output] == ["reasoning", "web_search_call", "message"]
    assert final.usage is not None
    assert final.usage.output_tokens_details.reasoning_tokens == 3


@pytest.mark.parametrize("framing", FRAMINGS)
async def test_the_messages_helper_reads_a_stream(claude: anthropic.AsyncAnthropic, framing: str) -> None:
    async with claude.messages.stream(
        model="sim;text=a café in 北京 😀;reasoning=3;redacted;web_search=1;ping" + framing,
        max_tokens=100,
        messages=TURN,
    ) as stream:
        async for _ in stream:
            pass
        final = await stream.get_final_message()
    kinds = [block.type for block in final.content]
    assert kinds == ["thinking", "redacted_thinking", "server_tool_use", "web_search_tool_result", "text"]
    assert (final.stop_reason, final.usage.output_tokens) == ("end_turn", 8)


async def test_parallel_calls_through_every_helper(
    chat: openai.AsyncOpenAI, claude: anthropic.AsyncAnthropic
) -> None:
    wanted = {"city": "Paris", "days": 2}
    given: Any = tools(Protocol.CHAT, "f", "g")
    async with chat.chat.completions.stream(model="sim;tools=2", messages=TURN, tools=given) as stream:
        completion = await stream.get_final_completion()
    functions: Any = [call.function for call in completion.choices[0].message.tool_calls or []]
    assert [(f.name, json.loads(f.arguments)) for f in functions] == [("f", wanted), ("g", wanted)]
    given = tools(Protocol.RESPONSES, "f", "g")
    async with chat.responses.stream(model="sim;tools=2", input="hi", tools=given) as responses:
        response = await responses.get_final_response()
    calls: Any = response.output
    assert [(call.name, json.loads(call.arguments)) for call in calls] == [("f", wanted), ("g", wanted)]
    given = tools(Protocol.MESSAGES, "f", "g")
    async with claude.messages.stream(
        model="sim;tools=2", max_tokens=100, messages=TURN, tools=given
    ) as messages:
        message = await messages.get_final_message()
    uses: Any = message.content
    assert [(use.name, use.input) for use in uses] == [("f", wanted), ("g", wanted)]


async def test_an_agent_gets_from_call_to_answer(claude: anthropic.AsyncAnthropic) -> None:
    given: Any = tools(Protocol.MESSAGES, "f")
    first = await claude.messages.create(model="sim", max_tokens=100, messages=TURN, tools=given)
    use: Any = first.content[0]
    result = {"type": "tool_result", "tool_use_id": use.id, "content": "2 metres"}
    turns: Any = [
        *TURN,
        {"role": "assistant", "content": [use.model_dump(exclude_none=True)]},
        {"role": "user", "content": [result]},
    ]
    last = await claude.messages.create(model="sim", max_tokens=100, messages=turns, tools=given)
    answer: Any = last.content[0]
    assert (last.stop_reason, answer.text) == ("end_turn", "The tool answered: 2 metres")


async def test_whole_answers_pass_strict_validation(
    chat: openai.AsyncOpenAI, claude: anthropic.AsyncAnthropic
) -> None:
    model = "sim;reasoning=3;web_search=1;text=ok"
    completion = await chat.chat.completions.create(model=model, messages=TURN)
    assert completion.choices[0].message.content == "ok"
    assert (await chat.responses.create(model=model, input="hi")).output_text == "ok"
    assert (await claude.messages.create(model=model, max_tokens=99, messages=TURN)).stop_reason == "end_turn"
    refused = await chat.responses.create(model="sim;refusal", input="hi")
    assert refused.output[0].type == "message"
    assert (await claude.messages.count_tokens(model="sim", messages=TURN)).input_tokens > 0


async def test_a_schema_is_kept_in_every_protocol(
    chat: openai.AsyncOpenAI, claude: anthropic.AsyncAnthropic
) -> None:
    named: Any = {"name": "n", "schema": FUNCTION, "strict": True}
    completion = await chat.chat.completions.create(
        model="sim", messages=TURN, response_format={"type": "json_schema", "json_schema": named}
    )
    wished: Any = {"format": {"type": "json_schema", **named}}
    response = await chat.responses.create(model="sim", input="hi", text=wished)
    wished = {"format": {"type": "json_schema", "schema": FUNCTION}}
    message = await claude.messages.create(model="sim", max_tokens=99, messages=TURN, output_config=wished)
    block: Any = message.content[0]
    for text in (completion.choices[0].message.content, response.output_text, block.text):
        assert json.loads(text or "") == {"city": "Paris", "days": 2}


@pytest.mark.parametrize(
    ("status", "error"),
    [
        (400, openai.BadRequestError),
        (401, openai.AuthenticationError),
        (403, openai.PermissionDeniedError),
        (404, openai.NotFoundError),
        (422, openai.UnprocessableEntityError),
        (429, openai.RateLimitError),
        (500, openai.InternalServerError),
        (503, openai.InternalServerError),
    ],
)
async def test_openai_errors_by_status(
    chat: openai.AsyncOpenAI, status: int, error: type[openai.APIStatusError]
) -> None:
    with pytest.raises(error) as raised:
        await chat.responses.create(model=f"sim;status={status}", input="hi", stream=True)
    assert raised.value.status_code == status
    assert raised.value.type is not None


async def test_errors_inside_streams_are_raised(
    chat: openai.AsyncOpenAI, claude: anthropic.AsyncAnthropic
) -> None:
    with pytest.raises(openai.APIError, match="Overloaded"):
        async for _ in await chat.chat.completions.create(
            model="sim;error=overloaded;error_after=1", messages=TURN, stream=True
        ):
            pass
    with pytest.raises(anthropic.APIStatusError) as raised:
        async for _ in await claude.messages.create(
            model="sim;error=overloaded", max_tokens=9, messages=TURN, stream=True
        ):
            pass
    assert raised.value.type == "overloaded_error"
    found = [e async for e in await chat.responses.create(model="sim;error=server", input="hi", stream=True)]
    assert found[-1].type == "response.failed"


async def test_models_through_both_clients(
    chat: openai.AsyncOpenAI, claude: anthropic.AsyncAnthropic
) -> None:
    assert "sim" in [model.id async for model in chat.models.list()]
    assert (await chat.models.retrieve("sim;rate=20")).id == "sim;rate=20"


async def test_a_key_can_be_required() -> None:
    guarded = await start("127.0.0.1", 0, require_key="right")
    url = guarded.base_url(Protocol.CHAT)
    async with openai.AsyncOpenAI(base_url=url, api_key="wrong", max_retries=0) as client:
        with pytest.raises(openai.AuthenticationError):
            await client.models.list()
    async with openai.AsyncOpenAI(base_url=url, api_key="right", max_retries=0) as client:
        await client.models.list()
    assert [entry.header("authorization") for entry in guarded.requests] == ["Bearer wrong", "Bearer right"]
    await guarded.close()


async def test_closing_ends_open_streams_and_frees_the_port() -> None:
    running = await start("127.0.0.1", 0)
    async with openai.AsyncOpenAI(
        base_url=running.base_url(Protocol.CHAT), api_key="k", max_retries=0
    ) as client:
        stream = await client.chat.completions.create(model="sim;stall_after=1", messages=TURN, stream=True)
        await running.close()
        with pytest.raises(openai.APIError):
            async for _ in stream:
                pass
    again = await start("127.0.0.1", running.port)
    await again.close()


async def test_https_with_a_certificate_of_ones_own(tmp_path: Path) -> None:
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "127.0.0.1")])
    certificate = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(datetime(2020, 1, 1, tzinfo=UTC))
        .not_valid_after(datetime(2120, 1, 1, tzinfo=UTC))
        .sign(key, hashes.SHA256())
    )
    pem = tmp_path / "both.pem"
    pem.write_bytes(
        certificate.public_bytes(Encoding.PEM)
        + key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    )
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(pem)
    running = await start("127.0.0.1", 0, ssl=context)
    assert running.base_url(Protocol.MESSAGES) == f"https://127.0.0.1:{running.port}"
    trusting = ssl.create_default_context(cafile=str(pem))
    trusting.check_hostname = False
    reader, writer = await asyncio.open_connection("127.0.0.1", running.port, ssl=trusting)
    body = json.dumps({"model": "sim;drop=reset", "messages": TURN}).encode()
    writer.write(b"GET / HTTP/1.1\r\n\r\n")
    assert (await reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 200 OK")
    writer.write(b"POST /v1/chat/completions HTTP/1.1\r\ncontent-length: %d\r\n\r\n%b" % (len(body), body))
    with pytest.raises(ConnectionResetError):
        await reader.read()
    writer.close()
    await running.close()


def test_an_ipv6_address_stands_in_brackets() -> None:
    simulator = Simulator()
    simulator.host, simulator.port = "::1", 80
    assert simulator.base_url(Protocol.CHAT) == "http://[::1]:80/v1"


async def test_only_the_last_requests_are_kept() -> None:
    running = await start("127.0.0.1", 0, keep=2)
    async with openai.AsyncOpenAI(base_url=running.base_url(Protocol.CHAT), api_key="k") as client:
        for _ in range(3):
            await client.models.list()
    assert (len(running.requests), running.tally.requests) == (2, 3)
    await running.close()
