"""Writes the turns of a conversation as `system` and `messages` of Messages (conversion.md §2, §3)."""

from itertools import takewhile
from typing import Any

from msgspec import Struct

from tidegate.core.conversation import (
    Block as AnyBlock,
)
from tidegate.core.conversation import (
    Call,
    Conversation,
    File,
    Hosted,
    Image,
    Refused,
    Result,
    Role,
    Text,
    Thought,
    Turn,
)
from tidegate.protocols.call_ids import call_id
from tidegate.protocols.conversion import Target
from tidegate.protocols.losses import Losses, malformed
from tidegate.protocols.messages.write_blocks import (
    Block,
    call_block,
    content_block,
    result_block,
    says_something,
    text_block,
    thinking_blocks,
)
from tidegate.protocols.tool_names import ToolNames

_SYSTEM_ROLES = (Role.SYSTEM, Role.DEVELOPER)
_THINKING = ("thinking", "redacted_thinking")


class Prompt(Struct, frozen=True):
    """What goes up. `system` may be empty; the content of a message may be a string."""

    system: list[Block]
    messages: list[dict[str, Any]]
    lacks_thinking: bool
    """Whether the last message brings tool results to calls that were made without thinking before them."""


class _Open:
    """The message that is being written: merged from neighbouring turns of one role."""

    __slots__ = ("blocks", "calls", "results", "role")

    def __init__(self, role: str, calls: list[str]) -> None:
        self.role = role
        self.blocks: list[Block] = []
        self.results: dict[str, Block] = {}
        """By the id of their call."""
        self.calls = calls
        """Ids of the calls of the message before."""

    def content(self) -> list[Block]:
        """The results first, in the order of their calls (messages.md, "Tool rule")."""
        if not self.results:
            return self.blocks
        ordered = [self.results.pop(id_) for id_ in self.calls if id_ in self.results]
        return [*ordered, *self.results.values(), *self.blocks]


