"""Answers every question about what a channel can take with a model (conversion.md §12)."""

from collections.abc import Iterable, Mapping
from typing import Any

from tidegate.core.capability import (
    Capabilities,
    Effort,
    MaxTokensField,
    ReplayReasoning,
    Thinking,
    UnsupportedTools,
)
from tidegate.core.protocol import Protocol
from tidegate.protocols.conversion import Abilities
from tidegate.protocols.model_families import default_max_output_tokens, known_capabilities

__all__ = ["default_max_output_tokens", "resolve"]

_ANYWHERE = Capabilities(
    max_tokens_field=MaxTokensField.MAX_COMPLETION_TOKENS,
    sampling=True,
    thinking=Thinking.NONE,
    efforts=tuple(Effort),
    prefill=True,
    mid_system=False,
    developer_role=False,
    instructions_required=False,
    structured_output=True,
    custom_tools=False,
    web_search=False,
    reasoning_summary=True,
    replay_reasoning=ReplayReasoning.NEVER,
    tool_name_max=128,
    unsupported_tools=UnsupportedTools.DROP,
)
_BY_PROTOCOL: Mapping[Protocol, Capabilities] = {
    # An unknown model's server takes or ignores `reasoning_effort`; families that refuse it are known.
    Protocol.CHAT: Capabilities(tool_name_max=64),
    Protocol.RESPONSES: Capabilities(custom_tools=True),
    Protocol.MESSAGES: Capabilities(),
}
_NAMES = Capabilities.__struct_fields__


def resolve(
    protocol: Protocol,
    upstream_model: str,
    channel: Capabilities,
    model: Capabilities,
    *,
    unsupported_tools: Iterable[UnsupportedTools] = (),
) -> Abilities:
    """What holds for a model on a channel: what the operator told, the model's word before the channel's,
    else what is known of the family, else the protocol's default.

    `unsupported_tools` are further words on that question (key, channel); the strictest of all wins.
    """
    known = known_capabilities(protocol, upstream_model)
    layers = (model, channel, known, _BY_PROTOCOL[protocol], _ANYWHERE)
    answers: dict[str, Any] = {name: _first_told(layers, name) for name in _NAMES}
    words = {layer.unsupported_tools for layer in layers} | set(unsupported_tools)
    if UnsupportedTools.REJECT in words:
        answers["unsupported_tools"] = UnsupportedTools.REJECT
    return Abilities(**answers)


def _first_told(layers: Iterable[Capabilities], name: str) -> Any:
    return next(told for layer in layers if (told := getattr(layer, name)) is not None)
