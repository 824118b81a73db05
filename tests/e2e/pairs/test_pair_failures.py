"""Failures in every pair: told in the caller's words, and hidden as long as nothing has been shown."""

import pytest
from tests.harness import notation as n
from tests.harness.crossing import Crossed
from tests.harness.dialects import (
    OVERLOADED,
    RESPONSES,
    SIDES,
    Side,
    check_refusal,
)
from tests.harness.notation import Json
from tests.harness.pairs import CROSS, NINE, Pair, over
from tests.harness.script import CUT, EOF, stream
from tests.harness.stage import Stage
from tests.harness.together import together

every_cross_pair = pytest.mark.parametrize("pair", CROSS, ids=lambda pair: pair.name)
every_pair = pytest.mark.parametrize("pair", NINE, ids=lambda pair: pair.name)


def _told(client: Side, error: Json) -> tuple[object, object, str]:
    return error.get("type"), error.get("code"), str(error["message"])


EVENTS: dict[str, dict[str, tuple[list[bytes], str]]] = {
    "messages": {
        "overloaded": ([n.aerr("overloaded_error", "Overloaded")], "overloaded"),
        "limited": ([n.aerr("rate_limit_error", "slow down")], "limited"),
        "server": ([n.aerr("api_error", "boom")], "server"),
        "invalid": ([n.aerr("invalid_request_error", "no such thing")], "invalid"),
    },
    "chat": {
        "server": ([n.data({"error": {"message": "boom", "type": "server_error", "code": 500}})], "server"),
        "and DONE": (
            [n.data({"error": {"message": "boom", "type": "server_error", "code": 500}}), n.DONE],
            "server",
        ),
        "limited": (
            [n.data({"error": {"message": "slow down", "type": "x", "code": "rate_limit_exceeded"}})],
            "limited",
        ),
    },
    "responses": {
        "limited": (
            n.r(
                (
                    "response.failed",
                    n.response("failed", error={"code": "rate_limit_exceeded", "message": "slow down"}),
                ),
                start=5,
            ),
            "limited",
        ),
        "flat": (
            n.r(("error", {"code": "server_error", "message": "boom", "param": None}), start=5),
            "server",
        ),
        "nested": (
            n.r(("error", {"error": {"type": "server_error", "message": "boom"}}), start=5),
            "server",
        ),
    },
}
FORMS: dict[str, dict[str, tuple[object, object]]] = {
    "overloaded": {
        "chat": ("overloaded_error", "overloaded"),
        "responses": (None, "server_error"),
        "messages": ("overloaded_error", None),
    },
    "limited": {
        "chat": ("rate_limit_error", "rate_limit_exceeded"),
        "responses": (None, "rate_limit_exceeded"),
        "messages": ("rate_limit_error", None),
    },
    "server": {
        "chat": ("api_error", "upstream_error"),
        "responses": (None, "server_error"),
        "messages": ("api_error", None),
    },
    "invalid": {
        "chat": ("invalid_request_error", None),
        "responses": (None, "invalid_prompt"),
        "messages": ("invalid_request_error", None),
    },
}
WORDS = {"overloaded": "Overloaded", "limited": "slow down", "server": "boom", "invalid": "no such thing"}


@every_cross_pair
async def test_b041_b090_b091_error_events_after_output(crossing: Stage, pair: Pair) -> None:
    async def told(events: list[bytes], kind: str) -> None:
        script = pair.channel.script()
        answer = stream(script.opening, script.deltas[:1], events, EOF)
        played = await crossing.play(pair.client, answer, channel=pair.channel, b=[])
        last = played.stream.events[-1]
        error = pair.client.error_of(last)
        assert error is not None
        assert _told(pair.client, error) == (*FORMS[kind][pair.client.name], WORDS[kind])
        assert played.text == "Hel"
        assert not any(pair.client.is_end(event) for event in played.stream.events)
        if pair.client is RESPONSES:
            numbers = [value["sequence_number"] for value in played.stream.json()]
            assert numbers == list(range(len(numbers)))
        assert played.at_b == []
        row = await played.row()
        assert (row["status"], row["outcome"]) == (200, "interrupted")
        assert [attempt["outcome"] for attempt in row["attempts"]] == ["failed"]

    events = EVENTS[pair.channel.name]
    await together({name: told(steps, kind) for name, (steps, kind) in events.items()})


def _early(channel: Side) -> dict[str, list[bytes]]:
    """Failures before anything useful."""
    match channel.name:
        case "chat":
            error = n.data({"error": {"message": "Overloaded", "code": "server_is_overloaded"}})
            return {"first": [error], "after the role": [n.k({"role": "assistant", "content": ""}), error]}
        case "messages":
            error = n.aerr("overloaded_error", "Overloaded")
            return {
                "first": [error],
                "after ping": [n.ms(), n.ping, error],
                "in a block": [n.ms(), n.bs(0, "text"), error],
            }
        case _:
            failed = n.response("failed", error={"code": "server_is_overloaded", "message": "Overloaded"})
            opening = [n.created(), n.in_progress()]
            return {
                "first": n.r(("response.failed", failed)),
                "after the opening": n.r(*opening, ("response.failed", failed)),
                "in an item": n.r(*opening, n.added(n.message_item()), ("response.failed", failed)),
            }


