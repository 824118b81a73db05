"""Tells a tool call in the client's own terms: its id, and the tool as it was declared."""

from collections.abc import Mapping

from msgspec import Struct

from tidegate.core.events import CallKind, CallOpened
from tidegate.protocols.call_ids import call_id
from tidegate.protocols.conversion import ToolName


class ClientCall(Struct, frozen=True):
    """A call for the client. `arrives` is the form of its input from upstream, `kind` the declared one."""

    id: str
    name: str
    namespace: str | None
    kind: CallKind
    arrives: CallKind


class ClientCalls:
    """The calls of one answer. No two have one id; `seed` makes ids where the upstream's serve no client."""

    __slots__ = ("_names", "_seed", "_taken")

    def __init__(self, names: Mapping[str, ToolName], seed: str) -> None:
        self._names = names
        self._seed = seed
        self._taken: set[str] = set()

    def __bool__(self) -> bool:
        """Whether anything was called."""
        return bool(self._taken)

    def open(self, event: CallOpened) -> ClientCall:
        """The call that begins."""
        tool = self._names.get(event.name) or ToolName(event.name, event.kind, event.namespace)
        return ClientCall(self._id(event.id), tool.name, tool.namespace, tool.kind, event.kind)

    def _id(self, told: str) -> str:
        identifier = call_id(told) if told else ""
        if not identifier or identifier in self._taken:
            identifier = f"call_{self._seed}{len(self._taken)}"
        self._taken.add(identifier)
        return identifier
