"""The official Python SDKs in all nine pairs: what their stream helpers make of it, and whole answers."""

import json
from collections.abc import Iterator
from typing import Any

import anthropic
import openai
import pytest
from tests.contract.pairs.simulated import Caller, Simulated
from tests.harness.dialects import CHAT, MESSAGES, RESPONSES, SIDES, Side
from tests.harness.heard import Heard
from tests.harness.pairs import NINE, Pair, finish

every_pair = pytest.mark.parametrize("pair", NINE, ids=lambda pair: pair.name)
REFUSAL = "I'm sorry, I can't help with that."


@pytest.fixture(scope="module")
def callers(provider: Simulated) -> Iterator[dict[str, Caller]]:
    made = {side.name: Caller(side, provider) for side in SIDES}
    yield made
    for caller in made.values():
        caller.close()


@pytest.fixture(scope="module")
def easy(provider: Simulated) -> Iterator[dict[str, Caller]]:
    """For answers of the same protocol that are passed on though no SDK has a type for them."""
    made = {side.name: Caller(side, provider, strict=False) for side in SIDES}
    yield made
    for caller in made.values():
        caller.close()


class Both:
    """One question, asked with the stream helper and without a stream."""

    def __init__(self, caller: Caller, model: str, **asked: Any) -> None:
        self.streamed: Heard = caller.streamed(model, **asked)
        self.whole: Heard = caller.whole(model, **asked)
        assert self.streamed.whole["model"] == self.whole.whole["model"] == model
        assert self._essence(self.streamed) == self._essence(self.whole)
        counts = self.streamed.counts
        assert counts is not None
        assert counts.fresh > 0
        assert counts.output > 0

    @staticmethod
    def _essence(told: Heard) -> Any:
        """Ids are made of the request, which tells whether it wants a stream."""
        calls = [(call.name, json.loads(call.input)) for call in told.calls]
        return told.text, told.thought, told.refusal, calls, told.finish, told.counts


@every_pair
def test_text(provider: Simulated, callers: dict[str, Caller], pair: Pair) -> None:
    both = Both(callers[pair.client.name], provider.model(pair.channel))
    assert both.streamed.text.startswith("This is the simulated provider.")
    assert "北京 and 😀" in both.streamed.text
    assert both.streamed.finish == finish(pair.client, "stop")


@every_pair
def test_a_tool_call(provider: Simulated, callers: dict[str, Caller], pair: Pair) -> None:
    both = Both(callers[pair.client.name], provider.model(pair.channel), tools=["get_weather"])
    (call,) = both.streamed.calls
    assert call.name == "get_weather"
    assert isinstance(json.loads(call.input)["city"], str)
    assert both.streamed.finish == finish(pair.client, "calls")


@every_pair
def test_parallel_tools(provider: Simulated, callers: dict[str, Caller], pair: Pair) -> None:
    model = provider.model(pair.channel, "tools=3;words=4")
    both = Both(callers[pair.client.name], model, tools=["get_weather", "get_time"])
    assert [call.name for call in both.streamed.calls] == ["get_weather", "get_time", "get_weather"]
    assert len({call.id for call in both.streamed.calls}) == 3
    assert len(both.streamed.text.split()) == 4


@every_pair
def test_reasoning(provider: Simulated, callers: dict[str, Caller], pair: Pair) -> None:
    both = Both(callers[pair.client.name], provider.model(pair.channel, "reasoning=9"), thinks=True)
    assert both.streamed.thought.startswith("The request is simple")
    assert len(both.streamed.thought.split()) == 9
    assert both.streamed.text.startswith("This is")
    assert both.streamed.counts is not None
    assert both.streamed.counts.thought == 9
    assert len(both.streamed.carriers) == (0 if pair == Pair(CHAT, CHAT) else 1)


@every_pair
def test_reasoning_and_a_tool_over_two_turns(
    provider: Simulated, callers: dict[str, Caller], pair: Pair
) -> None:
    """The provider refuses reasoning that is not its own."""
    caller = callers[pair.client.name]
    model = provider.model(pair.channel, "check_reasoning;reasoning=5")
    asked: Any = {"tools": ["get_weather"], "thinks": True}
    first = caller.final(model, **asked)
    turns = caller.following(first, "sunny-42")
    second = Both(caller, model, turns=turns, **asked)
    assert "sunny-42" in second.streamed.text
    assert second.streamed.calls == []


