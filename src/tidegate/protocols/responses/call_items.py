"""Writes the output items of tool calls in a Responses stream."""

from tidegate.core.events import CallDelta, CallKind
from tidegate.protocols.call_inputs import CallInput
from tidegate.protocols.client_calls import ClientCall
from tidegate.protocols.responses.numbered import Delta, Events, Object, Place, closed, json_text, opened


class CallItem:
    """A call of a client's tool, in the form in which it was declared."""

    def __init__(self, events: Events, place: Place, call: ClientCall) -> None:
        self._events = events
        self._place = place
        self._call = call
        self._input = CallInput(call.arrives, call.kind)
        match call.kind:
            case CallKind.FUNCTION:
                self._type, self._member = "function_call", "arguments"
                self._name = "response.function_call_arguments"
            case CallKind.CUSTOM:
                self._type, self._member = "custom_tool_call", "input"
                self._name = "response.custom_tool_call_input"
        self._delta = Delta(events, f"{self._name}.delta", place.members())

    def opened(self) -> bytes:
        """The item, without input."""
        return opened(self._events, self._place, self._item("in_progress", ""))

    def grown(self, event: CallDelta) -> bytes:
        """More input."""
        said = self._input.add(event.text)
        return self._delta.event(said) if said else b""

    def closed(self, status: str, carrier: str | None) -> tuple[bytes, bytes]:
        """The rest of the item's events, and the item as JSON text."""
        del carrier
        rest = self._input.rest(cut=status != "completed")
        written = self._delta.event(rest) if rest else b""
        text = self._input.text()
        written += self._events.event(f"{self._name}.done", self._place.members(**{self._member: text}))
        return closed(self._events, self._place, self._item(status, text), written)

    def so_far(self) -> bytes:
        """The item as JSON text when the stream breaks off."""
        return json_text(self._item("incomplete", self._input.text()))

    def _item(self, status: str, text: str) -> Object:
        call = self._call
        item: Object = {
            "id": self._place.id,
            "type": self._type,
            "status": status,
            "call_id": call.id,
            "name": call.name,
            self._member: text,
        }
        return item if call.namespace is None else item | {"namespace": call.namespace}


def search(events: Events, place: Place, query: str | None) -> tuple[bytes, bytes]:
    """All events of a web search that has run, and its item as JSON text."""
    action: Object = {"type": "search"} if query is None else {"type": "search", "query": query}
    item: Object = {"id": place.id, "type": "web_search_call", "status": "in_progress", "action": action}
    written = opened(events, place, item)
    for step in ("in_progress", "searching", "completed"):
        written += events.event(f"response.web_search_call.{step}", place.members())
    return closed(events, place, item | {"status": "completed"}, written)
