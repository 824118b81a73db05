"""Decides how an answer ended when the blocks that it held have a say (conversion.md §9.1)."""

from tidegate.core.events import Finished, Opaque, Stop
from tidegate.core.protocol import Protocol

CUTS = frozenset({Stop.LENGTH, Stop.CONTEXT, Stop.CONTENT_FILTER})
"""Ends that leave the last block in the middle."""


def settled_stop(finished: Finished, *, called: bool, refused: bool) -> Stop:
    """The stop for the client; `called`: a tool was called; `refused`: a refusal stands in the answer.

    REFUSAL is then a refusal in the answer's own words, CONTENT_FILTER one that came from outside of them.
    Servers finish with `stop` although they called tools, and agents would then never run them.
    """
    match finished.stop:
        case Stop.END | Stop.TOOL_CALLS if called:
            return Stop.TOOL_CALLS
        case Stop.END | Stop.TOOL_CALLS:
            return Stop.REFUSAL if refused else Stop.END
        case Stop.REFUSAL:
            return Stop.REFUSAL if refused else Stop.CONTENT_FILTER
        case Stop.LENGTH | Stop.CONTEXT | Stop.STOP_SEQUENCE | Stop.CONTENT_FILTER | Stop.PAUSE:
            return finished.stop


def is_wanted_back(opaque: Opaque) -> bool:
    """Whether the upstream needs it to go on: of a Responses item only its encrypted part is worth that."""
    if opaque.origin is Protocol.RESPONSES:
        return isinstance(opaque.value, dict) and bool(opaque.value.get("encrypted_content"))
    return bool(opaque.value)
