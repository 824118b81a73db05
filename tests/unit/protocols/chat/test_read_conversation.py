"""Parameters of Chat requests on a responses channel, row by row of conversion.md §2."""

from typing import Any

import pytest
from tests.unit.protocols.asking import CHAT_TO_RESPONSES, HI_CHAT, asked, conversation_of, foreign

from tidegate.core.conversation import Conversation
from tidegate.core.failure import Failure, Kind
from tidegate.core.protocol import Protocol
from tidegate.protocols.base import Asked
from tidegate.protocols.chat.read_conversation import read_conversation

PLAIN = {"include": ["reasoning.encrypted_content"]}
TOP = {"include": ["reasoning.encrypted_content", "message.output_text.logprobs"]}


def read(body: dict[str, Any]) -> Conversation:
    return conversation_of(read_conversation(asked(Protocol.CHAT, {**HI_CHAT, **body}), foreign))


@pytest.mark.parametrize(
    ("body", "sent", "losses"),
    [
        ({"max_completion_tokens": 50}, {"max_output_tokens": 50}, []),
        ({"max_tokens": 50}, {"max_output_tokens": 50}, []),
        ({"max_tokens": 50, "max_completion_tokens": 40}, {"max_output_tokens": 40}, []),
        ({"max_tokens": 30, "max_completion_tokens": 40.0}, {"max_output_tokens": 30}, []),
        ({"max_tokens": 15}, {"max_output_tokens": 16}, ["clamped:max_tokens"]),
        ({"presence_penalty": 0.5}, {}, ["dropped:presence_penalty"]),
        ({"frequency_penalty": -1}, {}, ["dropped:frequency_penalty"]),
        ({"seed": 0}, {}, ["dropped:seed"]),
        ({"stop": "END"}, {}, ["approximated:stop"]),
        ({"stop": ["a", "b"]}, {}, ["approximated:stop"]),
        ({"logprobs": True}, TOP, []),
        ({"logprobs": True, "top_logprobs": 3}, {**TOP, "top_logprobs": 3}, []),
        ({"metadata": {"k": "v"}}, {"metadata": {"k": "v"}}, []),
        ({"store": True}, {"store": True}, []),
        ({"store": False}, {}, []),
        ({"reasoning_effort": "low"}, {"reasoning": {"effort": "low", "summary": "auto"}}, []),
        ({"reasoning_effort": "none"}, {"reasoning": {"effort": "none"}}, []),
    ],
)
def test_parameters(body: dict[str, Any], sent: dict[str, Any], losses: list[str]) -> None:
    assert CHAT_TO_RESPONSES.sent(body) == sent
    assert CHAT_TO_RESPONSES.lost(body) == losses


@pytest.mark.parametrize(
    ("body", "kind", "path"),
    [
        ({"n": 2}, "unsupported_parameter", "n"),
        ({"logit_bias": {"1": 5}}, "unsupported_parameter", "logit_bias"),
        ({"max_tokens": 0}, "unsupported_value", "max_tokens"),
        ({"stop": [1]}, "invalid_request", "stop"),
        ({"seed": "x"}, "invalid_request", "seed"),
    ],
)
def test_refusals(body: dict[str, Any], kind: str, path: str) -> None:
    found = read_conversation(_loosely(body), foreign)
    if isinstance(found, Failure):
        assert (found.kind, found.param) == (Kind(kind), path)
    else:
        assert CHAT_TO_RESPONSES.refused(body) == (kind, path)


def _loosely(body: dict[str, Any]) -> Asked:
    """As if the first look had let everything pass."""
    import msgspec

    whole = {"model": "m", **HI_CHAT, **body}
    return Asked(protocol=Protocol.CHAT, body=msgspec.json.encode(whole), members={}, model="m")


def test_stop_strings_are_cut_in_the_gateway() -> None:
    assert CHAT_TO_RESPONSES.written({"stop": ["a", "", "b"]}).stops == ("a", "b")


def test_a_request_says_what_it_says() -> None:
    found = read({"stream": True, "functions": [{"name": "f"}], "function_call": {"name": "f"}})
    assert found.stream
    assert found.legacy_functions
    assert [tool.name for tool in found.tools] == ["f"]
    assert found.choice is not None
    assert found.choice.names == ("f",)


def test_tools_stand_above_legacy_functions() -> None:
    tools = [{"type": "function", "function": {"name": "g"}}]
    found = read({"functions": [{"name": "f"}], "tools": tools})
    assert not found.legacy_functions
    assert [other.path for other in found.others] == ["functions"], "what does not go up is told"
    assert [tool.name for tool in found.tools] == ["g"]


def test_everything_has_the_path_of_where_it_stood() -> None:
    found = read({"seed": 1, "max_tokens": 5, "user": "u", "x": 1})
    assert found.sampling.seed is not None
    assert found.sampling.seed.path == "seed"
    assert found.sampling.max_output_tokens is not None
    assert found.sampling.max_output_tokens.path == "max_tokens"
    assert [other.path for other in found.others] == ["x"]
    assert [turn.path for turn in found.turns] == ["messages[0]"]
