"""What a request asks for, in words that the three protocols share."""

from enum import Enum
from hashlib import blake2b
from typing import Any, TypeAlias

import msgspec
from msgspec import Struct

from tidegate.core.protocol import Protocol
from tidegate.simulator.trouble import Kind, Trouble

Json: TypeAlias = dict[str, Any]


class ToolForm(Enum):
    """What a tool takes."""

    FUNCTION = "function"
    """A JSON object that fits a schema."""
    CUSTOM = "custom"
    """Free text."""


class Tool(Struct, frozen=True):
    """A tool that the client runs. `namespace` is set where the tool was declared inside one."""

    name: str
    form: ToolForm = ToolForm.FUNCTION
    schema: Json | None = None
    namespace: str | None = None


class Auto(Struct, frozen=True):
    """The model may call a tool."""


class Never(Struct, frozen=True):
    """No tool may be called."""


class Forced(Struct, frozen=True):
    """A tool must be called: the one named, or any."""

    name: str | None = None


Choice: TypeAlias = Auto | Never | Forced


class Thinking(Enum):
    """How much of its reasoning the caller wants to see."""

    OFF = "off"
    HIDDEN = "hidden"
    """Reasoned, but only the opaque carrier is given back."""
    SHOWN = "shown"


class Ask(Struct, frozen=True, kw_only=True):
    """One request. `limit` is the most output tokens; `tool_result` the text of a last turn that is one.

    `schema` is what the answer must fit (`{}`: any JSON object), `carriers` the opaque reasoning in the
    history, `echo` the members that the answer repeats, `digest` stands for the whole request.
    """

    protocol: Protocol
    model: str
    digest: str
    prompt_tokens: int
    stream: bool = False
    wants_usage: bool = True
    tools: tuple[Tool, ...] = ()
    choice: Choice = Auto()
    parallel: bool = True
    schema: Json | None = None
    thinking: Thinking = Thinking.OFF
    limit: int | None = None
    stops: tuple[str, ...] = ()
    choices: int = 1
    tool_result: str | None = None
    carriers: tuple[str, ...] = ()
    members: frozenset[str] = frozenset()
    echo: Json = {}


def invalid(message: str, param: str | None = None, code: str | None = None) -> Trouble:
    """A 400 that names the member at fault."""
    return Trouble(Kind.INVALID, 400, message, param, code)


def digest_of(body: bytes, salt: str = "") -> str:
    """Twenty hex digits that stand for a body."""
    return blake2b(body, digest_size=10, key=salt.encode()[:64]).hexdigest()


def tokens_in(*parts: object) -> int:
    """A count that depends on the size of the prompt only: four bytes of its JSON are a token."""
    return 1 + sum(len(msgspec.json.encode(part)) for part in parts if part is not None) // 4


def objects(value: object) -> list[Json]:
    """The JSON objects of a list; nothing where it is no list."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def object_at(value: object, key: str) -> Json:
    """The object under `key`, or an empty one."""
    found = value.get(key) if isinstance(value, dict) else None
    return found if isinstance(found, dict) else {}


def text_of(content: object) -> str:
    """The text of a content that is a string or a list of parts."""
    if isinstance(content, str):
        return content
    return "".join(str(part.get("text", "")) for part in objects(content))


def whole_number(value: object) -> int | None:
    """The value if it is a whole number."""
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def texts(value: object) -> tuple[str, ...]:
    """The texts of a value that is one text or a list of them."""
    if isinstance(value, str):
        return (value,)
    return tuple(item for item in value if isinstance(item, str)) if isinstance(value, list) else ()


def first_unanswered(calls: list[str], results: set[str]) -> str | None:
    """The first call without a result."""
    return next((call for call in calls if call not in results), None)
