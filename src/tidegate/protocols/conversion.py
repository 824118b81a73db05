"""The interface between the two halves of a conversion, and what the halves tell each other."""

from collections.abc import Callable, Mapping
from typing import Protocol as Interface

from msgspec import Struct

from tidegate.core.capability import Effort, MaxTokensField, ReplayReasoning, Thinking, UnsupportedTools
from tidegate.core.conversation import Conversation, Loss
from tidegate.core.events import CallKind, Event, Finished, Opaque, Spoken
from tidegate.core.failure import Failure
from tidegate.core.protocol import Protocol
from tidegate.core.sse import Frame
from tidegate.core.usage import Usage
from tidegate.protocols.base import Asked, Seed

OpenCarrier = Callable[[str], "Carried | None"]
"""Opens a sealed carrier (`tgr1.…`) of this account; None: not ours, not this account's, or malformed."""
Seal = Callable[[Opaque], str]
"""Seals what an upstream needs to get its reasoning back into a client's opaque field."""


class Carried(Struct, frozen=True):
    """What a carrier holds: the opaque value and the channel group that made it."""

    opaque: Opaque
    group: str


class Abilities(Struct, frozen=True, kw_only=True):
    """Capabilities of a channel with a model, resolved: every question has an answer (conversion.md §12)."""

    max_tokens_field: MaxTokensField
    sampling: bool
    thinking: Thinking
    efforts: tuple[Effort, ...]
    """Empty: the upstream takes no effort at all."""
    prefill: bool
    mid_system: bool
    developer_role: bool
    instructions_required: bool
    structured_output: bool
    custom_tools: bool
    web_search: bool
    reasoning_summary: bool
    replay_reasoning: ReplayReasoning
    tool_name_max: int
    unsupported_tools: UnsupportedTools
    """The stricter of key and channel."""


class Target(Struct, frozen=True, kw_only=True):
    """The channel that a request is written for."""

    model: str
    """The upstream's name."""
    group: str
    abilities: Abilities
    max_output_tokens: int
    """Sent where the protocol demands a limit and the client gave none."""
    stream: bool
    """Whether the upstream is asked for a stream."""


class ToolName(Struct, frozen=True):
    """A tool as the client declared it."""

    name: str
    kind: CallKind = CallKind.FUNCTION
    namespace: str | None = None


class Written(Struct, frozen=True, kw_only=True):
    """A request for a channel of another protocol, and what the way back must know."""

    body: bytes
    losses: tuple[Loss, ...] = ()
    names: Mapping[str, ToolName] = {}
    """Upstream tool name -> the client's tool, for every name or kind that was changed."""
    stops: tuple[str, ...] = ()
    """Stop strings that the upstream does not know and the gateway must cut at."""


class Decoder(Interface):
    """Reads one upstream stream into events; one per attempt. Blocks come one after the other."""

    def decode(self, frame: Frame) -> tuple[Event, ...]:
        """The events that the frame says, often none. `[DONE]` and unknown events say nothing.

        A frame that cannot be meant (no JSON, an end mark too early) is Failed with Kind.UPSTREAM.
        """

    @property
    def finished(self) -> bool:
        """Whether the model has said how it ended, so that an orderly end of the stream loses nothing."""

    def finish(self) -> tuple[Event, ...]:
        """The upstream ended or nothing more is awaited: what was held back.

        Ends in Finished if the protocol's rule for a whole answer is met (Chat: a finish for every choice).
        """


class AnswerContext(Struct, frozen=True, kw_only=True):
    """What an encoder needs besides events: the client's request, ids, time, names and the seal."""

    asked: Asked
    conversation: Conversation
    upstream: Protocol
    """Who speaks: what parts one text block from the next differs."""
    seed: Seed
    seal: Seal
    names: Mapping[str, ToolName] = {}
    input_estimate: int | None = None
    """Tokens of the prompt, for a protocol that tells them at the start."""


class Encoder(Interface):
    """Writes events as the client's protocol; one per answer, which ends with `finish` or `error_event`."""

    def encode(self, event: Spoken) -> bytes:
        """The bytes for the client, often none."""

    @property
    def finish_reason(self) -> str | None:
        """How the answer ended in the protocol's own words; None before `finish`."""

    def finish(self, finished: Finished, usage: Usage | None) -> bytes:
        """The end of a whole answer, its end mark included; nothing may follow.

        `usage` is told to the client instead of what UsageTold said; None: what was told stands.
        """

    def error_event(self, failure: Failure) -> bytes:
        """The error event after what has been encoded so far (opens a Responses stream first if need be)."""


ReadConversation = Callable[[Asked, OpenCarrier], Conversation | Failure]
"""Per dialect: the client's request in the common form; Failure: 400 naming an unknown or malformed part."""
WriteConversation = Callable[[Conversation, Target], Written | Failure]
"""Per dialect: the common form as a request for a channel; Failure: 400 for what cannot be said there."""
