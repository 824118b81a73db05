"""Finds the members of a JSON text by position, so that an edit leaves every other byte as it came."""

import json
import re
from collections.abc import Iterable
from typing import Literal, TypeAlias, TypeVar

import msgspec

Span: TypeAlias = tuple[int, int]
"""Where a value stands in its text: offsets of its first byte and of the byte after its last."""

Edit: TypeAlias = tuple[int, int, bytes]
"""Replace the bytes from the first offset up to the second by the third part."""

JsonKind: TypeAlias = Literal["string", "object", "array", "number", "bool", "null"]

MAX_MEMBERS = 10_000
"""An object with more members than this is refused, since each costs a step of a loop here."""

MAX_ELEMENTS = 100_000
"""The same for arrays whose elements are looked for."""

_BOM = b"\xef\xbb\xbf"
_MEMBER_START = re.compile(rb'[{,][ \t\n\r]*("[^"\\]*+(?:\\.[^"\\]*+)*")[ \t\n\r]*:[ \t\n\r]*')
_SPACE = re.compile(rb"[ \t\n\r]*")
_WHOLE_CHARACTERS = re.compile(
    rb"(?:[^\\]++|\\[^u]|\\u(?:[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|[dD][0-7]|[^dD]))*"
)
_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F][0-9a-fA-F]{2}")
_BYTE_POSITION = re.compile(r"\(byte (\d+)\)")
_NOT_A_NUMBER = re.compile(rb"NaN|Inf")
_T = TypeVar("_T")
_MEMBERS = msgspec.json.Decoder(dict[str, msgspec.Raw])
_ELEMENTS = msgspec.json.Decoder(list[msgspec.Raw])


