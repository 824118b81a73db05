"""Which call a fragment belongs to, in all the ways in which servers number, name and cut them."""

from typing import Any

import pytest
from tests.unit.protocols.decoded import decode, told
from tests.unit.protocols.upstreams import DONE, call, calls, chunk

from tidegate.core.events import CallDelta, Event, Stop
from tidegate.core.protocol import Protocol
from tidegate.protocols.blocks import Streamed
from tidegate.protocols.chat.calls import JsonObject

TOOLS = chunk({}, "tool_calls")


def of(*parts: bytes) -> list[Event]:
    return decode(Protocol.CHAT, b"".join(parts))


ONE, TWO = '{"n":1}', '{"n":2}'
REST = {"function": {"arguments": ":1}"}}
PIECES = ('{"n"', ":", "1}")
BOTH = [("function", "a", "f", ONE), ("function", "b", "g", TWO), (Stop.TOOL_CALLS,)]


@pytest.mark.parametrize(
    "stream",
    [
        pytest.param([calls(call(0, "a", "f", ONE)), calls(call(1, "b", "g", TWO))], id="in turn"),
        pytest.param([calls(call(0, "a", "f", ONE), call(1, "b", "g", TWO))], id="in one delta"),
        pytest.param([calls(call(None, "a", "f", ONE)), calls(call(None, "b", "g", TWO))], id="no index"),
        pytest.param([calls(call(None, "a", "f", ONE), call(None, "b", "g", TWO))], id="no index, one delta"),
        pytest.param([calls(call(0, "a", "f", ONE)), calls(call(0, "b", "g", TWO))], id="every index is 0"),
        pytest.param([calls(call(3, "a", "f", ONE)), calls(call(7, "b", "g", TWO))], id="sparse"),
        pytest.param(
            [
                calls(call(0, "a", "f", ""), call(1, "b", "g", "")),
                *(calls(call(index, None, None, piece)) for piece in ('{"n"', ":") for index in (0, 1)),
                calls(call(1, None, None, "2}")),
                calls(call(0, None, None, "1}")),
            ],
            id="interleaved",
        ),
        pytest.param(
            [*(calls(call(0, "a", "f", piece)) for piece in PIECES), calls(call(1, "b", "g", TWO))],
            id="id and name every time",
        ),
        pytest.param(
            [calls(call(None, "a", "f", PIECES[0])), calls(REST), calls(call(4, "b", "g", TWO))],
            id="a number only later",
        ),
        pytest.param(
            [calls(call(0, "a", None, "")), calls(call(0, None, "f", ONE)), calls(call(1, "b", "g", TWO))],
            id="name after id",
        ),
        pytest.param([calls(call(0, "a", "f", {"n": 1}), call(1, "b", "g", {"n": 2}))], id="objects"),
        pytest.param(
            [calls(call(0, "a", "f", ONE)), calls(call(1, "b", "g", TWO)), calls(call(0, "a", "f", ""))],
            id="named once more at the end",
        ),
        pytest.param(
            [calls(call(0, "a", "f", ONE)), calls(call(1, "b", "g", TWO)), calls(call(0, "a", "f", ONE))],
            id="all once more at the end",
        ),
    ],
)
def test_two_calls_however_they_are_told(stream: list[bytes]) -> None:
    assert told(of(*stream, TOOLS, DONE)) == BOTH


@pytest.mark.parametrize(
    "entries",
    [
        pytest.param([[call(None, None, "f", ONE)], [call(None, None, "g", TWO)]], id="neither index nor id"),
        pytest.param([[call(None, "", "f", ONE), call(None, "", "g", TWO)]], id="empty ids in one delta"),
        pytest.param([[call(0, "", "f", ONE)], [call(0, "", "g", TWO)]], id="index 0, empty ids"),
        pytest.param([[call(0, None, "f", ONE), call(0, None, "g", TWO)]], id="index 0, no ids, one delta"),
        pytest.param([[call(0, "x", "f", ONE)], [call(1, "x", "g", TWO)]], id="one id for both"),
        pytest.param([[call(None, "x", "f", ONE)], [call(None, "x", "g", TWO)]], id="one id, no index"),
    ],
)
def test_ids_are_made_where_they_are_missing_or_doubled(entries: list[list[dict[str, Any]]]) -> None:
    stream = [calls(*each) for each in entries]
    found = told(of(*stream, TOOLS, DONE))
    assert [(each[2], each[3]) for each in found[:2]] == [("f", ONE), ("g", TWO)]
    assert all(len(each[1]) == 29 for each in found[:2] if each[1] != "x")
    assert found == told(of(*stream, TOOLS, DONE)), "the same stream gets the same ids"
    other = [each.replace(b'"c1"', b'"c2"') for each in stream]
    again = told(of(*other, TOOLS, DONE))
    assert not {each[1] for each in found[:2]} & {each[1] for each in again[:2]} - {"x"}


