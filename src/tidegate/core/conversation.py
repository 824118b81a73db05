"""What a client asks: turns of blocks, tools and parameters, in one form for every protocol."""

# Everything carries the path of where it stood in the client's request (`messages[2].content[1]`), so that
# what a conversion drops, approximates or refuses can be named in the client's own terms.

from enum import Enum
from typing import Any, Generic, TypeAlias, TypeVar

from msgspec import Struct

from tidegate.core.capability import Effort
from tidegate.core.events import CallKind, Opaque
from tidegate.core.protocol import Protocol

T = TypeVar("T")


class LossCode(Enum):
    """How something was lost (CONTRACT.md, `x-tidegate-warnings`)."""

    DROPPED = "dropped"
    APPROXIMATED = "approximated"
    CLAMPED = "clamped"


class Loss(Struct, frozen=True):
    """One thing that a conversion could not say. `silent`: for the row only (reasoning of the history)."""

    code: LossCode
    path: str
    silent: bool = False


class Given(Struct, Generic[T], frozen=True):
    """A parameter that the client set to something other than null and the default, and where it stood."""

    value: T
    path: str


class Role(Enum):
    """Who speaks a turn."""

    SYSTEM = "system"
    DEVELOPER = "developer"
    USER = "user"
    ASSISTANT = "assistant"


class Text(Struct, frozen=True, kw_only=True):
    """Plain text."""

    text: str
    path: str


class Refused(Struct, frozen=True, kw_only=True):
    """A refusal in the history."""

    text: str
    path: str


class Image(Struct, frozen=True, kw_only=True):
    """A picture: exactly one of `url` (http or https), `data` (base64, with `media_type`), `file_id`."""

    path: str
    url: str | None = None
    media_type: str | None = None
    data: str | None = None
    file_id: str | None = None
    detail: str | None = None


class File(Struct, frozen=True, kw_only=True):
    """A document: exactly one of `url`, `data` (base64, with `media_type`), `text` (plain), `file_id`."""

    path: str
    url: str | None = None
    media_type: str | None = None
    data: str | None = None
    text: str | None = None
    file_id: str | None = None
    filename: str | None = None
    context: str | None = None
    cited: bool = False
    """Messages `citations.enabled`."""


class Thought(Struct, frozen=True, kw_only=True):
    """Reasoning in the history.

    `text` is its readable part. `native` is the opaque value of the client's own protocol as it came
    (for CHAT foreign gateways' forms included). `carried` is what a carrier of ours held, with the channel
    group that it belongs to; a carrier that does not open leaves both None and `foreign` true.
    """

    path: str
    text: str = ""
    native: Any = None
    carried: Opaque | None = None
    group: str | None = None
    foreign: bool = False


class Call(Struct, frozen=True, kw_only=True):
    """A call of a client's tool in the history. `input` is JSON text, or free text for a custom tool."""

    id: str
    name: str
    input: str
    path: str
    kind: CallKind = CallKind.FUNCTION
    namespace: str | None = None


class Result(Struct, frozen=True, kw_only=True):
    """What a tool answered: a string, or texts, images and files in order."""

    call_id: str
    content: "str | tuple[Text | Image | File, ...]"
    path: str
    is_error: bool = False
    kind: CallKind = CallKind.FUNCTION


class Hosted(Struct, frozen=True, kw_only=True):
    """A block of a hosted tool in the history, which only its own protocol can say: dropped across."""

    type: str
    path: str


Block: TypeAlias = Text | Refused | Image | File | Thought | Call | Result | Hosted


class Turn(Struct, frozen=True, kw_only=True):
    """One message or run of items. Results stand in USER turns, calls and thoughts in ASSISTANT turns."""

    role: Role
    blocks: tuple[Block, ...]
    path: str


class ToolKind(Enum):
    """What a tool is to the model."""

    FUNCTION = "function"
    CUSTOM = "custom"
    HOSTED = "hosted"
    """Run by the provider; `Tool.type` says which."""


