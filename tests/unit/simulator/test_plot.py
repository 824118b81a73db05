import json
from typing import Any

import msgspec
import pytest

from tidegate.core.protocol import Protocol
from tidegate.simulator.ask import Ask, Auto, Forced, Never, Thinking, Tool, ToolForm
from tidegate.simulator.parameters import Parameters, parse
from tidegate.simulator.plot import Call, Plot, Reasoning, Refused, Search, Stop, Text, plot

from .reading import FUNCTION

ASK = Ask(protocol=Protocol.CHAT, model="sim", digest="d", prompt_tokens=10)
F, G = Tool("f", schema=FUNCTION), Tool("g")


def told(model: str = "sim", **changes: Any) -> Plot:
    wish = parse(model)
    assert isinstance(wish, Parameters)
    return plot(msgspec.structs.replace(ASK, **changes), wish)


def said(found: Plot) -> str:
    return "".join("".join(block.pieces) for block in found.blocks if isinstance(block, Text))


def test_the_same_request_gets_the_same_answer() -> None:
    assert told("sim;reasoning=3;words=9", tools=(F,)) == told("sim;reasoning=3;words=9", tools=(F,))


def test_the_length_is_as_wished_word_by_word_or_in_fewer_events() -> None:
    assert len(said(told("sim;words=7")).split(" ")) == 7
    assert said(told("sim;text=a b;words=5")) == "a b a b a"
    (block,) = told("sim;text=a b c d e;events=2").blocks
    assert block == Text(("a b ", "c d e"))
    assert told("sim;words=0").blocks == (Text(()),)
    assert told("sim;words=0;events=3").tokens.output == 0


def test_tools_are_called_with_arguments_that_fit() -> None:
    found = told(tools=(F, G))
    assert found.stop is Stop.TOOLS
    (call,) = found.blocks
    assert isinstance(call, Call)
    assert (call.tool, json.loads("".join(call.pieces))) == (F, {"city": "Paris", "days": 2})


def test_several_calls_at_once_have_ids_of_their_own() -> None:
    calls = [block for block in told("sim;tools=3", tools=(F, G)).blocks if isinstance(block, Call)]
    assert [call.tool.name for call in calls] == ["f", "g", "f"]
    assert len({call.id for call in calls}) == 3
    assert len(told("sim;tools=3", tools=(F, G), parallel=False).blocks) == 1


@pytest.mark.parametrize(
    ("model", "changes"),
    [
        ("sim", {"choice": Never()}),
        ("sim;tools=0", {}),
        ("sim", {"tool_result": "sunny"}),
        ("sim;tool=other", {}),
        ("sim;refusal", {}),
    ],
)
def test_no_call_where_none_is_wanted(model: str, changes: dict[str, Any]) -> None:
    assert not any(isinstance(block, Call) for block in told(model, tools=(F,), **changes).blocks)


def test_the_tool_can_be_named_by_either_side() -> None:
    for found in (told("sim;tool=g", tools=(F, G)), told(tools=(F, G), choice=Forced("g"))):
        assert [block.tool.name for block in found.blocks if isinstance(block, Call)] == ["g"]
    forced = told(tools=(F,), choice=Forced(), tool_result="sunny")
    assert forced.stop is Stop.TOOLS


def test_the_answer_to_a_tool_result_shows_that_it_arrived() -> None:
    found = told(tools=(F,), tool_result="sunny, 21 degrees", choice=Auto())
    assert "sunny, 21 degrees" in said(found)
    assert found.stop is Stop.END


def test_free_text_for_a_custom_tool_and_own_input_for_any() -> None:
    (patch,) = told(tools=(Tool("apply_patch", ToolForm.CUSTOM),)).blocks
    assert isinstance(patch, Call)
    assert "".join(patch.pieces).startswith("*** Begin Patch")
    (own,) = told('sim;tool_input={"a":1}', tools=(F,)).blocks
    assert isinstance(own, Call)
    assert "".join(own.pieces) == '{"a":1}'