def test_calls_that_wait_come_by_index_with_their_fragments() -> None:
    events = of(
        calls(call(0, "a", "f", "")),
        calls(call(2, "c", "h", "{}")),
        calls(call(1, "b", "g", '{"n"')),
        calls(call(1, None, None, ":2}")),
        calls(call(0, None, None, ONE)),
        TOOLS,
        DONE,
    )
    assert told(events)[:3] == [
        ("function", "a", "f", ONE),
        ("function", "b", "g", TWO),
        ("function", "c", "h", "{}"),
    ]
    assert [event.text for event in events if isinstance(event, CallDelta)] == [ONE, '{"n"', ":2}", "{}"]


def test_text_between_the_fragments_of_a_call_waits() -> None:
    stream = [
        calls(call(0, "a", "f", '{"n"')),
        chunk({"content": "t"}),
        calls(call(0, None, None, ":1}")),
        TOOLS,
    ]
    assert told(of(*stream, DONE)) == [("function", "a", "f", ONE), ("text", "t"), (Stop.TOOL_CALLS,)]


def test_a_call_without_arguments_says_nothing() -> None:
    events = of(calls(call(0, "a", "f", ""), call(1, "b", "g", None)), TOOLS, DONE)
    assert told(events) == [("function", "a", "f", ""), ("function", "b", "g", ""), (Stop.TOOL_CALLS,)]
    assert not any(isinstance(event, CallDelta) for event in events)


def test_a_call_that_the_limit_cut_stays_cut() -> None:
    cut = chunk({}, "length")
    assert told(of(calls(call(0, "a", "f", '{"cmd":"ls')), cut, DONE)) == [
        ("function", "a", "f", '{"cmd":"ls', "cut"),
        (Stop.LENGTH,),
    ]
    assert told(of(calls(call(0, "a", "f", "")), cut, DONE)) == [
        ("function", "a", "f", "", "cut"),
        (Stop.LENGTH,),
    ]
    assert told(of(calls(call(0, "a", None, "")), cut, DONE)) == [(Stop.LENGTH,)]


def test_arguments_that_are_no_json_are_passed_on() -> None:
    assert told(of(calls(call(0, "a", "f", "{oops}")), calls(call(1, "b", "g", TWO)), TOOLS, DONE)) == [
        ("function", "a", "f", "{oops}"),
        *BOTH[1:],
    ]


def test_a_custom_call_is_free_text() -> None:
    entry = {"index": 0, "id": "a", "type": "custom", "custom": {"name": "f", "input": "ls"}}
    more = {"index": 0, "custom": {"input": " -l"}}
    assert told(of(calls(entry), calls(more), TOOLS, DONE))[0] == ("custom", "a", "f", "ls -l")


def test_the_deprecated_function_call() -> None:
    pieces = [{"name": "f", "arguments": ""}, {"arguments": '{"n"'}, {"name": "f", "arguments": ":1}"}]
    events = of(*(chunk({"function_call": piece}) for piece in pieces), chunk({}, "function_call"), DONE)
    [made, end] = told(events)
    assert (made[2:], end) == (("f", ONE), (Stop.TOOL_CALLS,))
    assert made[1].startswith("call_")


OBJECTS = ["{}", '{"a":"}"}', r'{"a\"}":[{"b":"\\"}]}', ' {"a":"[\\u005d"}\n']


@pytest.mark.parametrize("text", OBJECTS)
def test_an_object_is_closed_wherever_it_is_divided(text: str) -> None:
    for at in range(len(text) + 1):
        assert is_closed([text[:at], text[at:]])
    for length in range(len(text.rstrip())):
        assert not is_closed(list(text[:length]))


@pytest.mark.parametrize(
    "text", ["", "{]}", "[]", '"{}"', "{} 1", "1", "}", "{'a':1}", "{" * 5000 + "}" * 5000]
)
def test_what_is_no_object_is_never_closed(text: str) -> None:
    assert not is_closed([text])


def is_closed(pieces: list[str]) -> bool:
    reader, said = JsonObject(), Streamed()
    for piece in pieces:
        reader.add(piece)
        said.add(piece)
    return reader.is_closed(said)
