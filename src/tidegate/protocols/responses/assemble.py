"""Gathers a complete stream of Responses into the whole answer that it says."""

from tidegate.core.failure import Failure
from tidegate.core.sse import Overflow
from tidegate.protocols.base import Asked
from tidegate.protocols.loose import decoded, encoded, listing, mapping, text
from tidegate.protocols.responses.errors import read_error_event
from tidegate.protocols.whole_answers import broken_stream
from tidegate.protocols.whole_streams import events_of, is_done

Object = dict[str, object]

_TERMINALS = {
    "response.completed": "completed",
    "response.done": "completed",
    "response.incomplete": "incomplete",
    "response.failed": "failed",
}


_GROWS = {"output_text": ("output_text", "text"), "refusal": ("refusal", "refusal")}
"""What events call a part of a message -> its type, and the member that holds its text."""


def assemble(asked: Asked, stream: bytes) -> bytes | Failure:
    """The answer's JSON: the response of the terminal event. A Failure if there is none, or an error before.

    A terminal event whose output is empty is completed from the items that are done, and from the text of
    messages that were only streamed; any other item that is neither done nor in the final output is an error.
    """
    del asked
    gathered = _Gathered()
    try:
        for frame in events_of(stream):
            if is_done(frame):
                continue
            event = decoded(frame.data)
            if not isinstance(event, dict):
                return broken_stream("an event of the upstream is not a JSON object")
            kind = text(event.get("type")) or (frame.event or b"").decode("utf-8", "replace")
            if kind in _TERMINALS:
                return gathered.whole(mapping(event.get("response")), _TERMINALS[kind])
            if kind == "error" or event.get("error"):
                return read_error_event(event)
            gathered.add(kind, event)
    except (Overflow, RecursionError):
        return broken_stream("an event of the upstream has too many lines or levels")
    return broken_stream("the upstream ended the stream without a terminal event")


class _Gathered:
    """Which items were opened, those that are final, and the text of each part of a message."""

    def __init__(self) -> None:
        self._added: set[int] = set()
        self._done: dict[int, Object] = {}
        self._ids: dict[int, object] = {}
        self._parts: dict[int, dict[tuple[int, str], list[str]]] = {}

    def add(self, kind: str, event: Object) -> None:
        """Take an event; one that is about no item says nothing."""
        index = event.get("output_index")
        index = index if isinstance(index, int) else len(self._done)
        told, _, step = kind.removeprefix("response.").rpartition(".")
        if kind == "response.output_item.added":
            self._added.add(index)
        elif kind == "response.output_item.done":
            self._done[index] = mapping(event.get("item"))
        elif told in _GROWS:
            self._hear(index, told, step, event)

    def whole(self, response: Object, status: str) -> bytes | Failure:
        """The answer, of the response in the terminal event."""
        if not response:
            return broken_stream("the terminal event of the upstream holds no response")
        whole = {"status": status, **response}
        if not listing(response.get("output")):
            items = {index: self._message(index, status) for index in self._parts} | self._done
            if status != "failed" and self._added - items.keys():
                return broken_stream("an output item of the upstream was never done")
            whole["output"] = [item for _, item in sorted(items.items())]
        return encoded(whole)

    def _hear(self, index: int, told: str, step: str, event: Object) -> None:
        place = event.get("content_index")
        key = (place if isinstance(place, int) else 0, told)
        pieces = self._parts.setdefault(index, {}).setdefault(key, [])
        self._ids.setdefault(index, event.get("item_id"))
        if step == "delta":
            pieces.append(text(event.get("delta")) or "")
        elif whole := text(event.get(_GROWS[told][1])):
            pieces[:] = [whole]

    def _message(self, index: int, status: str) -> Object:
        """The message that was streamed at this place."""
        content: list[Object] = []
        for (_, told), pieces in sorted(self._parts[index].items()):
            kind, member = _GROWS[told]
            beside: Object = {"annotations": []} if kind == "output_text" else {}
            content.append({"type": kind, member: "".join(pieces), **beside})
        message = {"type": "message", "role": "assistant", "status": status, "content": content}
        return {"id": text(self._ids[index]) or f"msg_{index}", **message}
