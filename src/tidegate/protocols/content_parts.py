"""Walks the content of an OpenAI message, which both OpenAI protocols write as a string or as parts."""

from collections.abc import Callable
from typing import Any

from tidegate.core.conversation import File, Image, Refused, Text
from tidegate.protocols.client_members import objects
from tidegate.protocols.losses import Losses, malformed

Part = Text | Refused | Image | File
ReadPart = Callable[[dict[str, Any], str, Losses], Part | None]
"""A part and its path as what it says; None where it was refused."""


def read_content(content: object, path: str, refusals: Losses, read_part: ReadPart) -> tuple[Part, ...]:
    """A message's content or a tool's output: a string is one text, null and "" are nothing.

    `path` is the content's own.
    """
    match content:
        case str():
            return (Text(text=content, path=path),) if content else ()
        case None:
            return ()
        case list():
            parts = (read_part(part, where, refusals) for where, part in objects(content, path, refusals))
            return tuple(part for part in parts if part is not None)
        case _:  # a client may send anything
            refusals.refuse(malformed(path, "a string or an array of parts"))
            return ()


def refuse_part(kind: object, path: str, refusals: Losses) -> None:
    """Refuse a part of a type that no channel of another protocol can be told."""
    if isinstance(kind, str):
        refusals.refuse_value(f"{path}.type", f"`{path}` has a type that does not convert.")
    else:
        refusals.refuse(malformed(f"{path}.type", "a string"))
