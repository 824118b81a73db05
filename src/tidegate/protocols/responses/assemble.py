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


def assemble(asked: Asked, stream: bytes) -> bytes | Failure:
    """The answer's JSON: the response of the terminal event. A Failure if there is none, or an error before.

    A terminal event whose output is empty is completed from the items that are done; an item that is neither
    done nor in the final output is an error.
    """
    del asked
    added: set[int] = set()
    done: dict[int, Object] = {}
    try:
        for frame in events_of(stream):
            if is_done(frame):
                continue
            event = decoded(frame.data)
            if not isinstance(event, dict):
                return broken_stream("an event of the upstream is not a JSON object")
            kind = text(event.get("type")) or (frame.event or b"").decode("utf-8", "replace")
            if kind in _TERMINALS:
                return _whole(mapping(event.get("response")), _TERMINALS[kind], added, done)
            if kind == "error" or event.get("error"):
                return read_error_event(event)
            _note(kind, event, added, done)
    except (Overflow, RecursionError):
        return broken_stream("an event of the upstream has too many lines or levels")
    return broken_stream("the upstream ended the stream without a terminal event")


def _note(kind: str, event: Object, added: set[int], done: dict[int, Object]) -> None:
    """Remember which items were opened, and those that are final."""
    index = event.get("output_index")
    index = index if isinstance(index, int) else len(done)
    if kind == "response.output_item.added":
        added.add(index)
    elif kind == "response.output_item.done":
        done[index] = mapping(event.get("item"))


def _whole(response: Object, status: str, added: set[int], done: dict[int, Object]) -> bytes | Failure:
    if not response:
        return broken_stream("the terminal event of the upstream holds no response")
    whole = {"status": status, **response}
    if not listing(response.get("output")):
        if status != "failed" and added - done.keys():
            return broken_stream("an output item of the upstream was never done")
        whole["output"] = [item for _, item in sorted(done.items())]
    return encoded(whole)
