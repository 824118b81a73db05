"""Reads the items of a Responses request's input as turns."""

from typing import Any

from tidegate.core.conversation import (
    Block,
    Call,
    File,
    Hosted,
    Image,
    Result,
    Role,
    Text,
    Thought,
    Tool,
    Turn,
)
from tidegate.core.events import CallKind
from tidegate.protocols.client_members import objects, text_at, text_if_any
from tidegate.protocols.conversion import OpenCarrier
from tidegate.protocols.loose import mappings
from tidegate.protocols.losses import Losses, malformed
from tidegate.protocols.passthrough import is_carrier
from tidegate.protocols.responses.read_parts import read_parts
from tidegate.protocols.responses.read_tools import read_tools

_ROLES = {
    "system": Role.SYSTEM,
    "developer": Role.DEVELOPER,
    "user": Role.USER,
    "assistant": Role.ASSISTANT,
}
_HOSTED_CALLS = frozenset(
    {
        "web_search_call",
        "file_search_call",
        "code_interpreter_call",
        "image_generation_call",
        "mcp_list_tools",
        "mcp_call",
    }
)
"""What hosted tools did: no other protocol can say it, and the conversation goes on without it."""


class ItemReader:
    """One request's items. Ids of items are ignored: across protocols nothing refers to them."""

    def __init__(self, open_carrier: OpenCarrier, refusals: Losses) -> None:
        self.tools: list[Tool] = []
        """What `additional_tools` items declare."""
        self._open = open_carrier
        self._refusals = refusals

    def read(self, items: object, path: str) -> tuple[Turn, ...]:
        """The input: a string is one user message. `path` is that of the whole."""
        match items:
            case None:
                return ()
            case str():
                return (Turn(role=Role.USER, blocks=(Text(text=items, path=path),), path=path),)
            case list():
                read = (self._read_item(item, where) for where, item in objects(items, path, self._refusals))
                return tuple(turn for turn in read if turn is not None)
            case _:  # a client may send anything
                self._refusals.refuse(malformed(path, "a string or an array of items"))
                return ()

    def _read_item(self, item: dict[str, Any], path: str) -> Turn | None:
        match item.get("type"):
            case "message":
                return self._message(item, path)
            case "function_call":
                return _turn(Role.ASSISTANT, self._call(item, path, CallKind.FUNCTION, "arguments"))
            case "custom_tool_call":
                return _turn(Role.ASSISTANT, self._call(item, path, CallKind.CUSTOM, "input"))
            case "function_call_output":
                return _turn(Role.USER, self._result(item, path, CallKind.FUNCTION))
            case "custom_tool_call_output":
                return _turn(Role.USER, self._result(item, path, CallKind.CUSTOM))
            case "reasoning":
                return _turn(Role.ASSISTANT, self._thought(item, path))
            case "additional_tools":
                self.tools += read_tools(item.get("tools"), f"{path}.tools", self._refusals)
            case type_:
                return self._other_item(item, type_, path)
        return None

    def _other_item(self, item: dict[str, Any], type_: object, path: str) -> Turn | None:
        """A message without its type, what a hosted tool did, or what nobody can convert."""
        if type_ is None and "role" in item:
            return self._message(item, path)
        if isinstance(type_, str) and type_ in _HOSTED_CALLS:
            return _turn(Role.ASSISTANT, Hosted(type=type_, path=path))
        if isinstance(type_, str):
            said = f"`{path}` is an item of a type that does not convert."
            self._refusals.refuse_value(f"{path}.type", said)
        elif type_ is None:
            self._refusals.refuse_value(
                path, f"`{path}` refers to a stored item, which the channel does not know."
            )
        else:
            self._refusals.refuse(malformed(f"{path}.type", "a string"))
        return None

    def _message(self, item: dict[str, Any], path: str) -> Turn | None:
        role = item.get("role")
        if not isinstance(role, str):
            self._refusals.refuse(malformed(f"{path}.role", "a string"))
            return None
        if role not in _ROLES:
            self._refusals.refuse_value(f"{path}.role", f"`{path}.role` is no role of a message.")
            return None
        blocks = read_parts(item.get("content"), f"{path}.content", self._refusals)
        return Turn(role=_ROLES[role], blocks=blocks, path=path)

    def _call(self, item: dict[str, Any], path: str, kind: CallKind, input_name: str) -> Call:
        return Call(
            id=text_at(item, "call_id", path, self._refusals),
            name=text_at(item, "name", path, self._refusals),
            input=text_if_any(item, input_name, path, self._refusals) or "",
            path=path,
            kind=kind,
            namespace=text_if_any(item, "namespace", path, self._refusals),
        )

    def _result(self, item: dict[str, Any], path: str, kind: CallKind) -> Result:
        id_ = text_at(item, "call_id", path, self._refusals)
        output = item.get("output")
        if isinstance(output, str):
            return Result(call_id=id_, content=output, path=path, kind=kind)
        parts = read_parts(output, f"{path}.output", self._refusals)
        kept = tuple(part for part in parts if isinstance(part, Text | Image | File))
        return Result(call_id=id_, content=kept or "", path=path, kind=kind)

    def _thought(self, item: dict[str, Any], path: str) -> Thought:
        sealed = item.get("encrypted_content")
        text = _readable(item)
        if not isinstance(sealed, str) or not sealed:
            return Thought(path=path, text=text)
        if not is_carrier(sealed):
            return Thought(path=path, text=text, native=item)
        opened = self._open(sealed)
        if opened is None:
            return Thought(path=path, text=text, foreign=True)
        return Thought(path=path, text=text, carried=opened.opaque, group=opened.group)


def _turn(role: Role, block: Block) -> Turn:
    return Turn(role=role, blocks=(block,), path=block.path)


def _readable(item: dict[str, Any]) -> str:
    """The raw reasoning where it is there, else its summary."""
    for name in ("content", "summary"):
        texts = [
            text for part in mappings(item.get(name)) if isinstance(text := part.get("text"), str) and text
        ]
        if texts:
            return "\n\n".join(texts)
    return ""
