"""Writes the turns of one answer in the history as assistant messages of a chat upstream."""

from typing import Any

from tidegate.core.capability import ReplayReasoning
from tidegate.core.conversation import Call, File, Hosted, Image, Refused, Result, Text, Thought, Turn
from tidegate.core.events import CallKind
from tidegate.core.protocol import Protocol
from tidegate.protocols.call_ids import call_id
from tidegate.protocols.losses import Losses
from tidegate.protocols.openai_history import call_input
from tidegate.protocols.openai_tool_writing import UpstreamTools

Message = dict[str, Any]


class AnswerWriter:
    """What the assistant thought, said and called, one message for as much as must stand together."""

    def __init__(self, tools: UpstreamTools, replay: ReplayReasoning, losses: Losses) -> None:
        self._tools = tools
        self._replay = replay
        self._losses = losses

    def write(self, turns: list[Turn]) -> list[Message]:
        """Adjacent turns. With calls they are one message, as results must follow their calls at once;
        else each that says something is a message, with the reasoning before it."""
        if any(isinstance(block, Call) for turn in turns for block in turn.blocks):
            groups = [turns]
        else:
            groups = _one_by_one(turns)
        return [message for group in groups if (message := self._message(group)) is not None]

    def _message(self, turns: list[Turn]) -> Message | None:
        texts = ["".join(block.text for block in turn.blocks if isinstance(block, Text)) for turn in turns]
        refusals: list[str] = []
        calls: list[Message] = []
        thoughts: list[Thought] = []
        for block in (block for turn in turns for block in turn.blocks):
            match block:
                case Text():
                    pass  # together with those of its turn
                case Refused():
                    refusals.append(block.text)
                case Call():
                    calls.append(self._call(block))
                case Thought():
                    thoughts.append(block)
                case Hosted():
                    self._losses.dropped(block.path)
                case Image() | File() | Result():
                    self._losses.refuse_value(block.path)
        content = "\n\n".join(text for text in texts if text)
        reasoning = self._reasoning(thoughts, calls=bool(calls))
        return _assembled(content, "".join(refusals), reasoning, calls)

    def _call(self, call: Call) -> Message:
        name = self._tools.names.of(call.name, call.namespace)
        if self._tools.kind(call, name) is CallKind.CUSTOM:
            custom = {"name": name, "input": call_input(call, CallKind.CUSTOM)}
            return {"id": call_id(call.id), "type": "custom", "custom": custom}
        function = {"name": name, "arguments": call_input(call, CallKind.FUNCTION)}
        return {"id": call_id(call.id), "type": "function", "function": function}

    def _reasoning(self, thoughts: list[Thought], *, calls: bool) -> str | None:
        """What goes back as `reasoning_content`, for upstreams that want it (conversion.md §7).

        Such an upstream refuses a message with calls that lacks it, so that it is "" where nothing was
        thought; but where a carrier of another protocol has been taken out it is left out.
        """
        texts: list[str] = []
        foreign = False
        for thought in thoughts:
            text = None if self._replay is ReplayReasoning.NEVER else _readable(thought)
            if text is None or (self._replay is ReplayReasoning.TOOL_TURNS and not calls):
                self._losses.dropped(thought.path, silent=True)
            elif text:
                texts.append(text)
            foreign = foreign or (text is None and thought.carried is not None)
        if texts:
            return "\n\n".join(texts)
        wanted = calls and self._replay is not ReplayReasoning.NEVER
        return "" if wanted and not foreign else None


def _one_by_one(turns: list[Turn]) -> list[list[Turn]]:
    groups: list[list[Turn]] = [[]]
    for turn in turns:
        groups[-1].append(turn)
        if any(isinstance(block, Text | Refused) for block in turn.blocks):
            groups.append([])
    return [group for group in groups if group]


def _readable(thought: Thought) -> str | None:
    """Reasoning of chat upstreams, and readable text that nothing opaque belongs to; None for the rest."""
    carried = thought.carried
    if carried is not None:
        return carried.value if carried.origin is Protocol.CHAT and isinstance(carried.value, str) else None
    return None if thought.foreign or thought.native is not None else thought.text


def _assembled(content: str, refusal: str, reasoning: str | None, calls: list[Message]) -> Message | None:
    """The message; None where it would say nothing."""
    if not (content or refusal or calls):
        return None
    message: Message = {"role": "assistant", "content": content or None}
    if refusal:
        message["refusal"] = refusal
    if reasoning is not None:
        message["reasoning_content"] = reasoning
    if calls:
        message["tool_calls"] = calls
    return message