def test_text_before_a_call_if_it_is_wished_for() -> None:
    kinds = [type(block) for block in told("sim;text=Let me look;reasoning=2", tools=(F,)).blocks]
    assert kinds == [Reasoning, Text, Call]


def test_a_schema_is_answered_with_json_that_fits() -> None:
    assert json.loads(said(told(schema=FUNCTION))) == {"city": "Paris", "days": 2}
    assert isinstance(json.loads(said(told(schema={}))), dict)


def test_reasoning_is_shown_hidden_or_left_out() -> None:
    assert not any(isinstance(block, Reasoning) for block in told().blocks)
    for model, thinking, shown in (
        ("sim", Thinking.SHOWN, True),
        ("sim", Thinking.HIDDEN, False),
        ("sim;reasoning=4", Thinking.OFF, True),
        ("sim;reasoning=4", Thinking.HIDDEN, False),
    ):
        first = told(model, thinking=thinking).blocks[0]
        assert isinstance(first, Reasoning)
        assert (first.shown, first.carrier) == (shown, "sim_d")
    assert told("sim;reasoning=0", thinking=Thinking.SHOWN).blocks == told().blocks


def test_a_limit_below_the_script_cuts_it_and_one_at_its_length_does_not() -> None:
    whole = told("sim;reasoning=2;text=a b c")
    assert (whole.stop, whole.tokens.output) == (Stop.END, 5)
    assert told("sim;reasoning=2;text=a b c", limit=5) == whole
    cut = told("sim;reasoning=2;text=a b c", limit=4)
    assert (cut.stop, cut.tokens.output, said(cut)) == (Stop.LIMIT, 4, "a b ")
    assert told("sim;text=a", limit=0).blocks == ()


def test_a_call_can_be_cut_too() -> None:
    found = told(tools=(F,), limit=1)
    (call,) = found.blocks
    assert isinstance(call, Call)
    assert (call.complete, len(call.pieces), found.stop) == (False, 1, Stop.LIMIT)


def test_a_stop_sequence_ends_the_text_before_it() -> None:
    found = told("sim;text=one two three", stops=("three", "two"))
    assert (said(found), found.stop, found.stop_sequence) == ("one ", Stop.SEQUENCE, "two")


def test_a_refusal_is_text_of_its_own_except_in_messages() -> None:
    assert isinstance(told("sim;refusal").blocks[0], Refused)
    assert isinstance(told("sim;refusal", protocol=Protocol.MESSAGES).blocks[0], Text)
    assert told("sim;refusal").stop is Stop.REFUSAL


def test_tokens_never_overlap_and_a_long_prompt_is_cached() -> None:
    short, long = told().tokens, told(prompt_tokens=4000).tokens
    assert (short.fresh, short.cache_read, short.cache_write) == (10, 0, 0)
    assert (long.fresh, long.cache_read, long.cache_write) == (608, 2944, 448)
    assert long.prompt == 4000


def test_tokens_are_what_the_parameters_say() -> None:
    found = told("sim;input=6;cache_read=5;cache_write=4;cache_write_1h=3;output=2;reasoning=9").tokens
    assert (found.fresh, found.cache_read, found.cache_write, found.cache_write_1h) == (6, 5, 4, 3)
    assert (found.prompt, found.output, found.reasoning) == (18, 2, 2)


def test_a_search_comes_before_the_text_that_cites_it() -> None:
    search, text = told("sim;web_search=1").blocks
    assert isinstance(search, Search)
    assert isinstance(text, Text)
    assert text.cited


def test_the_model_of_the_answer_is_the_base_name() -> None:
    assert told("sim;words=1").model == "sim"
    assert told("sim;dated").model == "sim-2026-01-01"


def test_one_big_delta() -> None:
    (block,) = told("sim;big=5000;text=a").blocks
    assert block == Text(("x" * 5000, "a"))
