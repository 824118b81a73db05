"""What is known by a model's name, in all the ways that vendors write it."""

import pytest

from tidegate.core.capability import Capabilities, Effort, MaxTokensField, ReplayReasoning, Thinking
from tidegate.core.protocol import Protocol
from tidegate.protocols.model_families import (
    DEFAULT_MAX_OUTPUT_TOKENS,
    default_max_output_tokens,
    known_capabilities,
)

NONE, MINIMAL, LOW, MEDIUM, HIGH, XHIGH, MAX = Effort


@pytest.mark.parametrize(
    ("name", "thinking", "sampling", "prefill", "mid_system", "structured"),
    [
        ("claude-2.1", Thinking.NONE, True, True, False, False),
        ("claude-3-opus-20240229", Thinking.NONE, True, True, False, False),
        ("claude-3-5-haiku-latest", Thinking.NONE, True, True, False, False),
        ("claude-3-7-sonnet@20250219", Thinking.BUDGET, True, True, False, False),
        ("claude-sonnet-4-20250514", Thinking.BUDGET, True, True, False, False),
        ("us.anthropic.claude-opus-4-1-20250805-v1:0", Thinking.BUDGET, True, True, False, True),
        ("anthropic/claude-sonnet-4-5-20250929", Thinking.BUDGET, True, True, False, True),
        ("Anthropic/Claude-Haiku-4.5", Thinking.BUDGET, True, True, False, True),
        ("claude-opus-4-6", Thinking.ADAPTIVE, True, False, False, True),
        ("anthropic/claude-4.6-opus", Thinking.ADAPTIVE, True, False, False, True),
        ("claude-opus-4-7", Thinking.ADAPTIVE, False, False, False, True),
        ("claude-opus-4-8", Thinking.ADAPTIVE, False, False, True, True),
        ("claude-sonnet-5", Thinking.ADAPTIVE, False, False, True, True),
        ("claude-haiku-5-20261001", Thinking.ADAPTIVE, False, False, True, True),
        ("claude-fable-5-1", Thinking.ADAPTIVE, False, False, True, True),
        ("claude-something-new", Thinking.ADAPTIVE, False, False, True, True),
    ],
)
def test_claude_by_its_version(
    name: str, thinking: Thinking, sampling: bool, prefill: bool, mid_system: bool, structured: bool
) -> None:
    known = known_capabilities(Protocol.MESSAGES, name)
    assert known.thinking is thinking
    assert known.sampling is sampling
    assert known.prefill is prefill
    assert known.mid_system is mid_system
    assert known.structured_output is structured


def test_claude_elsewhere_is_what_that_server_says() -> None:
    assert known_capabilities(Protocol.CHAT, "anthropic/claude-sonnet-5") == Capabilities()


def test_the_first_adaptive_models_lack_one_level() -> None:
    efforts = known_capabilities(Protocol.MESSAGES, "claude-sonnet-4-6").efforts
    assert efforts == (NONE, MINIMAL, LOW, MEDIUM, HIGH, MAX)