class TurnWriter:
    """Writes one conversation."""

    def __init__(self, conversation: Conversation, target: Target, names: ToolNames, losses: Losses) -> None:
        self._conversation = conversation
        self._target = target
        self._names = names
        self._losses = losses
        self._messages: list[dict[str, Any]] = []
        self._open: _Open | None = None

    def write(self) -> Prompt:
        """The whole prompt. A last turn of the model's is refused where the channel cannot go on from it."""
        turns = self._conversation.turns
        leading = list(takewhile(lambda turn: turn.role in _SYSTEM_ROLES, turns))
        rest = turns[len(leading) :]
        if leading and not rest:
            self._ask(leading.pop())
        system = self._system(leading)
        for turn in _results_first(rest):
            self._turn(turn)
        self._close()
        self._check_end(turns)
        return Prompt(system, self._messages, _lacks_thinking(self._messages))

    def _ask(self, turn: Turn) -> None:
        """A conversation cannot be without messages: the last of nothing but system text asks."""
        texts = self._system_texts(turn)
        if texts:
            self._losses.approximated(turn.path)
            self._opened("user").blocks.extend(text_block(text) for text in texts)

    def _system(self, leading: list[Turn]) -> list[Block]:
        given = self._conversation.instructions
        texts = [] if given is None else [given.value]
        texts += [text for turn in leading for text in self._system_texts(turn)]
        return [text_block(text) for text in texts if says_something(text)]

    def _system_texts(self, turn: Turn) -> list[str]:
        texts = []
        for block in turn.blocks:
            if isinstance(block, Text | Refused):
                texts.append(block.text)
            else:
                self._losses.refuse_value(block.path, f"`{block.path}`: system messages hold text only.")
        return [text for text in texts if says_something(text)]

    def _turn(self, turn: Turn) -> None:
        match turn.role:
            case Role.SYSTEM | Role.DEVELOPER:
                self._late_system(turn)
            case Role.USER:
                self._user(turn)
            case Role.ASSISTANT:
                self._assistant(turn)

    def _late_system(self, turn: Turn) -> None:
        """Where the model knows such messages they stand after a user turn, and nowhere else."""
        texts = self._system_texts(turn)
        if not texts:
            return
        fits = self._open is not None and self._open.role in ("user", "system")
        if self._target.abilities.mid_system and fits:
            self._opened("system").blocks.extend(text_block(text) for text in texts)
            return
        self._losses.approximated(turn.path)
        self._opened("user").blocks.extend(text_block(f"System: {text}") for text in texts)

    def _user(self, turn: Turn) -> None:
        said: list[Block] = []
        for block in turn.blocks:
            match block:
                case Text() | Image() | File():
                    said.extend(content_block(block, self._conversation.protocol, self._losses))
                case Result():
                    self._result(block)
                case Refused(text=text):
                    said.append(text_block(text))
                case Thought() | Call() | Hosted():
                    self._losses.dropped(block.path, silent=isinstance(block, Thought))
        if said:
            self._opened("user").blocks.extend(said)

    def _result(self, result: Result) -> None:
        """Of several results of one call the first counts (conversion.md §3)."""
        results = self._opened("user").results
        id_ = call_id(result.call_id)
        if id_ in results:
            self._losses.dropped(result.path)
        else:
            results[id_] = result_block(result, self._conversation.protocol, self._losses)

    def _assistant(self, turn: Turn) -> None:
        """Thinking goes before the turn's other blocks, unless it stands there already."""
        blocks = turn.blocks
        if blocks and not isinstance(blocks[0], Thought):
            blocks = tuple(sorted(blocks, key=lambda block: not isinstance(block, Thought)))
        said = [written for block in blocks for written in self._said(block)]
        if said:
            self._opened("assistant").blocks.extend(said)

    def _said(self, block: AnyBlock) -> list[Block]:
        match block:
            case Text(text=text) | Refused(text=text):
                return [text_block(text)] if says_something(text) else []
            case Call():
                return [call_block(block, self._names.of(block.name, block.namespace), self._losses)]
            case Thought():
                return self._thought(block)
            case Hosted():
                self._losses.dropped(block.path)
            case Image() | File() | Result():
                self._losses.refuse_value(block.path, f"`{block.path}`: the model itself sends no such part.")
        return []

    def _thought(self, thought: Thought) -> list[Block]:
        blocks = thinking_blocks(thought, self._target.group)
        if not blocks:
            self._losses.dropped(thought.path, silent=True)
        return blocks

    def _opened(self, role: str) -> _Open:
        """The message of this role that is open, or a new one. Something must be put into it."""
        if self._open is None or self._open.role != role:
            self._open = _Open(role, self._close())
        return self._open

    def _close(self) -> list[str]:
        """Put the open message behind the others. Returns the ids of its calls."""
        message = self._open
        if message is None:
            return []
        self._open = None
        content = message.content()
        self._messages.append({"role": message.role, "content": _shortest(content)})
        return [block["id"] for block in content if block["type"] == "tool_use"]

    def _check_end(self, turns: tuple[Turn, ...]) -> None:
        """Something must be asked; where the model has the last word, it must be able to go on from it."""
        if not self._messages:
            path = turns[0].path if turns else "messages"
            self._losses.refuse(malformed(path, "a message that says something"))
        elif self._messages[-1]["role"] == "assistant":
            if not self._target.abilities.prefill:
                said = "The channels of this model cannot continue a given beginning of an answer."
                self._losses.refuse_value(turns[-1].path, said)
            _strip_end(self._messages[-1])


def _results_first(turns: tuple[Turn, ...]) -> list[Turn]:
    """Results stand before all else that follows their calls, so that no system message parts them."""
    ordered: list[Turn] = []
    others: list[Turn] = []
    for turn in turns:
        if turn.role is Role.ASSISTANT:
            ordered += [*others, turn]
            others = []
        elif any(isinstance(block, Result) for block in turn.blocks):
            ordered.append(turn)
        else:
            others.append(turn)
    return ordered + others


def _shortest(content: list[Block]) -> str | list[Block]:
    """One text block is what a string says as well."""
    if len(content) == 1 and content[0]["type"] == "text":
        text: str = content[0]["text"]
        return text
    return content


def _strip_end(message: dict[str, Any]) -> None:
    """The API refuses a beginning of an answer that ends in white space."""
    content = message["content"]
    if isinstance(content, str):
        message["content"] = content.rstrip()
    elif content[-1]["type"] == "text":
        content[-1] = text_block(content[-1]["text"].rstrip())


def _lacks_thinking(messages: list[dict[str, Any]]) -> bool:
    """Whether tool calls are being continued whose message does not begin with thinking."""
    spoken = [message for message in messages if message["role"] != "system"]
    if len(spoken) < 2 or spoken[-1]["role"] != "user" or spoken[-2]["role"] != "assistant":
        return False
    asked, said = spoken[-1]["content"], spoken[-2]["content"]
    if isinstance(asked, str) or asked[0]["type"] != "tool_result":
        return False
    return isinstance(said, str) or said[0]["type"] not in _THINKING
