"""Messages and their blocks in the common form, and what is refused with its path."""

from typing import Any

import pytest
from tests.unit.protocols.asking import told
from tests.unit.protocols.messages.conversing import SEAL, SEAL_ELSEWHERE, M, assistant, messages, read, user

from tidegate.core.conversation import (
    Block,
    Call,
    Conversation,
    File,
    Hosted,
    Image,
    Loss,
    LossCode,
    Result,
    Role,
    Text,
    Thought,
)
from tidegate.core.events import Opaque
from tidegate.core.failure import Failure, Kind
from tidegate.core.protocol import Protocol

AT = "messages[0].content[0]"
LATER = "messages[1].content[0]"
BASE64 = {"type": "base64", "media_type": "image/PNG", "data": "iVBORw0KGgo="}


def conversation(*turns: Any, **members: Any) -> Conversation:
    found = read(M, messages(*turns, **members))
    assert isinstance(found, Conversation), found
    return found


def failure(*turns: Any, **members: Any) -> Failure:
    found = read(M, messages(*turns, **members))
    assert isinstance(found, Failure), found
    return found


def blocks(*content: Any) -> tuple[Block, ...]:
    return conversation(user(list(content))).turns[0].blocks


def said(*content: Any) -> tuple[Block, ...]:
    return conversation(user(), assistant(list(content)), user()).turns[1].blocks


def test_roles_and_strings() -> None:
    found = conversation(user("a"), {"role": "system", "content": "s"}, assistant("b"), user("c"))
    assert [turn.role for turn in found.turns] == [Role.USER, Role.SYSTEM, Role.ASSISTANT, Role.USER]
    assert found.turns[1].blocks == (Text(text="s", path="messages[1].content"),)
    assert found.turns[2].path == "messages[2]"


@pytest.mark.parametrize(
    ("system", "texts"),
    [
        (None, ()),
        ("", ()),
        ("a", (Text(text="a", path="system"),)),
        (
            [
                {"type": "text", "text": "a", "cache_control": {"type": "ephemeral"}},
                {"type": "text", "text": ""},
            ],
            (Text(text="a", path="system[0]"),),
        ),
    ],
)
def test_system_text(system: Any, texts: tuple[Text, ...]) -> None:
    found = conversation(system=system)
    assert found.system == texts
    assert not found.losses


@pytest.mark.parametrize(
    ("block", "found"),
    [
        ({"type": "text", "text": "a", "citations": []}, Text(text="a", path=AT)),
        ({"type": "image", "source": BASE64}, Image(path=AT, media_type="image/png", data="iVBORw0KGgo=")),
        ({"type": "image", "source": {"type": "url", "url": "https://x"}}, Image(path=AT, url="https://x")),
        ({"type": "image", "source": {"type": "file", "file_id": "f"}}, Image(path=AT, file_id="f")),
        (
            {"type": "document", "source": {"type": "base64", "data": "JVBERi0="}, "title": "t"},
            File(path=AT, media_type="application/pdf", data="JVBERi0=", filename="t"),
        ),
        (
            {"type": "document", "source": {"type": "text", "data": "x"}, "citations": {"enabled": True}},
            File(path=AT, media_type="text/plain", text="x", cited=True),
        ),
        (
            {"type": "document", "source": {"type": "url", "url": "https://x"}, "context": "c"},
            File(path=AT, url="https://x", context="c"),
        ),
        ({"type": "document", "source": {"type": "file", "file_id": "f"}}, File(path=AT, file_id="f")),
        ({"type": "tool_result", "tool_use_id": "a"}, Result(call_id="a", content="", path=AT)),
        (
            {"type": "tool_result", "tool_use_id": "a", "content": "x", "is_error": True},
            Result(call_id="a", content="x", path=AT, is_error=True),
        ),
        (
            {"type": "tool_result", "tool_use_id": "a", "content": [{"type": "text", "text": "x"}]},
            Result(call_id="a", content=(Text(text="x", path=f"{AT}.content[0]"),), path=AT),
        ),
    ],
)
def test_a_block_of_a_user(block: Any, found: Block) -> None:
    assert blocks(block) == (found,)


@pytest.mark.parametrize(
    ("block", "found"),
    [
        ({"type": "text", "text": "a"}, Text(text="a", path=LATER)),
        (
            {"type": "tool_use", "id": "a", "name": "f", "input": {"x": 1.0, "ä": [None]}},
            Call(id="a", name="f", input='{"x":1.0,"ä":[null]}', path=LATER),
        ),
        ({"type": "tool_use", "id": "a", "name": "f"}, Call(id="a", name="f", input="{}", path=LATER)),
        (
            {"type": "thinking", "thinking": "hm", "signature": "sig"},
            Thought(path=LATER, text="hm", native={"type": "thinking", "thinking": "hm", "signature": "sig"}),
        ),
        ({"type": "thinking", "thinking": "hm", "signature": ""}, Thought(path=LATER, text="hm")),
        ({"type": "thinking", "thinking": "hm"}, Thought(path=LATER, text="hm")),
        (
            {"type": "redacted_thinking", "data": "ENC"},
            Thought(path=LATER, native={"type": "redacted_thinking", "data": "ENC"}),
        ),
        (
            {"type": "thinking", "thinking": "", "signature": "tgr1.forged"},
            Thought(path=LATER, foreign=True),
        ),
        ({"type": "server_tool_use", "id": "s"}, Hosted(type="server_tool_use", path=LATER)),
        ({"type": "web_search_tool_result"}, Hosted(type="web_search_tool_result", path=LATER)),
    ],
)
def test_a_block_of_the_model(block: Any, found: Block) -> None:
    assert said(block) == (found,)


