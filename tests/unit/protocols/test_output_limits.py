"""Output limits: what the caller said, and what is set where they said nothing."""

import json

import pytest

from tidegate.core.failure import Failure
from tidegate.core.protocol import Protocol
from tidegate.protocols.base import Asked
from tidegate.protocols.output_limits import asked_limit, limit_name, with_limit
from tidegate.protocols.registry import dialect_of

C, R, M = Protocol.CHAT, Protocol.RESPONSES, Protocol.MESSAGES
TALK: dict[Protocol, dict[str, object]] = {
    C: {"model": "m", "messages": [{"role": "user", "content": "hi"}]},
    R: {"model": "m", "input": "hi"},
    M: {"model": "m", "messages": [{"role": "user", "content": "hi"}], "max_tokens": 9},
}


def asked(protocol: Protocol, **members: object) -> Asked:
    read = dialect_of(protocol).read_request(json.dumps({**TALK[protocol], **members}).encode())
    assert not isinstance(read, Failure)
    return read


@pytest.mark.parametrize(
    ("protocol", "members", "limit"),
    [
        (C, {}, None),
        (C, {"max_tokens": 5}, 5),
        (C, {"max_completion_tokens": 6, "max_tokens": 5}, 6),
        (C, {"max_completion_tokens": 6, "max_tokens": 50}, 50),
        (C, {"max_completion_tokens": None, "max_tokens": 5}, 5),
        (C, {"max_tokens": 0}, 0),
        (C, {"max_tokens": -3}, None),
        (C, {"max_completion_tokens": -1, "max_tokens": 5}, 5),
        (C, {"max_tokens": 1.5}, 2),
        (C, {"max_tokens": 100.0}, 100),
        (C, {"max_tokens": -0.5}, None),
        (R, {}, None),
        (R, {"max_output_tokens": 7}, 7),
        (R, {"max_output_tokens": None}, None),
        (M, {}, 9),
        (M, {"max_tokens": 0}, 0),
    ],
)
def test_the_callers_own_limit(protocol: Protocol, members: dict[str, object], limit: int | None) -> None:
    assert asked_limit(asked(protocol, **members)) == limit


@pytest.mark.parametrize(
    ("protocol", "given"),
    [
        (C, {}),
        (C, {"max_completion_tokens": None}),
        (R, {}),
        (R, {"max_output_tokens": None}),
        (M, {}),
    ],
)
def test_a_limit_is_set_and_nothing_else_changes(protocol: Protocol, given: dict[str, object]) -> None:
    before = asked(protocol, **given)
    after = with_limit(dialect_of(protocol), before, 40)
    assert json.loads(after.body) == {**json.loads(before.body), limit_name(protocol): 40}
    assert asked_limit(after) == 40
    start, end = after.members["model"]
    assert after.body[start:end] == b'"m"'


def test_chat_has_an_old_name_too() -> None:
    after = with_limit(dialect_of(C), asked(C), 40, "max_tokens")
    assert json.loads(after.body) == {**TALK[C], "max_tokens": 40}
