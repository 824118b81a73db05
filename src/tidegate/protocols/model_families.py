"""What is known about model families by their names (conversion.md §2, §12)."""

import re
from functools import lru_cache

from msgspec import Struct

from tidegate.core.capability import Capabilities, Effort, MaxTokensField, ReplayReasoning, Thinking
from tidegate.core.protocol import Protocol

DEFAULT_MAX_OUTPUT_TOKENS = 32_000
"""The output limit for a model of no known family, where the protocol demands one."""

_CLAUDE = re.compile(
    r"claude(?:[-_. ](?P<line>[a-z]+))??[-_. ]?v?(?P<major>\d{1,2})(?!\d)(?:[-_.p](?P<minor>\d{1,2})(?!\d))?"
)
_CLAUDE_LINES = re.compile(r"haiku|instant")
_NEWEST = (99, 0)
"""A Claude without a version in its name is taken for the newest."""

_NONE, _MINIMAL, _LOW, _MEDIUM, _HIGH, _XHIGH, _MAX = Effort
_LADDER = (_NONE, _LOW, _MEDIUM, _HIGH, _XHIGH, _MAX)
_BASIC = (_LOW, _MEDIUM, _HIGH)
_OLD_FIELD = MaxTokensField.MAX_TOKENS


class _Family(Struct, frozen=True):
    """Names that the pattern is found in (lower case, without the vendor's path), and what they can do."""

    pattern: re.Pattern[str]
    efforts: tuple[Effort, ...] | None = None
    max_output: int = DEFAULT_MAX_OUTPUT_TOKENS
    chat: Capabilities = Capabilities()
    """What holds on a chat upstream only."""


def _family(
    pattern: str,
    efforts: tuple[Effort, ...] | None = None,
    max_output: int = DEFAULT_MAX_OUTPUT_TOKENS,
    chat: Capabilities | None = None,
) -> _Family:
    return _Family(re.compile(rf"(?<![a-z0-9]){pattern}"), efforts, max_output, chat or Capabilities())


_COMPATIBLE = Capabilities(max_tokens_field=_OLD_FIELD)
_REPLAYED = Capabilities(max_tokens_field=_OLD_FIELD, replay_reasoning=ReplayReasoning.TOOL_TURNS)
_FAMILIES = (
    _family(r"gpt-5(\.\d+)?-chat", (), 16_384),
    _family(r"gpt-5-pro", (_HIGH,), 272_000),
    _family(r"gpt-5(\.1)?-codex(?!-max)", _BASIC, 128_000),
    _family(r"gpt-5\.1-codex-max", (*_BASIC, _XHIGH), 128_000),
    _family(r"gpt-5\.1(?!\d)", (_NONE, *_BASIC), 128_000),
    _family(r"gpt-5\.[2-5](?!\d)-pro", (_MEDIUM, _HIGH, _XHIGH), 128_000),
    _family(r"gpt-5\.[2-5](?!\d)-codex", (*_BASIC, _XHIGH), 128_000),
    _family(r"gpt-5\.[2-5](?!\d)", (_NONE, *_BASIC, _XHIGH), 128_000),
    _family(r"gpt-(5\.\d|[6-9]|\d\d)", _LADDER, 128_000),
    _family(r"gpt-5", (_MINIMAL, *_BASIC), 128_000),
    _family(r"gpt-oss", _BASIC, chat=_COMPATIBLE),
    _family(r"o1-(mini|preview)", (), 32_768),
    _family(r"o[134](?![a-z0-9])", _BASIC, 100_000),
    _family(r"gpt-4\.1", (), 32_768),
    _family(r"(gpt-4o|chatgpt)", (), 16_384),
    _family(r"gpt-[34]", (), 4_096),
    _family(r"deepseek-v([4-9]|\d\d)", (_HIGH, _MAX), 384_000, _REPLAYED),
    _family(r"deepseek-(reasoner|r1)", None, 65_536, _REPLAYED),
    _family(r"deepseek", None, 8_192, _REPLAYED),
    _family(r"(kimi|moonshot)", chat=_REPLAYED),
    _family(r"(qwen|qwq|qvq|magistral)", chat=_COMPATIBLE),
    _family(r"(mistral|ministral|mixtral|codestral|devstral)", (), chat=_COMPATIBLE),
    _family(r"(glm|minimax)-?", chat=_COMPATIBLE),
    _family(r"(llama|gemma|phi|command)-?", (), chat=_COMPATIBLE),
    _family(r"gemini-([01]|2\.0)", (), 8_192, _COMPATIBLE),
    _family(r"gemini-2\.5-pro", (_MINIMAL, *_BASIC), 65_536, _COMPATIBLE),
    _family(r"gemini-2\.5", (_NONE, _MINIMAL, *_BASIC), 65_536, _COMPATIBLE),
    _family(r"gemini", (_MINIMAL, *_BASIC), 65_536, _COMPATIBLE),
)


def known_capabilities(protocol: Protocol, upstream_model: str) -> Capabilities:
    """What the family of a model can take on an upstream of the protocol; what is not known is not told.

    Names may have a vendor's path, a region, a date or a build in them (`us.anthropic.claude-…-v1:0`).
    """
    version = _claude_version(upstream_model)
    if version is not None:
        return _claude(version) if protocol is Protocol.MESSAGES else Capabilities()
    family = _found(upstream_model)
    if family is None:
        return Capabilities()
    if protocol is not Protocol.CHAT:
        return Capabilities(efforts=family.efforts)
    return Capabilities(
        efforts=family.efforts,
        max_tokens_field=family.chat.max_tokens_field,
        replay_reasoning=family.chat.replay_reasoning,
    )


def default_max_output_tokens(upstream_model: str) -> int:
    """The longest answer of the model's family, else DEFAULT_MAX_OUTPUT_TOKENS."""
    version = _claude_version(upstream_model)
    if version is not None:
        return _claude_max_output(version, upstream_model.lower())
    family = _found(upstream_model)
    return DEFAULT_MAX_OUTPUT_TOKENS if family is None else family.max_output


@lru_cache(maxsize=1024)
def _found(upstream_model: str) -> _Family | None:
    name = upstream_model.lower().rpartition("/")[2]
    return next((family for family in _FAMILIES if family.pattern.search(name)), None)


def _claude_version(upstream_model: str) -> tuple[int, int] | None:
    """`claude-3-5-haiku-20241022`, `claude-sonnet-4@20250514`, `claude-4.6-opus`; None: another family."""
    name = upstream_model.lower()
    if "claude" not in name:
        return None
    found = _CLAUDE.search(name)
    return _NEWEST if found is None else (int(found["major"]), int(found["minor"] or 0))


def _claude(version: tuple[int, int]) -> Capabilities:
    if version < (3, 7):
        thinking = Thinking.NONE
    else:
        thinking = Thinking.BUDGET if version < (4, 6) else Thinking.ADAPTIVE
    without_xhigh = (_NONE, _MINIMAL, *_BASIC, _MAX) if version == (4, 6) else None
    return Capabilities(
        sampling=version < (4, 7),
        thinking=thinking,
        efforts=without_xhigh,
        prefill=version < (4, 6),
        mid_system=version >= (4, 8),
        structured_output=version >= (4, 1),
    )


def _claude_max_output(version: tuple[int, int], name: str) -> int:
    if version < (3, 5):
        return 4_096
    if version < (3, 7):
        return 8_192
    if version < (4, 6):
        return 32_000 if "opus" in name and version < (4, 5) else 64_000
    return 64_000 if _CLAUDE_LINES.search(name) else 128_000