@every_cross_pair
async def test_b092_an_error_before_output_moves_on(crossing: Stage, pair: Pair) -> None:
    async def moved(steps: list[bytes]) -> None:
        good = stream(pair.channel.script(pieces=("from", " B")).all)
        played = await crossing.play(pair.client, stream(steps), channel=pair.channel, b=[good])
        heard = Crossed(played, {}).heard
        assert heard.text == "from B"
        row = await played.row()
        assert (row["outcome"], row["output_tokens"]) == ("completed", 7)
        assert [attempt["outcome"] for attempt in row["attempts"]] == ["failed", "served"]

    async def refused(steps: list[bytes]) -> None:
        played = await crossing.play(pair.client, stream(steps), channel=pair.channel)
        check_refusal(pair.client, played.reply, OVERLOADED)

    scenarios = {f"{name}, B": moved(steps) for name, steps in _early(pair.channel).items()}
    scenarios |= {f"{name}, alone": refused(steps) for name, steps in _early(pair.channel).items()}
    await together(scenarios)


@every_cross_pair
async def test_b098_a_cut_before_output_moves_on(crossing: Stage, pair: Pair) -> None:
    """Wherever it comes in the opening: one opening only, and B's text alone."""
    opening = pair.channel.script().opening

    async def moved(count: int) -> None:
        good = stream(pair.channel.script(pieces=("from", " B")).all)
        bad = stream(opening[:count], CUT)
        played = await crossing.play(pair.client, bad, channel=pair.channel, b=[good])
        assert Crossed(played, {}).heard.text == "from B"
        assert len(played.at_b) == 1

    await together({f"{count} events": moved(count) for count in range(len(opening) + 1)})


def _useful(channel: Side) -> dict[str, list[bytes]]:
    """What shows that the model is at work."""
    call: Json = {"type": "function_call", "id": "fc_1", "call_id": "a", "name": "f", "arguments": ""}
    match channel.name:
        case "chat":
            return {
                "a call": [n.k(n.t(0, "a", "f", ""))],
                "reasoning": [n.k({"reasoning_content": "x"})],
                "a refusal": [n.k({"refusal": "x"})],
            }
        case "messages":
            tool: Json = {"type": "tool_use", "id": "a", "name": "f", "input": {}}
            return {
                "a call": [n.ms(), n.bs(0, tool)],
                "thinking": [n.ms(), n.bs(0, "thinking"), n.bd(0, n.think("x"))],
                "text": [n.ms(), n.bs(0, "text"), n.bd(0, n.text("x"))],
            }
        case _:
            return {
                "a call": n.r(n.created(), n.added(call)),
                "text": n.r(n.created(), n.added(n.message_item()), n.text_delta("x")),
            }


def _not_useful(channel: Side) -> dict[str, list[bytes]]:
    match channel.name:
        case "chat":
            return {
                "a role": [n.k({"role": "assistant"})],
                "an empty delta": [n.k({"content": ""})],
                "unknown": [n.k({"vendor": 1})],
            }
        case "messages":
            unknown = n.named("mystery", {"type": "mystery"})
            return {
                "thinking opens": [n.ms(), n.bs(0, "thinking")],
                "ping": [n.ms(), n.ping],
                "an empty delta": [n.ms(), n.bs(0, "text"), n.bd(0, n.text(""))],
                "unknown": [n.ms(), unknown],
            }
        case _:
            reasoning: Json = {"type": "reasoning", "id": "rs_1", "summary": []}
            return {
                "reasoning opens": n.r(n.created(), n.added(reasoning)),
                "a message opens": n.r(n.created(), n.added(n.message_item()), n.part_added()),
                "unknown": n.r(n.created(), ("response.mystery", {})),
            }


@every_cross_pair
async def test_c037_what_commits_the_channel(crossing: Stage, pair: Pair) -> None:
    good = stream(pair.channel.script(pieces=("from", " B")).all)

    async def commits(steps: list[bytes]) -> None:
        played = await crossing.play(pair.client, stream(steps, CUT), channel=pair.channel, b=[])
        assert pair.client.error_of(played.stream.events[-1])
        assert played.at_b == []

    async def moves(steps: list[bytes]) -> None:
        played = await crossing.play(pair.client, stream(steps, CUT), channel=pair.channel, b=[good])
        assert Crossed(played, {}).heard.text == "from B"

    scenarios = {name: commits(steps) for name, steps in _useful(pair.channel).items()}
    scenarios |= {name: moves(steps) for name, steps in _not_useful(pair.channel).items()}
    await together(scenarios)


def test_every_channel_has_its_errors() -> None:
    assert all(EVENTS[pair.channel.name] for side in SIDES for pair in over(side))
