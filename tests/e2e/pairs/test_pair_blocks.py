"""Answers of chat and messages channels come out as whole blocks and items, in whatever order they came."""

import json
from typing import Any

import pytest
from tests.harness import notation as n
from tests.harness.crossing import MODES, Crossed, cross
from tests.harness.dialects import CHAT, MESSAGES, RESPONSES, Side
from tests.harness.heard import Call, Counts, Heard
from tests.harness.pairs import Pair, finish, over
from tests.harness.script import body
from tests.harness.stage import Stage
from tests.harness.together import together

by_clients_of_chat = pytest.mark.parametrize("client", [MESSAGES, RESPONSES], ids=lambda side: side.name)
USAGE = n.u({"prompt_tokens": 5, "completion_tokens": 4, "total_tokens": 9})


def _call(number: int, args: str | None = None) -> bytes:
    """The start of the call with that number; its name tells it too."""
    return n.k(n.t(number, f"call_{number}", f"tool_{number}", args))


def _more(number: int, args: str) -> bytes:
    return n.k(n.t(number, None, None, args))


def _ended(reason: str = "tool_calls") -> list[bytes]:
    return [n.k({}, reason), USAGE, n.DONE]


async def _heard(
    stage: Stage, client: Side, channel: Side, steps: list[bytes], *, modes: tuple[str, ...] = MODES
) -> Heard:
    """What the caller gets: the same as a stream, as a stream gathered, and as a whole answer."""
    answers = [(await cross(stage, Pair(client, channel), steps, mode=mode)).heard for mode in modes]
    for mode, other in zip(modes[1:], answers[1:], strict=True):
        got, wanted = _comparable(other), _comparable(answers[0])
        assert got == wanted, mode
    return answers[0]


def _comparable(heard: Heard) -> Any:
    text, thought, refusal, calls, reason, counts = heard.said()
    return text, thought, refusal, [(name, json.loads(args)) for _, name, args in calls], reason, counts


def _inputs(heard: Heard) -> list[tuple[str, Any]]:
    return [(call.name, json.loads(call.input)) for call in heard.calls]


@by_clients_of_chat
@pytest.mark.parametrize("member", ["reasoning_content", "reasoning"])
async def test_b020_reasoning_first(crossing: Stage, client: Side, member: str) -> None:
    steps = [n.k({"role": "assistant", member: "think"}), n.k({"content": "answer"}), *_ended("stop")]
    heard = await _heard(crossing, client, CHAT, steps, modes=("stream", "gathered"))
    assert heard.parts == ["thought", "text"]
    assert (heard.thought, heard.text, heard.finish) == ("think", "answer", finish(client, "stop"))
    assert heard.counts == Counts(5, output=4)
    assert heard.carriers[0].startswith("tgr1.")


@by_clients_of_chat
async def test_b020_reasoning_in_both_members_and_details_is_told_once(crossing: Stage, client: Side) -> None:
    details = [{"type": "reasoning.text", "text": "think", "index": 0, "format": None}]
    both = {"reasoning": "think", "reasoning_content": "think", "reasoning_details": details}
    steps = [n.k({"role": "assistant", "content": "", **both}), n.k({"content": "answer"}), *_ended("stop")]
    heard = await _heard(crossing, client, CHAT, steps, modes=("stream", "gathered"))
    assert (heard.thought, heard.text) == ("think", "answer")


@by_clients_of_chat
async def test_b021_nothing_is_lost_where_the_kind_changes(crossing: Stage, client: Side) -> None:
    steps = [
        *(n.k({"reasoning_content": piece}) for piece in ("AA", "BB")),
        *(n.k({"content": piece}) for piece in ("CC", "DD")),
        _call(0, '{"x"'),
        _more(0, ":1}"),
        *_ended(),
    ]
    heard = await _heard(crossing, client, CHAT, steps)
    assert (heard.thought, heard.text, _inputs(heard)) == ("AABB", "CCDD", [("tool_0", {"x": 1})])
    assert heard.parts == ["thought", "text", "call"]


@by_clients_of_chat
async def test_b022_b033_parallel_calls(crossing: Stage, client: Side) -> None:
    """In a chunk each, and all in one chunk."""
    one_by_one = [_call(number, f'{{"n":{number}}}') for number in range(3)]
    calls = [call for number in range(3) for call in _calls_of(one_by_one[number])]
    for steps in (one_by_one, [n.k({"tool_calls": calls})]):
        heard = await _heard(crossing, client, CHAT, [*steps, *_ended()])
        assert _inputs(heard) == [(f"tool_{number}", {"n": number}) for number in range(3)]
        assert [call.id for call in heard.calls] == ["call_0", "call_1", "call_2"]
        assert heard.finish == finish(client, "calls")


