"""Every question about a channel has one answer: told for the model, told for the channel, known, default."""

from typing import Any

import msgspec
import pytest

from tidegate.core.capability import (
    Capabilities,
    Effort,
    MaxTokensField,
    ReplayReasoning,
    Thinking,
    UnsupportedTools,
)
from tidegate.core.protocol import Protocol
from tidegate.protocols.abilities import default_max_output_tokens, resolve
from tidegate.protocols.conversion import Abilities

NOTHING = Capabilities()
C, R, M = Protocol.CHAT, Protocol.RESPONSES, Protocol.MESSAGES
DROP, REJECT = UnsupportedTools.DROP, UnsupportedTools.REJECT


def answer(name: str, protocol: Protocol, model: str = "some-model", **told: Any) -> Any:
    return getattr(resolve(protocol, model, Capabilities(**told), NOTHING), name)


DEFAULTS: list[tuple[str, tuple[Any, Any, Any]]] = [
    ("max_tokens_field", (MaxTokensField.MAX_COMPLETION_TOKENS,) * 3),
    ("sampling", (True, True, True)),
    ("thinking", (Thinking.NONE,) * 3),
    ("efforts", (tuple(Effort), tuple(Effort), tuple(Effort))),
    ("prefill", (True, True, True)),
    ("mid_system", (False, False, False)),
    ("developer_role", (False, False, False)),
    ("instructions_required", (False, False, False)),
    ("structured_output", (True, True, True)),
    ("custom_tools", (False, True, False)),
    ("web_search", (False, False, False)),
    ("reasoning_summary", (True, True, True)),
    ("replay_reasoning", (ReplayReasoning.NEVER,) * 3),
    ("tool_name_max", (64, 128, 128)),
    ("unsupported_tools", (DROP, DROP, DROP)),
]
"""On chat, responses and messages."""


@pytest.mark.parametrize(("name", "answers"), DEFAULTS)
def test_defaults_of_an_unknown_model(name: str, answers: tuple[Any, Any, Any]) -> None:
    assert tuple(answer(name, protocol) for protocol in (C, R, M)) == answers


def test_every_question_has_its_default_tested() -> None:
    assert {name for name, _ in DEFAULTS} == {field.name for field in msgspec.structs.fields(Abilities)}


def test_what_is_known_of_the_family_comes_before_the_default() -> None:
    assert answer("thinking", M, "claude-sonnet-5") is Thinking.ADAPTIVE
    assert answer("replay_reasoning", C, "deepseek-chat") is ReplayReasoning.TOOL_TURNS


def test_what_the_operator_told_comes_before_what_is_known() -> None:
    assert answer("thinking", M, "claude-sonnet-5", thinking=Thinking.NONE) is Thinking.NONE
    assert answer("efforts", R, "gpt-5", efforts=()) == ()
    assert answer("sampling", M, "claude-sonnet-5", sampling=True) is True


def test_the_models_word_comes_before_the_channels() -> None:
    channel, model = Capabilities(sampling=True, prefill=False), Capabilities(sampling=False)
    found = resolve(M, "m", channel, model)
    assert (found.sampling, found.prefill) == (False, False)


@pytest.mark.parametrize(
    ("channel", "model", "more", "wanted"),
    [
        (None, None, (), DROP),
        (None, None, (DROP, REJECT), REJECT),
        (REJECT, None, (DROP,), REJECT),
        (REJECT, DROP, (), REJECT),
        (DROP, REJECT, (), REJECT),
    ],
)
def test_the_strictest_word_about_unsupported_tools_counts(
    channel: UnsupportedTools | None,
    model: UnsupportedTools | None,
    more: tuple[UnsupportedTools, ...],
    wanted: UnsupportedTools,
) -> None:
    told = [Capabilities(unsupported_tools=word) for word in (channel, model)]
    assert resolve(C, "m", *told, unsupported_tools=more).unsupported_tools is wanted


def test_the_output_limit_comes_with_the_abilities() -> None:
    assert default_max_output_tokens("claude-sonnet-4-5") == 64_000
