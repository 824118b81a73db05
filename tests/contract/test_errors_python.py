"""The typed exceptions that the official Python SDKs raise for each error, before and in the stream."""

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import anthropic
import openai
import pytest
from tests.harness import notation as n
from tests.harness import settings
from tests.harness.dialects import CHAT, FAILED, MESSAGES, RESPONSES, Side
from tests.harness.script import CUT, JSON, Answer, Framing, Pause, body, pieces, silence, stream
from tests.harness.stage import Stage


class Callers:
    """Both SDKs on the shared gateway."""

    def __init__(self, stage: Stage, key: str = settings.KEY) -> None:
        base = f"http://127.0.0.1:{stage.gateway.port}"
        self.openai = openai.OpenAI(base_url=f"{base}/v1", api_key=key, max_retries=0, timeout=15)
        self.anthropic = anthropic.Anthropic(base_url=base, api_key=key, max_retries=0, timeout=15)

    def call(self, side: Side, model: str, *, streamed: bool, **more: object) -> object:
        """The whole answer, or every event of the stream."""
        answer: Any
        arguments = side.request(model, stream=streamed, **more)
        match side.name:
            case "chat":
                answer = self.openai.chat.completions.create(**arguments)
            case "responses":
                answer = self.openai.responses.create(**arguments)
            case _:
                answer = self.anthropic.messages.create(**arguments)
        return list(answer) if streamed else answer

    def close(self) -> None:
        self.openai.close()
        self.anthropic.close()


@pytest.fixture(scope="module")
def callers(stage: Stage) -> Iterator[Callers]:
    both = Callers(stage)
    yield both
    both.close()


def failing(side: Side, status: int, *headers: tuple[str, str]) -> Answer:
    error = side.error_body("the very message", "some_error", "some_code")
    return body(json.dumps(error).encode(), status, [*JSON, *headers])


OPENAI: dict[int, tuple[type[openai.APIStatusError], int, str | None, str | None]] = {
    400: (openai.BadRequestError, 400, "some_error", "some_code"),
    401: (openai.InternalServerError, 502, "api_error", "upstream_auth_error"),
    402: (openai.InternalServerError, 502, "api_error", "upstream_error"),
    408: (openai.InternalServerError, 504, "api_error", "upstream_timeout"),
    413: (openai.APIStatusError, 413, "some_error", "some_code"),
    422: (openai.UnprocessableEntityError, 422, "some_error", "some_code"),
    429: (openai.RateLimitError, 429, "rate_limit_error", "rate_limit_exceeded"),
    500: (openai.InternalServerError, 502, "api_error", "upstream_error"),
    503: (openai.InternalServerError, 503, "overloaded_error", "overloaded"),
}
ANTHROPIC: dict[int, tuple[type[anthropic.APIStatusError], int, str]] = {
    400: (anthropic.BadRequestError, 400, "some_error"),
    401: (anthropic.InternalServerError, 502, "api_error"),
    402: (anthropic.InternalServerError, 502, "api_error"),
    408: (anthropic.GatewayTimeoutError, 504, "timeout_error"),
    413: (anthropic.ContentTooLargeError, 413, "some_error"),
    422: (anthropic.UnprocessableEntityError, 422, "some_error"),
    429: (anthropic.RateLimitError, 429, "rate_limit_error"),
    500: (anthropic.InternalServerError, 502, "api_error"),
    529: (anthropic.OverloadedError, 529, "overloaded_error"),
}


@pytest.mark.parametrize("streamed", [True, False], ids=["stream", "whole"])
@pytest.mark.parametrize("status", OPENAI)
@pytest.mark.parametrize("side", [CHAT, RESPONSES], ids=lambda side: side.name)
def test_upstream_errors_by_openai(
    stage: Stage, callers: Callers, side: Side, status: int, streamed: bool
) -> None:
    kind, told, type_, code = OPENAI[status]
    model = stage.model(side)
    stage.script(side, model, [failing(side, status)])
    with pytest.raises(kind) as caught:
        callers.call(side, model, streamed=streamed)
    assert type(caught.value) is kind
    error = caught.value
    assert (error.status_code, error.type, error.code) == (told, type_, code)
    assert error.request_id