def _calls_of(event: bytes) -> list[Any]:
    calls: list[Any] = json.loads(event[6:])["choices"][0]["delta"]["tool_calls"]
    return calls


@by_clients_of_chat
async def test_b024_interleaved_fragments(crossing: Stage, client: Side) -> None:
    steps = [_call(0, ""), _call(1, ""), _more(0, '{"x":1}'), _more(1, '{"y":2}'), *_ended()]
    heard = await _heard(crossing, client, CHAT, steps)
    assert _inputs(heard) == [("tool_0", {"x": 1}), ("tool_1", {"y": 2})]
    woven = [_call(0, '{"x"'), _call(1, '{"y"'), _more(0, ":"), _more(1, ":"), _more(1, "2}"), _more(0, "1}")]
    heard = await _heard(crossing, client, CHAT, [*woven, *_ended()])
    assert _inputs(heard) == [("tool_0", {"x": 1}), ("tool_1", {"y": 2})]


@by_clients_of_chat
async def test_b025_a_call_in_the_first_chunk(crossing: Stage, client: Side) -> None:
    (call,) = _calls_of(_call(0, ""))
    first = n.k({"role": "assistant", "content": None, "tool_calls": [call]})
    heard = await _heard(crossing, client, CHAT, [first, _more(0, "{}"), *_ended()])
    assert heard.parts == ["call"]
    assert _inputs(heard) == [("tool_0", {})]


@by_clients_of_chat
async def test_b026_id_and_name_on_every_fragment(crossing: Stage, client: Side) -> None:
    steps = [*(_call(0, piece) for piece in ('{"q"', ":", "1}")), *_ended()]
    heard = await _heard(crossing, client, CHAT, steps, modes=("stream", "gathered"))
    assert heard.calls == [Call("call_0", "tool_0", heard.calls[0].input)]
    assert _inputs(heard) == [("tool_0", {"q": 1})]


@by_clients_of_chat
@pytest.mark.parametrize("arguments", [{"city": "Oslo"}, '{"city": "Oslo"}'], ids=["object", "string"])
async def test_b029_arguments_as_an_object(crossing: Stage, client: Side, arguments: object) -> None:
    call = {"index": 0, "id": "a", "type": "function", "function": {"name": "f", "arguments": arguments}}
    steps = [n.k({"tool_calls": [call]}), *_ended()]
    heard = await _heard(crossing, client, CHAT, steps)
    assert _inputs(heard) == [("f", {"city": "Oslo"})]


NO_ARGUMENTS = {
    "chat": [n.k(n.t(0, "a", "f", "")), *_ended()],
    "chat without the member": [n.k(n.t(0, "a", "f", None)), *_ended()],
    "messages": [
        n.ms(),
        n.bs(0, {"type": "tool_use", "id": "a", "name": "f", "input": {}}),
        n.be(0),
        n.md("tool_use"),
        n.me,
    ],
    "messages with an empty delta": [
        n.ms(),
        n.bs(0, {"type": "tool_use", "id": "a", "name": "f", "input": {}}),
        n.bd(0, n.args("")),
        n.be(0),
        n.md("tool_use"),
        n.me,
    ],
}


@pytest.mark.parametrize("told", NO_ARGUMENTS)
async def test_b030_a_call_without_arguments(crossing: Stage, told: str) -> None:
    channel = CHAT if told.startswith("chat") else MESSAGES
    modes = ("stream", "gathered") if told == "chat without the member" else MODES
    for pair in over(channel):
        heard = await _heard(crossing, pair.client, channel, NO_ARGUMENTS[told], modes=modes)
        assert heard.calls == [Call("a", "f", "{}")]
        assert heard.finish == finish(pair.client, "calls")


@by_clients_of_chat
async def test_b032_cut_arguments_in_a_stream(crossing: Stage, client: Side) -> None:
    for mode in ("stream", "whole"):
        if (client, mode) == (MESSAGES, "whole"):
            continue
        steps = [_call(0, '{"cmd":"ls'), n.k({}, "length"), n.DONE]
        heard = (await cross(crossing, Pair(client, CHAT), steps, mode=mode)).heard
        assert [call.input for call in heard.calls] == ['{"cmd":"ls']
        assert heard.finish == finish(client, "limit")
        if client is RESPONSES:
            assert heard.whole["output"][0]["status"] == "incomplete"


@pytest.mark.parametrize("mode", ["whole", "gathered"])
async def test_b032_cut_arguments_are_never_an_empty_object(crossing: Stage, mode: str) -> None:
    """A whole message cannot hold them, so the upstream has failed."""
    steps = [_call(0, '{"cmd":"ls'), n.k({}, "length"), n.DONE]
    played = (await cross(crossing, Pair(MESSAGES, CHAT), steps, mode=mode)).played
    assert played.reply.status == 502
    assert (await played.row())["outcome"] == "failed"