@pytest.mark.parametrize("protocol", [Protocol.CHAT, Protocol.RESPONSES])
@pytest.mark.parametrize(
    ("name", "efforts"),
    [
        ("gpt-5", (MINIMAL, LOW, MEDIUM, HIGH)),
        ("gpt-5-mini-2025-08-07", (MINIMAL, LOW, MEDIUM, HIGH)),
        ("gpt-5-pro", (HIGH,)),
        ("gpt-5-chat-latest", ()),
        ("gpt-5-codex", (LOW, MEDIUM, HIGH)),
        ("gpt-5.1", (NONE, LOW, MEDIUM, HIGH)),
        ("gpt-5.1-codex-max", (LOW, MEDIUM, HIGH, XHIGH)),
        ("openai/gpt-5.2", (NONE, LOW, MEDIUM, HIGH, XHIGH)),
        ("gpt-5.5", (NONE, LOW, MEDIUM, HIGH, XHIGH)),
        ("gpt-5.6-sol", (NONE, LOW, MEDIUM, HIGH, XHIGH, MAX)),
        ("gpt-6", (NONE, LOW, MEDIUM, HIGH, XHIGH, MAX)),
        ("gpt-oss-120b", (LOW, MEDIUM, HIGH)),
        ("o1", (LOW, MEDIUM, HIGH)),
        ("o3-mini", (LOW, MEDIUM, HIGH)),
        ("o1-preview", ()),
        ("gpt-4o", ()),
        ("gpt-4.1-mini", ()),
        ("gpt-3.5-turbo", ()),
        ("gemini-2.5-flash", (NONE, MINIMAL, LOW, MEDIUM, HIGH)),
        ("gemini-3-pro-preview", (MINIMAL, LOW, MEDIUM, HIGH)),
        ("deepseek-v4-pro", (HIGH, MAX)),
        ("deepseek-chat", None),
        ("mistral-large-latest", ()),
        ("magistral-medium-latest", None),
        ("meta-llama/Llama-3.3-70B-Instruct", ()),
        ("glm-4.6", None),
        ("up-chat-model", None),
        ("solo3", None),
    ],
)
def test_efforts_by_family(protocol: Protocol, name: str, efforts: tuple[Effort, ...] | None) -> None:
    assert known_capabilities(protocol, name).efforts == efforts


@pytest.mark.parametrize(
    ("name", "field", "replay"),
    [
        ("deepseek-reasoner", MaxTokensField.MAX_TOKENS, ReplayReasoning.TOOL_TURNS),
        ("deepseek/deepseek-chat-v3.1", MaxTokensField.MAX_TOKENS, ReplayReasoning.TOOL_TURNS),
        ("us.deepseek.r1-v1:0", MaxTokensField.MAX_TOKENS, ReplayReasoning.TOOL_TURNS),
        ("kimi-k2-thinking", MaxTokensField.MAX_TOKENS, ReplayReasoning.TOOL_TURNS),
        ("Qwen/Qwen3-32B", MaxTokensField.MAX_TOKENS, None),
        ("mistral-large-latest", MaxTokensField.MAX_TOKENS, None),
        ("gemini-2.5-pro", MaxTokensField.MAX_TOKENS, None),
        ("glm-4.6", MaxTokensField.MAX_TOKENS, None),
        ("gpt-5", None, None),
        ("my-own-model", None, None),
    ],
)
def test_habits_of_compatible_chat_servers(
    name: str, field: MaxTokensField | None, replay: ReplayReasoning | None
) -> None:
    known = known_capabilities(Protocol.CHAT, name)
    assert (known.max_tokens_field, known.replay_reasoning) == (field, replay)
    elsewhere = known_capabilities(Protocol.RESPONSES, name)
    assert (elsewhere.max_tokens_field, elsewhere.replay_reasoning) == (None, None)


@pytest.mark.parametrize(
    ("name", "limit"),
    [
        ("claude-3-haiku-20240307", 4_096),
        ("claude-3-5-sonnet-20241022", 8_192),
        ("claude-3-7-sonnet-latest", 64_000),
        ("claude-opus-4-1", 32_000),
        ("claude-sonnet-4-5", 64_000),
        ("claude-opus-4-5", 64_000),
        ("claude-opus-4-6", 128_000),
        ("claude-haiku-5", 64_000),
        ("gpt-4o", 16_384),
        ("gpt-5.2", 128_000),
        ("deepseek-chat", 8_192),
        ("kimi-k2", DEFAULT_MAX_OUTPUT_TOKENS),
        ("up-messages-model", DEFAULT_MAX_OUTPUT_TOKENS),
        ("", DEFAULT_MAX_OUTPUT_TOKENS),
    ],
)
def test_the_longest_answer_by_family(name: str, limit: int) -> None:
    assert default_max_output_tokens(name) == limit