class JsonError(Exception):
    """A text is not the JSON that it should be; `message` says why in one sentence.

    `member` names the top-level member at fault, `at` is the offset of the first wrong byte, where told.
    """

    def __init__(self, message: str, *, member: str | None = None, at: int | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.member = member
        self.at = at


class DuplicateMemberError(JsonError):
    """An object names one member twice, in whatever spelling."""

    def __init__(self, name: str) -> None:
        super().__init__(f"The member `{shown(name)}` occurs more than once.", member=name)


def without_bom(text: bytes) -> bytes:
    """The text without one leading UTF-8 byte order mark."""
    return text[len(_BOM) :] if text.startswith(_BOM) else text


def members(text: bytes, span: Span | None = None) -> dict[str, Span]:
    """Spans of the member values of the object that `text` (or its part `span`) is, in their order.

    All of it is checked: JSON syntax, UTF-8, no member of this object twice. Offsets count from the start of
    `text`, also with a `span`. Lone surrogate escapes are taken; a name that has one shows U+FFFD instead.
    Raises JsonError, DuplicateMemberError.
    """
    part, base = _part(text, span)
    part, values = _decoded(part, _MEMBERS, "object")
    if len(values) > MAX_MEMBERS:
        raise JsonError(f"The object has more than {MAX_MEMBERS} members.")
    spans = _walk_plain_members(part, values) or _walk_members(part, values)
    return {name: (base + start, base + end) for name, (start, end) in spans.items()} if base else spans


def elements(text: bytes, span: Span) -> list[Span]:
    """Spans of the elements of the array at `span`. Raises JsonError."""
    part, base = _part(text, span)
    part, values = _decoded(part, _ELEMENTS, "array")
    if len(values) > MAX_ELEMENTS:
        raise JsonError(f"The array has more than {MAX_ELEMENTS} elements.")
    spans = []
    at = part.index(b"[")
    for value in values:
        start = _after_space(part, at + 1)
        at = start + len(bytes(value))
        spans.append((base + start, base + at))
        at = _after_space(part, at)
    return spans


def replaced(text: bytes, edits: Iterable[Edit]) -> bytes:
    """The text with the edits made. They may come in any order and must not overlap."""
    pieces: list[bytes | memoryview] = []
    whole = memoryview(text)
    at = 0
    for start, end, new in sorted(edits):
        if start < at or end < start:
            raise ValueError("edits overlap")
        pieces.append(whole[at:start])
        pieces.append(new)
        at = end
    if not pieces:
        return text
    pieces.append(whole[at:])
    return b"".join(pieces)


def kind_of(text: bytes, span: Span) -> JsonKind:
    """What a checked value is, by its first byte."""
    match text[span[0] : span[0] + 1]:
        case b'"':
            return "string"
        case b"{":
            return "object"
        case b"[":
            return "array"
        case b"t" | b"f":
            return "bool"
        case b"n":
            return "null"
        case _:  # a checked text has only numbers left
            return "number"


def load(text: bytes, span: Span | None = None) -> object:
    """The value at `span`, decoded; a lone surrogate becomes U+FFFD, so every string can be encoded.

    Raises JsonError where the part is no JSON, nested too deeply, or holds an integer of thousands of digits.
    """
    part, _ = _part(text, span)
    try:
        value: object = msgspec.json.decode(part)
    except RecursionError:
        raise _too_deep() from None
    except msgspec.DecodeError:
        value = _load_tolerantly(part)
    return value


def shown(name: str) -> str:
    """A member name as an error message may show it: printable and short."""
    clean = "".join(letter if letter.isprintable() else "\ufffd" for letter in name[:101])
    return clean if len(clean) <= 100 else clean[:100] + "…"


def _load_tolerantly(part: bytes) -> object:
    """Lone surrogates and numbers out of range are JSON, but the quick decoder refuses them."""
    try:
        text = _with_whole_characters(part).decode("utf-8")
        value: object = json.loads(text, parse_constant=_refuse_constant)
    except RecursionError:
        raise _too_deep() from None
    except ValueError as error:
        raise JsonError(f"The JSON value cannot be read: {error}.") from None
    return value


def _refuse_constant(name: str) -> object:
    raise ValueError(f"{name} is not JSON")


def _part(text: bytes, span: Span | None) -> tuple[bytes, int]:
    return (text, 0) if span is None else (text[span[0] : span[1]], span[0])


def _walk_plain_members(part: bytes, values: dict[str, msgspec.Raw]) -> dict[str, Span] | None:
    """The quick pass for what encoders write: no escapes in names, at most one blank after "," and ":".

    Every byte is accounted for by the values in their order, so a name that comes again cannot go unseen;
    None where anything is in the way.
    """
    spans: dict[str, Span] = {}
    at = 0
    for name, raw in values.items():
        key = b'"%b":' % name.encode()
        if part[at + 1 : at + 2] == b" ":
            at += 1
        if not part.startswith(key, at + 1):
            return None
        start = at + 1 + len(key)
        if part[start : start + 1] == b" ":
            start += 1
        value = bytes(raw)
        at = start + len(value)
        if not part.startswith(value, start) or part[at : at + 1] not in (b",", b"}"):
            return None
        spans[name] = (start, at)
    return spans if spans and at == len(part) - 1 and part[:1] == b"{" else None


def _walk_members(part: bytes, values: dict[str, msgspec.Raw]) -> dict[str, Span]:
    """One pass over a checked object. The decoder kept the last value of each name, so a value that is not
    found at its place, or does not end there, belongs to a name that comes again."""
    spans: dict[str, Span] = {}
    at = part.index(b"{")
    while (found := _MEMBER_START.match(part, at)) is not None:
        name: str = msgspec.json.decode(found.group(1), type=str)
        value = bytes(values[name])
        start = found.end()
        end = start + len(value)
        at = _after_space(part, end)
        if name in spans or not part.startswith(value, start) or part[at : at + 1] not in (b",", b"}"):
            raise DuplicateMemberError(name)
        spans[name] = (start, end)
    return spans


def _after_space(part: bytes, at: int) -> int:
    found = _SPACE.match(part, at)
    return found.end() if found else at


def _decoded(part: bytes, decoder: "msgspec.json.Decoder[_T]", wanted: str) -> tuple[bytes, _T]:
    """Check the whole text. Also returns the text that was decoded: where lone surrogate escapes stand, the
    decoder gives up although JSON allows them, so they are replaced in a copy of the same length."""
    _check_encoding(part)
    try:
        try:
            return part, decoder.decode(part)
        except msgspec.DecodeError:
            if _SURROGATE.search(part) is None:
                raise
            part = _with_whole_characters(part)
            return part, decoder.decode(part)
    except RecursionError:
        raise _too_deep() from None
    except msgspec.DecodeError as error:
        raise _explained(part, error, wanted) from None


def _check_encoding(part: bytes) -> None:
    if part.startswith((b"\xff\xfe", b"\xfe\xff")) or b"\0" in part[:4]:
        raise JsonError("The JSON text is in UTF-16 or UTF-32; only UTF-8 is read.")
    if part.isascii():
        return
    try:
        part.decode("utf-8")
    except UnicodeDecodeError as error:
        where = _place(part, error.start)
        raise JsonError(f"The JSON text is not valid UTF-8 at {where}.", at=error.start) from None


def _explained(part: bytes, error: msgspec.DecodeError, wanted: str) -> JsonError:
    if not part.strip(b" \t\n\r"):
        return JsonError("The JSON text is empty.")
    if isinstance(error, msgspec.ValidationError):
        article = "an" if wanted[0] in "ao" else "a"
        return JsonError(f"The JSON text is not {article} {wanted}.")
    told = _BYTE_POSITION.search(str(error))
    if told is None:
        return JsonError("The JSON text ends before it is complete.", at=len(part))
    at = int(told.group(1))
    if _NOT_A_NUMBER.match(part, at):
        return JsonError(f"NaN and Infinity are not JSON: {_place(part, at)}.", at=at)
    reason = str(error)[: told.start()].removeprefix("JSON is malformed:").strip()
    return JsonError(f"The text is not valid JSON: {reason} at {_place(part, at)}.", at=at)


def _place(part: bytes, at: int) -> str:
    line = part.count(b"\n", 0, at) + 1
    column = at - part.rfind(b"\n", 0, at)
    return f"line {line}, column {column} (byte {at})"


def _too_deep() -> JsonError:
    return JsonError("The JSON text is nested too deeply.")


def _with_whole_characters(part: bytes) -> bytes:
    """A copy of the same length in which each lone surrogate escape is an escaped U+FFFD."""
    whole = bytearray(part)
    at = 0
    while (run := _WHOLE_CHARACTERS.match(part, at)) is not None and _SURROGATE.match(part, run.end()):
        at = run.end() + 6
        whole[at - 4 : at] = b"fffd"
    return bytes(whole)