@every_pair
def test_a_refusal(provider: Simulated, callers: dict[str, Caller], pair: Pair) -> None:
    both = Both(callers[pair.client.name], provider.model(pair.channel, "refusal"))
    told = both.streamed
    if pair.channel is MESSAGES:
        assert told.finish == finish(pair.client, "filter")
    elif pair.client is MESSAGES:
        assert (told.text, told.finish) == (REFUSAL, "refusal")
    else:
        assert (told.refusal, told.text, told.finish) == (REFUSAL, "", finish(pair.client, "refusal"))


@every_pair
def test_cut_by_the_limit(provider: Simulated, callers: dict[str, Caller], pair: Pair) -> None:
    both = Both(callers[pair.client.name], provider.model(pair.channel, "words=100"), limit=20)
    assert len(both.streamed.text.split()) == 20
    assert both.streamed.finish == finish(pair.client, "limit")


@every_pair
def test_structured_output(provider: Simulated, callers: dict[str, Caller], pair: Pair) -> None:
    """The helpers parse it; the caller's own tools are left alone."""
    both = Both(callers[pair.client.name], provider.model(pair.channel), place=True)
    assert set(json.loads(both.streamed.text)) == {"city", "people"}
    assert both.streamed.finish == finish(pair.client, "stop")
    assert both.streamed.calls == []


KINDS = {
    "overloaded": ("overloaded_error", "overloaded", "server_error", 503, 529),
    "rate_limit": ("rate_limit_error", "rate_limit_exceeded", "rate_limit_exceeded", 429, 429),
    "server": ("api_error", "upstream_error", "server_error", 502, 502),
}


@every_pair
@pytest.mark.parametrize("kind", KINDS)
def test_an_error_in_the_stream(
    provider: Simulated, callers: dict[str, Caller], easy: dict[str, Caller], pair: Pair, kind: str
) -> None:
    same = pair.client is pair.channel
    caller = (easy if same else callers)[pair.client.name]
    type_, code, response_code, status, messages_status = KINDS[kind]
    model = provider.model(pair.channel, f"error_after=3;error={kind};message=so be it")
    if pair.client is RESPONSES:
        failed = caller.final(model)
        assert (failed["status"], failed["error"]["message"]) == ("failed", "so be it")
        assert same or failed["error"]["code"] == response_code
    else:
        sdk: Any = anthropic if pair.client is MESSAGES else openai
        with pytest.raises(sdk.APIError) as caught:
            caller.final(model)
        assert "so be it" in str(caught.value)
        if pair.client is MESSAGES:
            assert same or caught.value.type == type_
        elif not same:
            assert (caught.value.type, caught.value.code) == (type_, code)
    with pytest.raises((openai.APIStatusError, anthropic.APIStatusError)) as refused:
        caller.whole(model)
    error: Any = refused.value
    assert error.status_code == (messages_status if pair.client is MESSAGES else status)


@every_pair
@pytest.mark.parametrize("how", ["clean", "reset", "truncate"])
def test_a_cut_stream(provider: Simulated, callers: dict[str, Caller], pair: Pair, how: str) -> None:
    caller = callers[pair.client.name]
    model = provider.model(pair.channel, f"cut_after=3;cut={how}")
    message = "upstream failed after the response had started"
    if pair.client is RESPONSES:
        failed = caller.final(model)
        assert (failed["status"], failed["error"]["message"]) == ("failed", message)
        return
    sdk: Any = anthropic if pair.client is MESSAGES else openai
    with pytest.raises(sdk.APIError, match=message):
        caller.final(model)


HABITS = ["ids", "crlf", "split=1", "no_space", "bom", "comments", "retry", "done", "no_final_blank", "dated"]


@every_pair
def test_streams_with_odd_habits(provider: Simulated, callers: dict[str, Caller], pair: Pair) -> None:
    more = ["ping", "multiline", "json", "gzip"]
    more += [] if pair.client is pair.channel else ["no_usage", "event_names", "no_event_names"]
    for habit in [*HABITS, *more]:
        told = callers[pair.client.name].streamed(provider.model(pair.channel, f"words=6;{habit}"))
        assert len(told.text.split()) == 6, habit
        assert told.finish == finish(pair.client, "stop"), habit


def test_all_nine_pairs() -> None:
    assert len({(pair.client.name, pair.channel.name) for pair in NINE}) == 9
    sides: tuple[Side, ...] = SIDES
    assert len(sides) == 3
