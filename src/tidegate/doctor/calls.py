"""Checks the calls of tools in a Chat Completions stream, which come in pieces."""

from collections.abc import Iterator

from tidegate.doctor.findings import Finding, at
from tidegate.doctor.framing import Event
from tidegate.doctor.members import count, is_object_text, part, word


class _Call:
    def __init__(self, identifier: str, name: str, kind: str) -> None:
        self.identifier = identifier
        self.name = name
        self.kind = kind
        self.pieces: list[str] = []


class Calls:
    """The calls of one choice."""

    def __init__(self) -> None:
        self._calls: dict[int, _Call] = {}

    @property
    def names(self) -> tuple[str, ...]:
        """What is called."""
        return tuple(call.name for call in self._calls.values())

    def see(self, event: Event, delta: object) -> Iterator[Finding]:
        """A piece of a call."""
        index = count(delta, "index")
        if index is None:
            yield at(event, "tool-call-index", "a piece of a tool call has no index")
            index = len(self._calls)
        function = part(delta, "function")
        known = self._calls.get(index)
        if known is None:
            yield from self._open(event, index, delta)
        else:
            for name, repeated in (("id", word(delta, "id")), ("name", word(function, "name"))):
                if repeated:
                    message = f"the {name} of call {index} comes again: clients join both"
                    yield at(event, "tool-call-repeated", message)
        arguments = function.get("arguments")
        if isinstance(arguments, str):
            self._calls[index].pieces.append(arguments)
        elif arguments is not None:
            yield at(event, "tool-arguments", "arguments is no text")

    def end(self, *, whole: bool) -> Iterator[Finding]:
        """The choice is over; what is not `whole` may be cut anywhere."""
        for index, call in self._calls.items():
            arguments = "".join(call.pieces)
            if whole and call.kind == "function" and not is_object_text(arguments):
                yield Finding(
                    "tool-arguments", f"the arguments of call {index} are no JSON object", arguments[:500]
                )

    def _open(self, event: Event, index: int, delta: object) -> Iterator[Finding]:
        if index != len(self._calls):
            yield at(event, "tool-call-index", f"call {index} comes as number {len(self._calls)}")
        kind = word(delta, "type")
        called = part(delta, kind or "function")
        call = self._calls[index] = _Call(word(delta, "id"), word(called, "name"), kind or "function")
        if kind not in ("function", "custom"):
            yield at(event, "tool-call-name", f"call {index} begins without its type")
        if not call.name:
            yield at(event, "tool-call-name", f"call {index} begins without a name")
        others = {other.identifier for place, other in self._calls.items() if place != index}
        if not call.identifier or call.identifier in others:
            yield at(event, "tool-call-id", f"call {index} begins without an id of its own")