@pytest.mark.parametrize("streamed", [True, False], ids=["stream", "whole"])
@pytest.mark.parametrize("status", ANTHROPIC)
def test_upstream_errors_by_anthropic(stage: Stage, callers: Callers, status: int, streamed: bool) -> None:
    kind, told, type_ = ANTHROPIC[status]
    model = stage.model(MESSAGES)
    stage.script(MESSAGES, model, [failing(MESSAGES, status)])
    with pytest.raises(kind) as caught:
        callers.call(MESSAGES, model, streamed=streamed)
    assert type(caught.value) is kind
    assert (caught.value.status_code, caught.value.type) == (told, type_)
    assert caught.value.request_id


@pytest.mark.parametrize("streamed", [True, False], ids=["stream", "whole"])
@pytest.mark.parametrize("side", [CHAT, RESPONSES, MESSAGES], ids=lambda side: side.name)
def test_the_gateways_own_refusals(stage: Stage, callers: Callers, side: Side, streamed: bool) -> None:
    sdk = anthropic if side is MESSAGES else openai
    stranger, narrow = Callers(stage, "sk-tg-wrong"), Callers(stage, settings.NARROW_KEY)
    with pytest.raises(sdk.AuthenticationError):
        stranger.call(side, stage.model(side), streamed=streamed)
    with pytest.raises(sdk.PermissionDeniedError):
        narrow.call(side, stage.model(side), streamed=streamed)
    with pytest.raises(sdk.NotFoundError):
        callers.call(side, "nothing-of-that-name", streamed=streamed)
    with pytest.raises(sdk.BadRequestError):
        callers.call(side, "", streamed=streamed)
    stranger.close()
    narrow.close()


@pytest.mark.parametrize("side", [CHAT, RESPONSES, MESSAGES], ids=lambda side: side.name)
def test_time_outs_and_empty_pools(stage: Stage, callers: Callers, side: Side) -> None:
    model = stage.model(side, "qa")
    stage.script(side, model, [silence()])
    kind: Any = anthropic.GatewayTimeoutError if side is MESSAGES else openai.InternalServerError
    with pytest.raises(kind) as caught:
        callers.call(side, model, streamed=True)
    assert caught.value.response.status_code == 504
    limited = stage.model(side)
    stage.script(side, limited, [failing(side, 429, ("retry-after", "20"))])
    sdk = anthropic if side is MESSAGES else openai
    with pytest.raises(sdk.RateLimitError) as rate:
        callers.call(side, limited, streamed=True)
    assert rate.value.response.headers["retry-after"] == "20"
    with pytest.raises(sdk.InternalServerError) as empty:
        callers.call(side, limited, streamed=True)
    assert empty.value.status_code == 503
    assert empty.value.response.headers["retry-after"]


def test_retry_after_makes_the_sdk_try_again(stage: Stage) -> None:
    """With retries on, a refusal that passes is not seen by the application."""
    model = stage.model(CHAT)
    refused = failing(CHAT, 429, ("retry-after-ms", "1100"), ("retry-after", "1"))
    stage.script(CHAT, model, [refused, body(json.dumps(CHAT.whole()).encode())])
    base = f"http://127.0.0.1:{stage.gateway.port}/v1"
    with openai.OpenAI(base_url=base, api_key=settings.KEY, max_retries=3, timeout=15) as client:
        arguments = CHAT.request(model, stream=False)
        assert client.chat.completions.create(**arguments).choices[0].message.content == "Hello"


def test_a_cut_stream_raises_in_chat(stage: Stage, callers: Callers) -> None:
    script = CHAT.script()
    model = stage.model(CHAT)
    stage.script(CHAT, model, [stream(script.opening, script.deltas, CUT)])
    with pytest.raises(openai.APIError, match=FAILED) as caught:
        callers.call(CHAT, model, streamed=True)
    assert not isinstance(caught.value, openai.APIConnectionError)
    assert (caught.value.type, caught.value.code) == ("api_error", "stream_interrupted")


def test_a_cut_stream_raises_in_messages(stage: Stage, callers: Callers) -> None:
    script = MESSAGES.script()
    model = stage.model(MESSAGES)
    stage.script(MESSAGES, model, [stream(script.opening, script.deltas, CUT)] * 2)
    with pytest.raises(anthropic.APIStatusError, match=FAILED) as caught:
        callers.call(MESSAGES, model, streamed=True)
    assert (caught.value.status_code, caught.value.type) == (200, "api_error")
    arguments = MESSAGES.request(model)
    del arguments["stream"]
    with pytest.raises(anthropic.APIError), callers.anthropic.messages.stream(**arguments) as helper:
        helper.get_final_message()


