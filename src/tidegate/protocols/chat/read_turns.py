"""Reads the messages of a Chat request as turns."""

from typing import Any

from tidegate.core.conversation import (
    Block,
    Call,
    File,
    Given,
    Image,
    Refused,
    Result,
    Role,
    Text,
    Thought,
    Turn,
)
from tidegate.core.events import CallKind
from tidegate.protocols.chat.read_parts import read_parts
from tidegate.protocols.client_members import objects, text_at, text_if_any
from tidegate.protocols.conversion import OpenCarrier
from tidegate.protocols.losses import Losses, malformed
from tidegate.protocols.passthrough import is_carrier

_ROLES = {"system": Role.SYSTEM, "developer": Role.DEVELOPER, "user": Role.USER}
_LEGACY_ID = "call_legacy_"


class TurnReader:
    """One request's messages. It counts legacy calls, which have no ids that could pair them with results."""

    def __init__(self, open_carrier: OpenCarrier, refusals: Losses) -> None:
        self.others: list[Given[Any]] = []
        self._open = open_carrier
        self._refusals = refusals
        self._legacy_calls = 0

    def read(self, messages: list[Any]) -> tuple[Turn, ...]:
        """All of them, in order."""
        read = (self._read_message(one, path) for path, one in objects(messages, "messages", self._refusals))
        return tuple(turn for turn in read if turn is not None)

    def _read_message(self, message: dict[str, Any], path: str) -> Turn | None:
        role = message.get("role")
        if message.get("name") is not None and role != "function":
            self.others.append(Given(message["name"], f"{path}.name"))
        match role:
            case "user" | "system" | "developer":
                blocks = read_parts(message.get("content"), f"{path}.content", self._refusals)
                return Turn(role=_ROLES[role], blocks=blocks, path=path)
            case "assistant":
                return Turn(role=Role.ASSISTANT, blocks=tuple(self._said(message, path)), path=path)
            case "tool":
                id_ = text_at(message, "tool_call_id", path, self._refusals)
                return self._result(message, path, id_)
            case "function":
                return self._result(message, path, f"{_LEGACY_ID}{self._legacy_calls}")
            case str():
                self._refusals.refuse_value(f"{path}.role", f"`{path}.role` is no role of a message.")
            case _:  # a client may send anything
                self._refusals.refuse(malformed(f"{path}.role", "a string"))
        return None

    def _said(self, message: dict[str, Any], path: str) -> list[Block]:
        """An assistant's message: reasoning first, as it was thought, then what it said and called."""
        blocks: list[Block] = [*self._thoughts(message, path)]
        blocks += read_parts(message.get("content"), f"{path}.content", self._refusals)
        refusal = text_if_any(message, "refusal", path, self._refusals)
        if refusal:
            blocks.append(Refused(text=refusal, path=f"{path}.refusal"))
        if message.get("audio") is not None:
            self._refusals.refuse_parameter(f"{path}.audio")
        blocks += self._calls(message, path)
        return blocks

    def _thoughts(self, message: dict[str, Any], path: str) -> list[Thought]:
        """One for each carrier of ours; what remains is one more, with other gateways' forms as `native`."""
        text = message.get("reasoning_content") or message.get("reasoning")
        readable = text if isinstance(text, str) else ""
        found: list[Thought] = []
        foreign: list[Any] = []
        details = message.get("reasoning_details")
        for number, entry in enumerate(details if isinstance(details, list) else ()):
            sealed = _carrier_in(entry)
            if sealed is None:
                foreign.append(entry)
                continue
            where = f"{path}.reasoning_details[{number}]"
            opened = self._open(sealed)
            if opened is None:
                found.append(Thought(path=where, text=readable, foreign=True))
            else:
                found.append(Thought(path=where, text=readable, carried=opened.opaque, group=opened.group))
        blocks = message.get("thinking_blocks")
        foreign += blocks if isinstance(blocks, list) else []
        if foreign or (readable and not found):
            where = f"{path}.reasoning_details" if foreign else f"{path}.reasoning_content"
            found.append(Thought(path=where, text=readable, native=foreign or None))
        return found

    def _calls(self, message: dict[str, Any], path: str) -> list[Call]:
        listed = message.get("tool_calls")
        if listed is not None and not isinstance(listed, list):
            self._refusals.refuse(malformed(f"{path}.tool_calls", "an array"))
            listed = None
        calls = objects(listed or [], f"{path}.tool_calls", self._refusals)
        found = [read for where, call in calls if (read := self._call(call, where)) is not None]
        legacy = message.get("function_call")
        if isinstance(legacy, dict):
            self._legacy_calls += 1
            id_ = f"{_LEGACY_ID}{self._legacy_calls}"
            found.append(self._function_call(legacy, f"{path}.function_call", id_, f"{path}.function_call"))
        return found

    def _call(self, call: dict[str, Any], path: str) -> Call | None:
        """Servers and clients leave the type out where it is a function's."""
        id_ = text_at(call, "id", path, self._refusals)
        function, custom = call.get("function"), call.get("custom")
        if call.get("type") == "custom" and isinstance(custom, dict):
            inner = f"{path}.custom"
            name = text_at(custom, "name", inner, self._refusals)
            text = text_at(custom, "input", inner, self._refusals)
            return Call(id=id_, name=name, input=text, path=path, kind=CallKind.CUSTOM)
        if call.get("type") in ("function", None) and isinstance(function, dict):
            return self._function_call(function, path, id_, f"{path}.function")
        self._refusals.refuse_value(f"{path}.type", f"`{path}` is no call of a function or custom tool.")
        return None

    def _function_call(self, function: dict[str, Any], path: str, id_: str, inner: str) -> Call:
        name = text_at(function, "name", inner, self._refusals)
        arguments = text_if_any(function, "arguments", inner, self._refusals)
        return Call(id=id_, name=name, input=arguments or "", path=path)

    def _result(self, message: dict[str, Any], path: str, id_: str) -> Turn:
        content = message.get("content")
        parts = () if isinstance(content, str) else read_parts(content, f"{path}.content", self._refusals)
        kept = tuple(part for part in parts if isinstance(part, Text | Image | File))
        said = content if isinstance(content, str) else kept or ""
        return Turn(role=Role.USER, blocks=(Result(call_id=id_, content=said, path=path),), path=path)


def _carrier_in(entry: object) -> str | None:
    sealed = entry.get("data") if isinstance(entry, dict) else None
    return sealed if isinstance(sealed, str) and is_carrier(sealed) else None
