"""The edits that an event may get on its way to a caller of the same protocol, every other byte kept."""

import msgspec

from tidegate.core.json_text import JsonError, members, replaced
from tidegate.core.sse import Form, Frame, reframed
from tidegate.protocols.base import Clean
from tidegate.protocols.reading import load


def with_model(data: bytes, model: str, inside: str | None = None) -> bytes:
    """`data` with its `model` set, at the top or in the member `inside`; unchanged where it has none."""
    try:
        start, end = (0, len(data)) if inside is None else members(data)[inside]
        at, to = members(data[start:end])["model"]
    except (JsonError, KeyError):
        return data
    return replaced(data, [(start + at, start + to, msgspec.json.encode(model))])


def with_data(frame: Frame, data: bytes, event: bytes | None) -> bytes:
    """The event with other data: in its own bytes where it is plain and on one line, else re-framed."""
    at = frame.raw.find(frame.data)
    if frame.form is Form.PLAIN and at >= 0 and frame.event == event:
        return frame.raw[:at] + data + frame.raw[at + len(frame.data) :]
    return reframed(Frame(b"", data, event, frame.id, frame.form), event)


def cleaned(data: bytes, clean: Clean) -> bytes:
    """An error event's JSON with its messages cleaned; the same bytes if there was nothing to clean."""
    payload = load(data)
    return msgspec.json.encode(payload) if _clean_messages(payload, clean) else data


def _clean_messages(value: object, clean: Clean, depth: int = 4) -> bool:
    """Clean the messages in place: `message`, and `error` where it is a text. Tells whether any changed."""
    if not isinstance(value, dict) or not depth:
        return False
    changed = False
    for name, member in value.items():
        if name in ("message", "error") and isinstance(member, str):
            value[name] = clean(member)
            changed |= value[name] != member
        elif name in ("error", "response", "metadata"):
            changed |= _clean_messages(member, clean, depth - 1)
    return changed
