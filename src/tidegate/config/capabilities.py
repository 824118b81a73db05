"""Reads what an upstream can take."""

from tidegate.config.table import Table
from tidegate.config.values import choice, flag, whole
from tidegate.core.capability import (
    Capabilities,
    Effort,
    MaxTokensField,
    ReplayReasoning,
    Thinking,
    UnsupportedTools,
)


def capabilities(table: Table) -> Capabilities:
    """The setting `capabilities` of a channel or model."""
    inside = table.table("capabilities")
    read = Capabilities(
        max_tokens_field=inside.read("max_tokens_field", choice(MaxTokensField), None),
        sampling=inside.read("sampling", flag, None),
        thinking=inside.read("thinking", choice(Thinking), None),
        efforts=inside.items("efforts", choice(Effort)),
        prefill=inside.read("prefill", flag, None),
        mid_system=inside.read("mid_system", flag, None),
        developer_role=inside.read("developer_role", flag, None),
        instructions_required=inside.read("instructions_required", flag, None),
        structured_output=inside.read("structured_output", flag, None),
        custom_tools=inside.read("custom_tools", flag, None),
        web_search=inside.read("web_search", flag, None),
        reasoning_summary=inside.read("reasoning_summary", flag, None),
        replay_reasoning=inside.read("replay_reasoning", choice(ReplayReasoning), None),
        tool_name_max=inside.read("tool_name_max", whole(1, 1024), None),
        unsupported_tools=inside.read("unsupported_tools", choice(UnsupportedTools), None),
    )
    inside.close()
    return read
