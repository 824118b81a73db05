"""The response object and the client's request in it."""

import json
from typing import Any

from openai.types.responses import Response
from tests.unit.protocols.encoding import SEED, context

from tidegate.core.protocol import Protocol
from tidegate.protocols.conversion import AnswerContext
from tidegate.protocols.registry import dialect_of
from tidegate.protocols.responses.echo import ResponseObject


def said(context: AnswerContext) -> Any:
    text = ResponseObject(context).written("completed")
    assert b"\n" not in text
    return json.loads(text)


def echoed(**body: Any) -> Any:
    return said(context(Protocol.RESPONSES, Protocol.CHAT, body))


def raw(body: bytes) -> Any:
    asked = dialect_of(Protocol.RESPONSES).read_request(body)
    made = context(Protocol.RESPONSES, Protocol.CHAT)
    return said(
        AnswerContext(**{name: getattr(made, name) for name in made.__struct_fields__} | {"asked": asked})
    )


def test_what_is_not_told_has_its_default() -> None:
    assert echoed() == {
        "id": f"resp_{SEED.id}",
        "object": "response",
        "created_at": SEED.now,
        "model": "public",
        "instructions": None,
        "max_output_tokens": None,
        "metadata": {},
        "parallel_tool_calls": True,
        "previous_response_id": None,
        "reasoning": {"effort": None, "summary": None},
        "store": False,
        "temperature": None,
        "text": {"format": {"type": "text"}},
        "tool_choice": "auto",
        "tools": [],
        "top_p": None,
        "truncation": "disabled",
        "status": "completed",
        "error": None,
        "incomplete_details": None,
        "usage": None,
        "output": [],
    }


def test_what_is_told_is_echoed() -> None:
    told = {
        "instructions": "Be brief.",
        "max_output_tokens": 99,
        "metadata": {"a": "b"},
        "parallel_tool_calls": False,
        "temperature": 0.5,
        "tool_choice": {"type": "function", "name": "f"},
        "tools": [{"type": "function", "name": "f", "parameters": {"type": "object"}, "strict": True}],
        "top_p": 0.1,
        "truncation": "auto",
        "max_tool_calls": 3,
        "user": "u",
        "safety_identifier": "s",
        "prompt_cache_key": "k",
        "top_logprobs": 2,
    }
    found = echoed(**told)
    assert {name: found[name] for name in told} == told
    Response.model_validate(found)


def test_objects_are_completed() -> None:
    found = echoed(reasoning={"effort": "low"}, text={"verbosity": "low", "format": None})
    assert found["reasoning"] == {"effort": "low", "summary": None}
    assert found["text"] == {"format": {"type": "text"}, "verbosity": "low"}


def test_nothing_is_stored_and_nothing_built_on() -> None:
    found = echoed(store=True, previous_response_id="resp_1")
    assert (found["store"], found["previous_response_id"]) == (False, None)


def test_null_is_as_if_it_was_not_told() -> None:
    found = echoed(
        metadata=None, tools=None, tool_choice=None, parallel_tool_calls=None, truncation=None, user=None
    )
    assert (found["metadata"], found["tools"], found["tool_choice"]) == ({}, [], "auto")
    assert (found["parallel_tool_calls"], found["truncation"], found["user"]) == (True, "disabled", None)


def test_what_is_no_member_of_a_response_is_not_echoed() -> None:
    found = echoed(include=["reasoning.encrypted_content"], stream_options={}, client_metadata={"a": 1})
    assert not {"include", "input", "stream", "stream_options", "client_metadata"} & found.keys()


def test_a_request_of_many_lines_is_echoed_on_one() -> None:
    found = raw(b'{"model":"m","input":"x","tools":[\r\n {"type":"function",\n "name":"a  b"}\n]}')
    assert found["tools"] == [{"type": "function", "name": "a  b"}]


def test_lone_surrogates_in_a_request_of_many_lines_can_be_written() -> None:
    found = raw(b'{"model":"m","input":"x","tools":[\n {"name":"a\\ud800"}]}')
    assert found["tools"] == [{"name": "a\ufffd"}]


def test_what_cannot_be_read_is_as_if_it_was_not_told() -> None:
    number = b"1" * 5000
    found = raw(b'{"model":"m","input":"x","text":{"verbosity":' + number + b"}}")
    assert found["text"] == {"format": {"type": "text"}}


def test_output_and_state_are_those_of_the_moment() -> None:
    response = ResponseObject(context(Protocol.RESPONSES, Protocol.CHAT))
    found = json.loads(response.written("failed", b'{"a":1},{"b":2}', error={"code": "server_error"}))
    assert found["output"] == [{"a": 1}, {"b": 2}]
    assert (found["status"], found["error"]) == ("failed", {"code": "server_error"})
