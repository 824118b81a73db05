"""What one event of a stream has to show, whatever its protocol."""

from typing import TypeAlias

from msgspec import Struct

from tidegate.core.usage import Usage


class Text(Struct, frozen=True):
    """Some of the answer."""

    text: str


class Reasoning(Struct, frozen=True):
    """Some of the model's thinking."""

    text: str


class Refusal(Struct, frozen=True):
    """Some of a refusal to answer."""

    text: str


class ToolOpened(Struct, frozen=True):
    """A tool call begins. `call` tells calls of one answer apart."""

    call: str
    name: str


class ToolArguments(Struct, frozen=True):
    """Some of the arguments of the call."""

    call: str
    name: str
    text: str


class Stopped(Struct, frozen=True):
    """The model gave its reason to stop, in the protocol's own words."""

    reason: str


class Counted(Struct, frozen=True):
    """The upstream told token counts; later ones replace earlier ones field by field."""

    usage: Usage


class Failed(Struct, frozen=True):
    """An error event. `kind` is its type or code, "error" where it has none."""

    kind: str
    message: str


class Ended(Struct, frozen=True):
    """The protocol's end mark, e.g. `[DONE]`."""

    mark: str


class Unreadable(Struct, frozen=True):
    """An event whose data is no JSON object."""

    text: str


Piece: TypeAlias = (
    Text | Reasoning | Refusal | ToolOpened | ToolArguments | Stopped | Counted | Failed | Ended | Unreadable
)
