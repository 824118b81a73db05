"""Reads the system text, the messages and their blocks of a Messages request into turns."""

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import msgspec
from msgspec import Struct

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
    Turn,
)
from tidegate.core.failure import Failure, Kind
from tidegate.protocols.client_members import objects, text_at, text_if_any
from tidegate.protocols.conversion import OpenCarrier
from tidegate.protocols.losses import Losses, malformed, unsupported_value
from tidegate.protocols.media import PDF, PLAIN_TEXT
from tidegate.protocols.passthrough import is_carrier


class Reading(Struct, frozen=True):
    """What every step of reading needs."""

    refusals: Losses
    open_carrier: OpenCarrier


_ReadBlock: TypeAlias = Callable[[dict[str, Any], str, Reading], tuple[Block, ...]]

_ROLES = {"user": Role.USER, "assistant": Role.ASSISTANT, "system": Role.SYSTEM}


def read_system(system: Any, reading: Reading) -> tuple[Text, ...]:
    """The blocks of `system`; a string is one. Empty ones say nothing."""
    blocks = () if system is None else _read_content(system, "system", _IN_SYSTEM, reading)
    return tuple(block for block in blocks if isinstance(block, Text) and block.text)


def read_turns(messages: list[Any], reading: Reading) -> tuple[Turn, ...]:
    """One turn for each message. A message of the model's at the end is refused: no other protocol can let
    an answer begin with given words (conversion.md §3, "Prefill")."""
    turns = tuple(
        _read_message(message, path, reading)
        for path, message in objects(messages, "messages", reading.refusals)
    )
    if turns and turns[-1].role is Role.ASSISTANT:
        said = "The channels of this model cannot continue a given beginning of an answer."
        reading.refusals.refuse_value(turns[-1].path, said)
    return turns


def _read_message(message: dict[str, Any], path: str, reading: Reading) -> Turn:
    role = _ROLES.get(text_at(message, "role", path, reading.refusals))
    if role is None:
        reading.refusals.refuse(malformed(f"{path}.role", "one of `user`, `assistant`, `system`"))
        return Turn(role=Role.USER, blocks=(), path=path)
    blocks = _read_content(message.get("content"), f"{path}.content", _TABLES[role], reading)
    return Turn(role=role, blocks=blocks, path=path)


def _read_content(
    content: Any, path: str, table: Mapping[str, _ReadBlock], reading: Reading
) -> tuple[Block, ...]:
    if isinstance(content, str):
        return (Text(text=content, path=path),)
    if not isinstance(content, list):
        reading.refusals.refuse(malformed(path, "a string or an array"))
        return ()
    blocks: list[Block] = []
    for where, block in objects(content, path, reading.refusals):
        kind = block.get("type")
        read = table.get(kind) if isinstance(kind, str) else None
        if read is None:
            reading.refusals.refuse(_unreadable(kind, where))
        else:
            blocks.extend(read(block, where, reading))
    return tuple(blocks)


def _unreadable(kind: object, path: str) -> Failure:
    if not isinstance(kind, str):
        return malformed(f"{path}.type", "a string")
    if any(kind in table for table in _TABLES.values()):
        said = f"`{path}`: a block of type `{kind}` cannot stand here."
        return Failure(kind=Kind.INVALID_REQUEST, message=said, param=path)
    said = f"`{path}` is of a type that the channels of this model do not take."
    return unsupported_value(f"{path}.type", said)


def _text(block: dict[str, Any], path: str, reading: Reading) -> tuple[Block, ...]:
    return (Text(text=text_at(block, "text", path, reading.refusals), path=path),)


def _source(block: dict[str, Any], path: str, reading: Reading) -> dict[str, Any]:
    source = block.get("source")
    if isinstance(source, dict):
        return source
    reading.refusals.refuse(malformed(f"{path}.source", "an object"))
    return {"type": None}


def _image(block: dict[str, Any], path: str, reading: Reading) -> tuple[Block, ...]:
    source = _source(block, path, reading)
    where = f"{path}.source"

    def told(name: str) -> str:
        return text_at(source, name, where, reading.refusals)

    match source.get("type"):
        case "base64":
            return (Image(path=path, media_type=told("media_type").lower(), data=told("data")),)
        case "url":
            return (Image(path=path, url=told("url")),)
        case "file":
            return (Image(path=path, file_id=told("file_id")),)
        case _:  # a kind of source that came later
            reading.refusals.refuse_value(f"{where}.type")
            return ()


def _document(block: dict[str, Any], path: str, reading: Reading) -> tuple[Block, ...]:
    source = _source(block, path, reading)
    where = f"{path}.source"

    def told(name: str) -> str:
        return text_at(source, name, where, reading.refusals)

    match source.get("type"):
        case "base64":
            kind = text_if_any(source, "media_type", where, reading.refusals) or PDF
            return (_file(block, path, reading, media_type=kind.lower(), data=told("data")),)
        case "text":
            return (_file(block, path, reading, media_type=PLAIN_TEXT, text=told("data")),)
        case "url":
            return (_file(block, path, reading, url=told("url")),)
        case "file":
            return (_file(block, path, reading, file_id=told("file_id")),)
        case "content":
            return _spread(block, source, path, reading)
        case _:  # a kind of source that came later
            reading.refusals.refuse_value(f"{where}.type")
            return ()


