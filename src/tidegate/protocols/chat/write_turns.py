"""Writes turns as the messages of a chat upstream."""

from typing import Any, assert_never

from tidegate.core.capability import ReplayReasoning
from tidegate.core.conversation import (
    Block,
    Call,
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
from tidegate.core.protocol import Protocol
from tidegate.protocols.call_ids import call_id
from tidegate.protocols.chat.write_answers import AnswerWriter
from tidegate.protocols.chat.write_parts import PartWriter
from tidegate.protocols.losses import Losses
from tidegate.protocols.openai_history import FirstResults, failed_content
from tidegate.protocols.openai_tool_writing import UpstreamTools

Message = dict[str, Any]


class TurnWriter:
    """The messages of one request.

    What a tool answered besides text waits for the next user message, as a `tool` message holds only text
    (conversion.md §4); the turns of one answer wait until the answer is whole.
    """

    def __init__(
        self,
        client: Protocol,
        tools: UpstreamTools,
        replay: ReplayReasoning,
        losses: Losses,
        *,
        developer_role: bool,
    ) -> None:
        self._losses = losses
        self._answers = AnswerWriter(tools, replay, losses)
        self._parts = PartWriter(client, losses)
        self._results = FirstResults(losses)
        self._developer = "developer" if developer_role else "system"
        self._messages: list[Message] = []
        self._answer: list[Turn] = []
        self._waiting: list[Message] = []

    def write(self, turns: tuple[Turn, ...]) -> list[Message]:
        """All of them, in order."""
        for turn in turns:
            if turn.role is Role.ASSISTANT:
                self._flush_waiting()
                self._answer.append(turn)
                for block in turn.blocks:
                    if isinstance(block, Call):
                        self._results.call(block)
                continue
            self._flush_answer()
            match turn.role:
                case Role.USER:
                    self._write_user(turn)
                case Role.SYSTEM:
                    self._write_message("system", turn.blocks)
                case Role.DEVELOPER:
                    self._write_message(self._developer, turn.blocks)
        self._flush_answer()
        self._flush_waiting()
        return self._messages

    def _flush_answer(self) -> None:
        if self._answer:
            self._messages += self._answers.write(self._answer)
            self._answer = []

    def _flush_waiting(self) -> None:
        if self._waiting:
            self._messages.append({"role": "user", "content": self._waiting})
            self._waiting = []

    def _write_user(self, turn: Turn) -> None:
        for result in self._results.of(turn):
            self._write_result(result)
        others = tuple(block for block in turn.blocks if not isinstance(block, Result))
        if others or not turn.blocks:
            self._write_message("user", others)

    def _write_message(self, role: str, blocks: tuple[Block, ...]) -> None:
        """A single text is a string, which every server takes; system text never waits for pictures."""
        waiting, self._waiting = (self._waiting, []) if role == "user" else ([], self._waiting)
        content: Any
        match blocks:
            case () if not waiting:
                content = ""
            case (Text(text=text),) if not waiting:
                content = text
            case _:  # parts
                content = waiting + [part for block in blocks for part in self._write_block(block)]
        self._messages.append({"role": role, "content": content})

    def _write_block(self, block: Block) -> list[Message]:
        match block:
            case Text() | Refused():
                return [{"type": "text", "text": block.text}]
            case Image() | File():
                return self._parts.write(block)
            case Result():
                return []  # a message of its own
            case Thought() | Call() | Hosted():
                self._losses.refuse_value(block.path)
                return []
            case _ as never:
                assert_never(never)

    def _write_result(self, result: Result) -> None:
        content = failed_content(result, self._losses)
        id_ = call_id(result.call_id)
        texts: list[str] = []
        if isinstance(content, str):
            texts.append(content)
        else:
            for part in content:
                if isinstance(part, Text):
                    texts.append(part.text)
                else:
                    self._wait(part, id_)
        self._messages.append({"role": "tool", "tool_call_id": id_, "content": "\n".join(texts)})

    def _wait(self, part: Image | File, id_: str) -> None:
        what = "image" if isinstance(part, Image) else "file"
        self._losses.approximated(part.path)
        self._waiting.append({"type": "text", "text": f"[{what} from tool result {id_}]"})
        self._waiting += self._parts.write(part)