@pytest.mark.parametrize(("seal", "group"), [(SEAL, "up"), (SEAL_ELSEWHERE, "elsewhere")])
def test_a_carrier_brings_back_what_it_holds(seal: Any, group: str) -> None:
    opaque = Opaque(Protocol.RESPONSES, {"type": "reasoning", "id": "rs"})
    block = {"type": "thinking", "thinking": "hm", "signature": seal(opaque)}
    assert said(block) == (Thought(path=LATER, text="hm", carried=opaque, group=group),)


def test_a_document_of_blocks_becomes_those_blocks() -> None:
    source = {
        "type": "content",
        "content": [{"type": "text", "text": "x"}, {"type": "image", "source": BASE64}],
    }
    block = {"type": "document", "source": source, "title": "t", "context": "c"}
    found = conversation(user([block]))
    inner = f"{AT}.source.content"
    assert found.turns[0].blocks == (
        Text(text="t", path=AT),
        Text(text="c", path=AT),
        Text(text="x", path=f"{inner}[0]"),
        Image(path=f"{inner}[1]", media_type="image/png", data="iVBORw0KGgo="),
    )
    assert told(found.losses) == [f"approximated:{AT}"]


def test_a_found_page_becomes_one_text() -> None:
    page = {
        "type": "search_result",
        "source": "https://x",
        "title": "t",
        "content": [{"type": "text", "text": "x"}],
    }
    found = conversation(user([{"type": "tool_result", "tool_use_id": "a", "content": [page]}]))
    where = f"{AT}.content[0]"
    result = found.turns[0].blocks[0]
    assert isinstance(result, Result)
    assert result.content == (Text(text="t\nhttps://x\n\nx", path=where),)
    assert found.losses == (Loss(LossCode.APPROXIMATED, where),)


@pytest.mark.parametrize(
    ("block", "param"),
    [
        ({"type": "container_upload"}, ".type"),
        ({"type": "tool_reference"}, ".type"),
        ({"type": "browser_state"}, ".type"),
        ({"type": "hologram"}, ".type"),
        ({"type": "image", "source": {"type": "hologram"}}, ".source.type"),
        ({"type": "document", "source": {"type": ["x"]}}, ".source.type"),
        (
            {"type": "tool_result", "tool_use_id": "a", "content": [{"type": "tool_reference"}]},
            ".content[0].type",
        ),
    ],
)
def test_what_no_other_protocol_can_say_is_refused(block: Any, param: str) -> None:
    found = failure(user([block]))
    assert (found.kind, found.param) == (Kind.UNSUPPORTED_VALUE, AT + param)


@pytest.mark.parametrize("kind", ["compaction", "container_upload", "mcp_tool_use", "mcp_tool_result"])
def test_blocks_of_the_models_server_that_cannot_be_left_out_are_refused(kind: str) -> None:
    assert failure(user(), assistant([{"type": kind}]), user()).param == f"{LATER}.type"


@pytest.mark.parametrize(
    ("turn", "param"),
    [
        (7, "messages[0]"),
        ({"role": "user"}, "messages[0].content"),
        ({"role": "user", "content": {}}, "messages[0].content"),
        ({"role": "robot", "content": "x"}, "messages[0].role"),
        ({"content": "x"}, "messages[0].role"),
        (user([7]), AT),
        (user([{"text": "x"}]), f"{AT}.type"),
        (user([{"type": ["text"]}]), f"{AT}.type"),
        (user([{"type": "text", "text": 7}]), f"{AT}.text"),
        (user([{"type": "image"}]), f"{AT}.source"),
        (user([{"type": "image", "source": {"type": "base64", "data": 7}}]), f"{AT}.source.media_type"),
        (user([{"type": "document", "source": "x"}]), f"{AT}.source"),
        (user([{"type": "tool_result", "content": "x"}]), f"{AT}.tool_use_id"),
        (user([{"type": "tool_result", "tool_use_id": "a", "content": 7}]), f"{AT}.content"),
        (assistant([{"type": "tool_use", "id": "a", "name": "f", "input": "{}"}]), f"{AT}.input"),
        (user([{"type": "tool_use", "id": "a", "name": "f", "input": {}}]), AT),
        (assistant([{"type": "tool_result", "tool_use_id": "a"}]), AT),
        ({"role": "system", "content": [{"type": "image", "source": BASE64}]}, AT),
    ],
)
def test_what_is_malformed_is_named(turn: Any, param: str) -> None:
    found = failure(turn, user())
    assert (found.kind, found.param) == (Kind.INVALID_REQUEST, param)


def test_a_given_beginning_of_the_answer_is_refused() -> None:
    found = failure(user(), assistant("Once"))
    assert (found.kind, found.param) == (Kind.UNSUPPORTED_VALUE, "messages[1]")