def _file(block: dict[str, Any], path: str, reading: Reading, **content: str) -> File:
    citations = block.get("citations")
    return File(
        path=path,
        filename=text_if_any(block, "title", path, reading.refusals) or None,
        context=text_if_any(block, "context", path, reading.refusals) or None,
        cited=isinstance(citations, dict) and citations.get("enabled") is True,
        **content,
    )


def _spread(block: dict[str, Any], source: dict[str, Any], path: str, reading: Reading) -> tuple[Block, ...]:
    """A document that is made of blocks becomes those blocks, after what is told about it."""
    reading.refusals.approximated(path)
    told = [text_if_any(block, name, path, reading.refusals) for name in ("title", "context")]
    content = _read_content(source.get("content"), f"{path}.source.content", _IN_DOCUMENTS, reading)
    return (*(Text(text=text, path=path) for text in told if text), *content)


def _search_result(block: dict[str, Any], path: str, reading: Reading) -> tuple[Block, ...]:
    """A page that the client's own search found, as one text (conversion.md §4)."""
    reading.refusals.approximated(path)
    title = text_at(block, "title", path, reading.refusals)
    source = text_at(block, "source", path, reading.refusals)
    content = _read_content(block.get("content"), f"{path}.content", _IN_SYSTEM, reading)
    texts = "\n".join(part.text for part in content if isinstance(part, Text))
    return (Text(text=f"{title}\n{source}\n\n{texts}", path=path),)


def _thinking(block: dict[str, Any], path: str, reading: Reading) -> tuple[Block, ...]:
    text = text_if_any(block, "thinking", path, reading.refusals) or ""
    signature = text_if_any(block, "signature", path, reading.refusals)
    return (_thought(block, signature, text, path, reading),)


def _redacted(block: dict[str, Any], path: str, reading: Reading) -> tuple[Block, ...]:
    data = text_at(block, "data", path, reading.refusals)
    return (_thought(block, data, "", path, reading),)


def _thought(block: dict[str, Any], opaque: str | None, text: str, path: str, reading: Reading) -> Thought:
    if not opaque:
        return Thought(path=path, text=text)
    if not is_carrier(opaque):
        return Thought(path=path, text=text, native=block)
    carried = reading.open_carrier(opaque)
    if carried is None:
        return Thought(path=path, text=text, foreign=True)
    return Thought(path=path, text=text, carried=carried.opaque, group=carried.group)


def _call(block: dict[str, Any], path: str, reading: Reading) -> tuple[Block, ...]:
    given = block.get("input")
    if not isinstance(given, dict | None):
        reading.refusals.refuse(malformed(f"{path}.input", "an object"))
    return (
        Call(
            id=text_at(block, "id", path, reading.refusals),
            name=text_at(block, "name", path, reading.refusals),
            input=msgspec.json.encode(given).decode() if given else "{}",
            path=path,
        ),
    )


def _result(block: dict[str, Any], path: str, reading: Reading) -> tuple[Block, ...]:
    content = block.get("content")
    parts: str | tuple[Text | Image | File, ...] = ""
    if isinstance(content, str):
        parts = content
    elif content is not None:
        read = _read_content(content, f"{path}.content", _IN_RESULTS, reading)
        parts = tuple(part for part in read if isinstance(part, Text | Image | File))
    call_id = text_at(block, "tool_use_id", path, reading.refusals)
    return (Result(call_id=call_id, content=parts, path=path, is_error=block.get("is_error") is True),)


def _hosted(block: dict[str, Any], path: str, reading: Reading) -> tuple[Block, ...]:
    del reading  # nothing of it can be wrong, since nothing of it is read
    return (Hosted(type=block["type"], path=path),)


_IN_SYSTEM: Mapping[str, _ReadBlock] = {"text": _text}
_IN_DOCUMENTS: Mapping[str, _ReadBlock] = {"text": _text, "image": _image}
_IN_RESULTS: Mapping[str, _ReadBlock] = {
    **_IN_DOCUMENTS,
    "document": _document,
    "search_result": _search_result,
}
_TABLES: Mapping[Role, Mapping[str, _ReadBlock]] = {
    Role.SYSTEM: _IN_SYSTEM,
    Role.USER: {**_IN_RESULTS, "tool_result": _result},
    Role.ASSISTANT: {
        "text": _text,
        "thinking": _thinking,
        "redacted_thinking": _redacted,
        "tool_use": _call,
        "server_tool_use": _hosted,
        "web_search_tool_result": _hosted,
        "web_fetch_tool_result": _hosted,
        "code_execution_tool_result": _hosted,
        "bash_code_execution_tool_result": _hosted,
        "text_editor_code_execution_tool_result": _hosted,
        "tool_search_tool_result": _hosted,
    },
}
"""What may stand in a message of each role. Everything else belongs to one protocol's server: refused."""
