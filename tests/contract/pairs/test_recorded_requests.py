"""A caller's request must reach a channel of another protocol as recorded, and warnings tell what it lost."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from tests.contract.pairs.recordings import SCENARIOS, Corpus, requests, without_nulls
from tests.harness import notation as n
from tests.harness.client import Reply
from tests.harness.crossing import whole_of
from tests.harness.dialects import CHAT, MESSAGES, RESPONSES, SIDES, Side
from tests.harness.heard import gathered, heard
from tests.harness.notation import Json
from tests.harness.script import Answer, stream
from tests.harness.sse import read

BY_NAME = {side.name: side for side in SIDES}
BUDGET = ["approximated:thinking.budget_tokens"]
WARNINGS = {
    ("05-reasoning-tool", "messages_to_chat"): BUDGET,
    ("05-reasoning-tool", "messages_to_responses"): BUDGET,
    ("12-multi-turn", "chat_to_messages"): [
        "clamped:temperature",
        "dropped:messages[1].content[1].image_url.detail",
    ],
    ("12-multi-turn", "messages_to_chat"): [
        "approximated:messages[2].content[1].content[1]",
        "approximated:messages[2].content[1].is_error",
    ],
    ("12-multi-turn", "messages_to_responses"): ["approximated:messages[2].content[1].is_error"],
    ("12-multi-turn", "responses_to_chat"): ["approximated:input[4].output[1]"],
    ("12-multi-turn", "responses_to_messages"): ["approximated:text.format", "dropped:text.verbosity"],
}
"""What each recorded request loses; all others lose nothing."""


def _recorded(*, carriers: bool) -> Iterator[tuple[str, str]]:
    for scenario in SCENARIOS:
        recorded = requests(scenario)
        if ("carriers" in recorded) is carriers:
            yield from ((scenario, pair) for pair in recorded.get("upstream", {}))


def _sides(pair: str) -> tuple[str, Side, Side]:
    """The client's request by its name, the client, and the channel."""
    request, _, channel = pair.partition("_to_")
    return request, BY_NAME[request.partition(".")[0]], BY_NAME[channel]


def _check(got: Json, wanted: Json) -> None:
    """The same JSON; a text that asks for JSON may be worded as it likes."""
    for block, other in zip(got.get("system") or [], wanted.get("system") or [], strict=False):
        if other["text"] == "{{json_object_instruction}}":
            assert block["text"]
            other["text"] = block["text"]
    assert without_nulls(got) == without_nulls(wanted)


def _warnings(reply: Reply) -> list[str]:
    header = reply.header("x-tidegate-warnings")
    return sorted(header.split(", ")) if header else []


@pytest.mark.parametrize(("scenario", "pair"), list(_recorded(carriers=False)))
async def test_the_channel_gets_what_was_recorded(corpus: Corpus, scenario: str, pair: str) -> None:
    request, client, channel = _sides(pair)
    recorded = requests(scenario)
    answer = stream(channel.script().all)
    reply = await corpus.ask(client, channel, recorded["client"][request], answer)
    assert reply.status == 200, reply.body
    _check(corpus.got(channel), recorded["upstream"][pair])
    assert _warnings(reply) == WARNINGS.get((scenario, pair), [])


@pytest.mark.parametrize(("scenario", "pair"), list(_recorded(carriers=False)))
async def test_without_a_stream_the_channel_gets_the_same(corpus: Corpus, scenario: str, pair: str) -> None:
    request, client, channel = _sides(pair)
    recorded = requests(scenario)
    body = {**recorded["client"][request], "stream": False}
    body.pop("stream_options", None)
    reply = await corpus.ask(client, channel, body, whole_of(channel, channel.script().all))
    assert reply.status == 200, reply.body
    got, wanted = corpus.got(channel), recorded["upstream"][pair]
    for asked in (got, wanted):  # whether the upstream is asked for a stream is the gateway's choice
        asked.pop("stream", None)
        asked.pop("stream_options", None)
    _check(got, wanted)


def _thought(channel: Side) -> list[bytes]:
    """The reasoning that the recorded carriers hold, and the call that it leads to."""
    match channel.name:
        case "chat":
            said = n.k({"role": "assistant", "reasoning_content": "Need the tool."})
            return [said, n.k(n.t(0, "call_1", "lookup", "{}")), n.k({}, "tool_calls"), n.DONE]
        case "responses":
            summary = [{"type": "summary_text", "text": "Need the tool."}]
            item: Json = {"type": "reasoning", "id": "rs_up1", "summary": summary}
            item["encrypted_content"] = "enc_UPSTREAM_1"
            call = {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "lookup"}
            call |= {"arguments": "{}", "status": "completed"}
            final = n.response("completed", output=[item, call])
            return n.r(n.created(), n.item_done(item), n.item_done(call, 1), ("response.completed", final))
        case _:
            tool: Json = {"type": "tool_use", "id": "call_1", "name": "lookup", "input": {}}
            thinking = [
                n.bs(0, "thinking"),
                n.bd(0, n.think("Need the tool.")),
                n.bd(0, n.sig("sig_UPSTREAM_1")),
            ]
            return [n.ms(), *thinking, n.be(0), n.bs(1, tool), n.be(1), n.md("tool_use"), n.me]


async def _carrier(corpus: Corpus, client: Side, channel: Side) -> str:
    """What a first turn gives the client to bring back."""
    requested = client.request("", store=False) if client is RESPONSES else client.request("")
    reply = await corpus.ask(client, channel, requested, Answer(_thought(channel)))
    told = heard(client, gathered(client, read(reply.body)))
    assert told.carriers
    assert all(carrier.startswith("tgr1.") for carrier in told.carriers)
    return told.carriers[0]


MAKERS: dict[str, Side] = {"m": MESSAGES, "r": RESPONSES, "c": CHAT}


@pytest.mark.parametrize(("scenario", "pair"), list(_recorded(carriers=True)))
async def test_reasoning_comes_back_to_who_made_it(corpus: Corpus, scenario: str, pair: str) -> None:
    request, client, channel = _sides(pair)
    maker = request.partition(".")[2]
    carrier = await _carrier(corpus, client, MAKERS[maker])
    recorded = requests(scenario)
    body: Any = json.loads(
        json.dumps(recorded["client"][request]).replace(f"{{{{carrier_{maker}}}}}", carrier)
    )
    assert carrier in json.dumps(body)
    reply = await corpus.ask(client, channel, body, Answer(channel.script().all), replay=True)
    assert reply.status == 200, reply.body
    got, wanted = corpus.got(channel), recorded["upstream"][pair]
    if channel is MESSAGES:
        wanted["max_tokens"] = got["max_tokens"]
    _check(got, wanted)
    assert _warnings(reply) == []


def test_every_pair_is_recorded() -> None:
    pairs = {tuple(side.name for side in _sides(pair)[1:]) for _, pair in _recorded(carriers=False)}
    assert len(pairs) == 6
    assert len(list(_recorded(carriers=True))) == 12
