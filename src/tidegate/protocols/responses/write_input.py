"""Writes turns as the items of a responses upstream's input."""

from typing import Any, assert_never

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
from tidegate.core.events import CallKind
from tidegate.core.protocol import Protocol
from tidegate.protocols.call_ids import call_id
from tidegate.protocols.losses import Losses
from tidegate.protocols.openai_history import FirstResults, call_input, failed_content, is_lone_string
from tidegate.protocols.openai_media import file_data, image_url
from tidegate.protocols.openai_tool_writing import UpstreamTools

Item = dict[str, Any]


class InputWriter:
    """The items of one request. It remembers which calls are custom, as their results must be, too."""

    def __init__(self, client: Protocol, group: str | None, tools: UpstreamTools, losses: Losses) -> None:
        """`group`: whose reasoning goes back; None: nobody's."""
        self._client = client
        self._group = group
        self._tools = tools
        self._losses = losses
        self._results = FirstResults(losses)
        self._custom_calls: set[str] = set()
        self._items: list[Item] = []

    def write(self, turns: tuple[Turn, ...]) -> list[Item]:
        """All of them, in order."""
        for turn in turns:
            match turn.role:
                case Role.ASSISTANT:
                    self._write_answer(turn)
                case Role.USER:
                    self._write_user(turn)
                case Role.SYSTEM | Role.DEVELOPER:
                    self._write_message(turn)
        return self._items

    def _write_user(self, turn: Turn) -> None:
        """Results first, since they belong to the calls before."""
        for result in self._results.of(turn):
            self._items.append(self._output(result))
        if not turn.blocks or not all(isinstance(block, Result) for block in turn.blocks):
            self._write_message(turn)

    def _write_message(self, turn: Turn) -> None:
        text = is_lone_string(turn)
        content: Any = self._parts(turn.blocks) if text is None else text
        self._items.append({"role": turn.role.value, "content": content})

    def _write_answer(self, turn: Turn) -> None:
        said: list[Text | Refused] = []
        for block in turn.blocks:
            if isinstance(block, Text | Refused):
                said.append(block)
                continue
            if said and isinstance(block, Call | Thought):
                self._write_said(said)
                said = []
            self._write_block(block)
        if said:
            self._write_said(said)

    def _write_said(self, said: list[Text | Refused]) -> None:
        content: Any
        if all(isinstance(block, Text) for block in said):
            content = "".join(block.text for block in said)
            if content:
                self._items.append({"role": "assistant", "content": content})
            return
        content = [
            {"type": "refusal", "refusal": block.text}
            if isinstance(block, Refused)
            else {"type": "output_text", "text": block.text, "annotations": []}
            for block in said
        ]
        self._items.append({"type": "message", "role": "assistant", "content": content})

    def _write_block(self, block: "Call | Thought | Hosted | Image | File | Result") -> None:
        match block:
            case Call():
                self._results.call(block)
                self._items.append(self._call(block))
            case Thought():
                self._write_thought(block)
            case Hosted():
                self._losses.dropped(block.path)
            case Image() | File() | Result():
                self._losses.refuse_value(block.path)
            case _ as never:
                assert_never(never)

    def _write_thought(self, thought: Thought) -> None:
        """Only what this group of channels made itself can be read there (conversion.md §7)."""
        carried = thought.carried
        ours = carried is not None and carried.origin is Protocol.RESPONSES and thought.group == self._group
        if carried is not None and ours and isinstance(carried.value, dict):
            self._items.append(carried.value)
        else:
            self._losses.dropped(thought.path, silent=True)

    def _call(self, call: Call) -> Item:
        name = self._tools.names.of(call.name, call.namespace)
        id_ = call_id(call.id)
        if self._tools.kind(call, name) is CallKind.CUSTOM:
            self._custom_calls.add(call.id)
            text = call_input(call, CallKind.CUSTOM)
            return {"type": "custom_tool_call", "call_id": id_, "name": name, "input": text}
        arguments = call_input(call, CallKind.FUNCTION)
        return {"type": "function_call", "call_id": id_, "name": name, "arguments": arguments}

    def _output(self, result: Result) -> Item:
        content = failed_content(result, self._losses)
        output = content if isinstance(content, str) else self._parts(content)
        type_ = "custom_tool_call_output" if result.call_id in self._custom_calls else "function_call_output"
        return {"type": type_, "call_id": call_id(result.call_id), "output": output}

    def _parts(self, blocks: tuple[Block, ...]) -> list[Item]:
        parts: list[Item] = []
        for block in blocks:
            match block:
                case Text():
                    parts.append({"type": "input_text", "text": block.text})
                case Image():
                    parts.append(self._image(block))
                case File():
                    parts += self._file(block)
                case Refused():
                    parts.append({"type": "input_text", "text": block.text})
                case Result():
                    pass  # an item of its own
                case Thought() | Call() | Hosted():
                    self._losses.refuse_value(block.path)
                case _ as never:
                    assert_never(never)
        return parts

    def _image(self, image: Image) -> Item:
        url = image_url(image)
        if url is None:
            self._losses.refuse_value(image.path, f"`{image.path}` is a stored picture of another provider.")
        return {"type": "input_image", "image_url": url, "detail": image.detail or "auto"}

    def _file(self, file: File) -> list[Item]:
        parts: list[Item] = []
        if file.context is not None:
            parts.append({"type": "input_text", "text": file.context})
            self._losses.approximated(f"{file.path}.context")
        if file.cited:
            self._losses.dropped(f"{file.path}.citations")
        held = file_data(file)
        if held is not None:
            parts.append({"type": "input_file", **held})
        elif file.url is not None:
            named = {} if file.filename is None else {"filename": file.filename}
            parts.append({"type": "input_file", "file_url": file.url, **named})
        elif self._client is Protocol.CHAT:
            parts.append({"type": "input_file", "file_id": file.file_id})
        else:
            self._losses.refuse_value(file.path, f"`{file.path}` is a stored file of another provider.")
        return parts
