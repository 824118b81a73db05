"""Checks one block of a Messages stream, from its start to its stop."""

import re
from collections.abc import Iterator

from tidegate.doctor.findings import Finding, at
from tidegate.doctor.framing import Event
from tidegate.doctor.members import Object, is_object_text, word

_DELTAS = {
    "text_delta": ("text", ("text",)),
    "citations_delta": ("citation", ("text",)),
    "thinking_delta": ("thinking", ("thinking",)),
    "signature_delta": ("signature", ("thinking",)),
    "input_json_delta": ("partial_json", ("tool_use", "server_tool_use", "mcp_tool_use")),
}
_CALL_ID = re.compile(r"[A-Za-z0-9_-]+")


class Block:
    """One block; `opening` is what its start told of it."""

    def __init__(self, index: int, opening: Object) -> None:
        self.index = index
        self.kind = word(opening, "type")
        self.name = word(opening, "name")
        self.identifier = word(opening, "id")
        self.spoken = 0
        self.heard: list[tuple[float, int]] = []
        self._opening = opening
        self._json: list[str] = []
        self._signatures = 1 if word(opening, "signature") else 0

    def start(self, event: Event) -> Iterator[Finding]:
        """Its start."""
        match self.kind:
            case "text" | "thinking":
                if self._opening.get(self.kind) != "":
                    yield at(event, "messages-block", f"{self.kind} is not an empty text at the start")
            case "tool_use":
                self.spoken += 1
                yield from self._start_call(event)
            case "redacted_thinking":
                self.spoken += 1
                if not word(self._opening, "data"):
                    yield at(event, "messages-block", "a redacted_thinking block without data")
            case "":
                yield at(event, "messages-block", "content_block has no type")
            case _:  # blocks of the provider's own tools, whole at once
                self.spoken += 1

    def _start_call(self, event: Event) -> Iterator[Finding]:
        if not self.name:
            yield at(event, "tool-call-name", "a tool_use block without a name")
        if not _CALL_ID.fullmatch(self.identifier):
            message = "the id of a tool_use block is not made of letters, digits, _ and -"
            yield at(event, "tool-call-id", message)
        if not isinstance(self._opening.get("input"), dict):
            yield at(event, "tool-arguments", "input is no object at the start")

    def see(self, event: Event, delta: Object) -> Iterator[Finding]:
        """A delta of it."""
        kind = word(delta, "type")
        member, fitting = _DELTAS.get(kind, ("", ()))
        if not kind:
            yield at(event, "messages-block", "its delta is no object with a type")
            return
        if not member:
            yield at(event, "unknown-event", f"{kind} is no delta that is known")
            return
        if self.kind not in fitting:
            yield at(event, "messages-block", f"{kind} in a block of {self.kind}")
        value = delta.get(member)
        if member != "citation" and not isinstance(value, str):
            yield at(event, "messages-block", f"delta.{member} is no text")
            return
        match kind:
            case "input_json_delta":
                self._json.append(str(value))
            case "signature_delta":
                self._signatures += bool(value)
            case _:  # text of any kind
                self.spoken += bool(value)
                if isinstance(value, str) and value:
                    self.heard.append((event.at, len(value)))

    def stop(self, event: Event) -> Iterator[Finding]:
        """Its stop."""
        if self.kind == "thinking" and self._signatures != 1:
            count = "no signature" if self._signatures == 0 else "more than one signature"
            yield at(event, "messages-signature", f"a thinking block with {count}")

    def end(self) -> Iterator[Finding]:
        """The message ended by itself, so the input of a call is whole."""
        text = "".join(self._json)
        if text and not is_object_text(text):
            yield Finding("tool-arguments", f"the input of block {self.index} is no JSON object", text[:500])