def test_a_cut_stream_ends_in_response_failed(stage: Stage, callers: Callers) -> None:
    """The Python SDK yields it as an event; its helper raises since no `response.completed` came."""
    script = RESPONSES.script()
    model = stage.model(RESPONSES)
    stage.script(RESPONSES, model, [stream(script.opening, script.deltas, CUT)] * 2)
    arguments = RESPONSES.request(model)
    del arguments["stream"]
    events = list(callers.openai.responses.create(**arguments, stream=True))
    last = events[-1]
    assert last.type == "response.failed"
    assert last.response.error is not None
    assert (last.response.error.code, last.response.error.message) == ("server_error", FAILED)
    with pytest.raises(RuntimeError), callers.openai.responses.stream(**arguments) as helper:
        helper.get_final_response()


@pytest.mark.parametrize("side", [CHAT, RESPONSES, MESSAGES], ids=lambda side: side.name)
def test_every_channel_failing_after_a_keepalive(stage: Stage, callers: Callers, side: Side) -> None:
    model = stage.model(side)
    late = Answer((b"{}",), 503, JSON, Framing.LENGTH, before=(Pause(1.5),))
    stage.script(side, model, [late])
    match side.name:
        case "chat":
            with pytest.raises(openai.APIError) as caught:
                callers.call(side, model, streamed=True)
            assert caught.value.code == "overloaded"
        case "messages":
            with pytest.raises(anthropic.APIStatusError) as status:
                callers.call(side, model, streamed=True)
            assert status.value.type == "overloaded_error"
        case _:
            arguments = side.request(model)
            del arguments["stream"]
            events = list(callers.openai.responses.create(**arguments, stream=True))
            assert [event.type for event in events] == ["response.created", "response.failed"]


def test_an_upstreams_own_error_event_raises_with_its_words(stage: Stage, callers: Callers) -> None:
    model = stage.model(MESSAGES)
    script = MESSAGES.script()
    error = n.aerr("overloaded_error", "Overloaded")
    stage.script(MESSAGES, model, [stream(script.opening, script.deltas, error)])
    with pytest.raises(anthropic.APIStatusError) as caught:
        callers.call(MESSAGES, model, streamed=True)
    assert caught.value.type == "overloaded_error"
    chat = stage.model(CHAT)
    script = CHAT.script()
    stage.script(CHAT, chat, [stream(script.opening, script.deltas, CHAT.error_event("boom"))])
    with pytest.raises(openai.APIError, match="boom"):
        callers.call(CHAT, chat, streamed=True)


@pytest.mark.parametrize("side", [CHAT, RESPONSES, MESSAGES], ids=lambda side: side.name)
@pytest.mark.parametrize("size", [0, 1, 7, 64])
def test_the_scripts_of_these_tests_please_the_sdks_themselves(stage: Stage, side: Side, size: int) -> None:
    """Straight from the scripted upstream, without the gateway: the judges are used rightly."""
    direct = Callers(stage)
    channel = f"direct-{side.tag}-{size}"
    base = stage.upstream.base(channel)
    direct.openai.base_url = f"{base}/v1"
    direct.anthropic.base_url = base
    content = side.script("m").bytes()
    stage.upstream.script(channel, "m", Answer(pieces(content, size or len(content))))
    events = direct.call(side, "m", streamed=True)
    assert isinstance(events, list)
    assert len(events) > 3
    direct.close()


def test_keepalives_between_events_with_ids_do_no_harm(stage: Stage, callers: Callers) -> None:
    """A comment with a blank line would be read as an empty event by an SDK that has seen an id."""

    def paused(side: Side) -> None:
        model = stage.model(side)
        script = side.script(model)
        events = [b"id: %d\n%b" % (number, event) for number, event in enumerate(script.all)]
        middle = len(script.opening) + 1
        stage.script(side, model, [stream(events[:middle], Pause(2.4), events[middle:])])
        received = callers.call(side, model, streamed=True)
        assert isinstance(received, list)
        assert len(received) == sum(b"[DONE]" not in event and b'"ping"' not in event for event in events)

    with ThreadPoolExecutor(3) as threads:
        list(threads.map(paused, (CHAT, RESPONSES, MESSAGES)))