@pytest.mark.parametrize("client", [CHAT, RESPONSES], ids=lambda side: side.name)
async def test_b035_text_before_thinking(crossing: Stage, client: Side) -> None:
    steps = [
        n.ms(),
        *(n.bs(0, "text"), n.bd(0, n.text("\n")), n.be(0)),
        *(n.bs(1, "thinking"), n.bd(1, n.think("t")), n.bd(1, n.sig("S")), n.be(1)),
        *(n.bs(2, "text"), n.bd(2, n.text("a")), n.be(2)),
        *(n.md("end_turn"), n.me),
    ]
    heard = await _heard(crossing, client, MESSAGES, steps)
    assert (heard.thought, heard.text.replace("\n", "")) == ("t", "a")
    assert heard.text.startswith("\n")
    assert len(heard.carriers) == 1
    assert "S" not in heard.carriers


@by_clients_of_chat
async def test_b036_a_finish_without_content(crossing: Stage, client: Side) -> None:
    steps = [n.k({"role": "assistant"}), n.k({}, "stop"), n.DONE]
    heard = await _heard(crossing, client, CHAT, steps, modes=("stream", "gathered"))
    assert (heard.text, heard.calls, heard.finish) == ("", [], finish(client, "stop"))


@by_clients_of_chat
async def test_b073_chunks_without_choices(crossing: Stage, client: Side) -> None:
    odd = {"id": "", "object": "", "model": "", "prompt_filter_results": [], "choices": []}
    null = {**odd, "choices": None}
    steps = [n.data(odd), n.data(null), n.k({"role": "assistant", "content": "a"}), *_ended("stop")]
    crossed = await cross(crossing, Pair(client, CHAT), steps)
    assert crossed.heard.text == "a"
    assert crossed.heard.whole["id"]
    assert crossed.heard.whole["model"] == crossed.played.model


@by_clients_of_chat
async def test_content_as_parts_and_odd_finishes(crossing: Stage, client: Side) -> None:
    """Vendors' habits: content as a list, the finish told twice, usage in every chunk and in the finish."""
    usage = {"prompt_tokens": 5, "completion_tokens": 4, "total_tokens": 9}

    def chunk(delta: Any, reason: str | None = None) -> bytes:
        return n.data(n.chunk([{"index": 0, "delta": delta, "finish_reason": reason}], usage=usage))

    part = {"role": "assistant", "content": [{"type": "text", "text": "a"}]}
    steps = [chunk(part), chunk({"content": "b"}, ""), chunk({}, "stop"), chunk({}, "stop"), n.DONE]
    heard = await _heard(crossing, client, CHAT, steps, modes=("stream",))
    assert (heard.text, heard.counts) == ("ab", Counts(5, output=4))


@by_clients_of_chat
async def test_ids_that_are_missing_or_doubled(crossing: Stage, client: Side) -> None:
    calls = [
        {"index": 0, "type": "function", "function": {"name": "f", "arguments": '{"a":1}'}},
        {"index": 1, "id": "x", "type": "function", "function": {"name": "g", "arguments": '{"b":1}'}},
        {"index": 2, "id": "x", "type": "function", "function": {"name": "h", "arguments": '{"c":1}'}},
    ]
    steps = [*(n.k({"tool_calls": [call]}) for call in calls), *_ended()]
    heard = await _heard(crossing, client, CHAT, steps, modes=("stream", "gathered"))
    assert _inputs(heard) == [("f", {"a": 1}), ("g", {"b": 1}), ("h", {"c": 1})]
    identifiers = [call.id for call in heard.calls]
    assert len(set(identifiers)) == 3
    assert all(identifiers)


async def test_a_whole_answer_with_odd_calls(crossing: Stage) -> None:
    """Arguments as an object, no id, finish `stop`: in a whole answer as well."""
    call = {"type": "function", "function": {"name": "f", "arguments": {"city": "Oslo"}}}

    async def odd(client: Side, *, streamed: bool) -> None:
        whole = CHAT.whole()
        whole["choices"][0]["message"] |= {"content": None, "tool_calls": [call]}
        answer = body(json.dumps(whole).encode())
        played = await crossing.play(client, answer, channel=CHAT, stream=streamed)
        heard = Crossed(played, {}).heard
        assert _inputs(heard) == [("f", {"city": "Oslo"})]
        assert heard.calls[0].id
        assert heard.finish == finish(client, "calls")

    await together(
        {
            f"{client.name}, stream {streamed}": odd(client, streamed=streamed)
            for client in (MESSAGES, RESPONSES)
            for streamed in (True, False)
        }
    )