class Tool(Struct, frozen=True, kw_only=True):
    """One tool. `schema` None: not given. `body` is the whole declaration of a hosted tool as it came."""

    kind: ToolKind
    path: str
    name: str = ""
    description: str | None = None
    schema: Any = None
    strict: bool | None = None
    namespace: str | None = None
    grammar: Any = None
    """The format of a custom tool, in the Responses form; None is free text."""
    type: str = "function"
    body: Any = None
    extras: tuple[str, ...] = ()
    """Members that no other protocol knows (`input_examples`, ...): dropped with a warning."""
    defer_loading: bool = False


class ChoiceMode(Enum):
    """Whether tools are called."""

    AUTO = "auto"
    NONE = "none"
    REQUIRED = "required"
    NAMED = "named"


class ToolChoice(Struct, frozen=True, kw_only=True):
    """`names`: with NAMED the one tool; with AUTO or REQUIRED the tools that are allowed, empty for all."""

    mode: ChoiceMode
    path: str
    names: tuple[str, ...] = ()
    kind: CallKind = CallKind.FUNCTION
    hosted: str | None = None
    """With NAMED: the type of the hosted tool that is forced."""


class Format(Enum):
    """What the answer's text must be."""

    JSON_OBJECT = "json_object"
    JSON_SCHEMA = "json_schema"


class Structured(Struct, frozen=True, kw_only=True):
    """Structured output."""

    format: Format
    path: str
    name: str | None = None
    schema: Any = None
    strict: bool | None = None
    description: str | None = None


class ThinkingMode(Enum):
    """The Messages `thinking.type`."""

    ADAPTIVE = "adaptive"
    ENABLED = "enabled"
    DISABLED = "disabled"
    BETWEEN_TOOLS = "between_tools"


class Reasoning(Struct, frozen=True, kw_only=True):
    """How much and how visibly to reason; None is "not told"."""

    effort: Given[Effort] | None = None
    thinking: Given[ThinkingMode] | None = None
    budget: int | None = None
    shown: bool | None = None
    """Messages `display`: summarized (True) or omitted (False)."""
    summary: str | None = None
    """Responses `reasoning.summary`."""


class Sampling(Struct, frozen=True, kw_only=True):
    """Parameters of the sampler and of the answer's extent."""

    max_output_tokens: Given[int] | None = None
    temperature: Given[float] | None = None
    top_p: Given[float] | None = None
    top_k: Given[int] | None = None
    stop: Given[tuple[str, ...]] | None = None
    choices: Given[int] | None = None
    """`n`; only set where it is above 1."""
    presence_penalty: Given[float] | None = None
    frequency_penalty: Given[float] | None = None
    seed: Given[int] | None = None
    logit_bias: Given[Any] | None = None
    logprobs: Given[int] | None = None
    """How many alternatives; 0 is log probabilities without alternatives."""
    verbosity: Given[str] | None = None


class Conversation(Struct, frozen=True, kw_only=True):
    """A whole request. Members that only one protocol knows are in `others`, by their path."""

    protocol: Protocol
    """The client's."""
    model: str
    stream: bool
    instructions: Given[str] | None = None
    """Responses only: system text that stands apart from the turns."""
    system: tuple[Text, ...] = ()
    """Messages only: the blocks of `system`. The other protocols have system turns."""
    turns: tuple[Turn, ...]
    tools: tuple[Tool, ...] = ()
    choice: ToolChoice | None = None
    parallel: Given[bool] | None = None
    sampling: Sampling = Sampling()
    reasoning: Reasoning = Reasoning()
    structured: Structured | None = None
    end_user: Given[str] | None = None
    metadata: Given[Any] | None = None
    store: Given[bool] | None = None
    service_tier: Given[str] | None = None
    web_search: Given[Any] | None = None
    """Chat `web_search_options`, as it came."""
    legacy_functions: bool = False
    """Chat: the client used `functions`, so the answer speaks of `function_call`."""
    others: tuple[Given[Any], ...] = ()
    """Known members without a concept above (rules of conversion.md §2 by path), and unknown ones."""
    losses: tuple[Loss, ...] = ()
    """What reading into this form has cost already; told beside what a writer loses."""
