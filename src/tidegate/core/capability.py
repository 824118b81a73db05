"""What an upstream can take, as far as the operator has told, and how strict a conversion must be."""

from enum import Enum

from msgspec import Struct


class Conversion(Enum):
    """What happens to parameters, content or tools that a conversion would drop or approximate."""

    LENIENT = "lenient"
    """Done, and told in the warnings."""
    STRICT = "strict"
    """Refused with 400."""


class UnsupportedTools(Enum):
    """What happens to hosted tools that a channel lacks."""

    DROP = "drop"
    REJECT = "reject"


class MaxTokensField(Enum):
    """The member that carries the output limit on a chat upstream."""

    MAX_TOKENS = "max_tokens"
    MAX_COMPLETION_TOKENS = "max_completion_tokens"


class Thinking(Enum):
    """The form of thinking that a messages upstream takes."""

    ADAPTIVE = "adaptive"
    BUDGET = "budget"
    NONE = "none"


class Effort(Enum):
    """A level of reasoning effort; the members stand from least to most."""

    NONE = "none"
    MINIMAL = "minimal"
    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"
    XHIGH = "xhigh"
    MAX = "max"


class ReplayReasoning(Enum):
    """When a chat upstream wants `reasoning_content` of earlier turns back."""

    NEVER = "never"
    TOOL_TURNS = "tool_turns"
    ALL = "all"


class Capabilities(Struct, frozen=True, kw_only=True):
    """What the operator told about an upstream; None is "not told": family or protocol decides."""

    max_tokens_field: MaxTokensField | None = None
    sampling: bool | None = None
    thinking: Thinking | None = None
    efforts: tuple[Effort, ...] | None = None
    prefill: bool | None = None
    mid_system: bool | None = None
    developer_role: bool | None = None
    instructions_required: bool | None = None
    structured_output: bool | None = None
    custom_tools: bool | None = None
    web_search: bool | None = None
    reasoning_summary: bool | None = None
    replay_reasoning: ReplayReasoning | None = None
    tool_name_max: int | None = None
    unsupported_tools: UnsupportedTools | None = None
