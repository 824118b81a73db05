"""Conversations that no client's request reads as: refused by both OpenAI writers, never a traceback."""

from typing import Any

import pytest
from tests.unit.protocols.asking import READ, WRITE, target

from tidegate.core.conversation import (
    Block,
    Call,
    Conversation,
    Hosted,
    Refused,
    Result,
    Role,
    Text,
    Thought,
    Tool,
    ToolKind,
    Turn,
)
from tidegate.core.failure import Failure, Kind
from tidegate.core.protocol import Protocol
from tidegate.protocols.base import Asked

OPENAI = [Protocol.CHAT, Protocol.RESPONSES]
HI = Turn(role=Role.USER, blocks=(Text(text="hi", path="messages[0].content"),), path="messages[0]")


def conversation(*turns: Turn, **members: Any) -> Conversation:
    return Conversation(protocol=Protocol.MESSAGES, model="m", stream=False, turns=turns, **members)


@pytest.mark.parametrize("channel", OPENAI)
@pytest.mark.parametrize(
    "block",
    [Thought(path="p"), Call(id="c", name="f", input="{}", path="p"), Hosted(type="x", path="p")],
)
def test_what_only_a_model_says_cannot_come_from_a_user(channel: Protocol, block: Block) -> None:
    turn = Turn(role=Role.USER, blocks=(block, Text(text="x", path="q")), path="messages[1]")
    found = WRITE[channel](conversation(HI, turn), target(channel))
    assert isinstance(found, Failure)
    assert (found.kind, found.param) == (Kind.UNSUPPORTED_VALUE, "p")


@pytest.mark.parametrize("channel", OPENAI)
def test_a_result_cannot_come_from_a_model(channel: Protocol) -> None:
    turn = Turn(role=Role.ASSISTANT, blocks=(Result(call_id="c", content="x", path="p"),), path="messages[1]")
    found = WRITE[channel](conversation(HI, turn), target(channel))
    assert isinstance(found, Failure)
    assert found.param == "p"


@pytest.mark.parametrize("channel", OPENAI)
def test_a_refusal_of_a_user_is_text(channel: Protocol) -> None:
    turn = Turn(
        role=Role.USER, blocks=(Refused(text="no", path="p"), Text(text="x", path="q")), path="messages[1]"
    )
    found = WRITE[channel](conversation(HI, turn), target(channel))
    assert not isinstance(found, Failure)
    assert b'"text":"no"' in found.body


@pytest.mark.parametrize("channel", OPENAI)
def test_a_schema_nested_beyond_writing_is_refused(channel: Protocol) -> None:
    schema: Any = {"type": "string"}
    for _ in range(5000):
        schema = {"type": "array", "items": schema}
    tool = Tool(kind=ToolKind.FUNCTION, path="tools[0]", name="f", schema=schema)
    found = WRITE[channel](conversation(HI, tools=(tool,)), target(channel))
    assert isinstance(found, Failure)
    assert found.kind is Kind.INVALID_REQUEST


@pytest.mark.parametrize("client", OPENAI)
def test_a_body_nested_beyond_reading_is_refused(client: Protocol) -> None:
    body = b'{"model":"m","input":"x","messages":' + b"[" * 5000 + b"]" * 5000 + b"}"
    found = READ[client](Asked(protocol=client, body=body, members={}, model="m"), lambda _: None)
    assert isinstance(found, Failure)
    assert found.kind is Kind.INVALID_REQUEST
