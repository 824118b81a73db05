"""Takes data URLs apart, checks them and puts them together."""

import base64
import binascii
import re

from msgspec import Struct

MESSAGES_IMAGES = frozenset({"image/jpeg", "image/png", "image/gif", "image/webp"})
"""The kinds of picture that a messages upstream takes as data (messages.md §1)."""

PDF = "application/pdf"
PLAIN_TEXT = "text/plain"

_HEAD = re.compile(r"data:([^;,]*)((?:;[^;,]*)*),", re.IGNORECASE)
_SPACE = re.compile(r"[ \t\r\n]+")
_HEAD_LIMIT = 1024
_BY_ENDING = {"pdf": PDF, "txt": PLAIN_TEXT, "md": "text/markdown", "csv": "text/csv", "html": "text/html"}
_PDF_MARK = "JVBERi0"


class Media(Struct, frozen=True):
    """Bytes as base64 that is known to decode (with padding), and their type in lower case."""

    media_type: str
    data: str


def is_data_url(url: str) -> bool:
    """Whether it claims to be one; what it holds may still be wrong."""
    return url[:5].lower() == "data:"


def parse_data_url(url: str) -> Media | None:
    """`data:<mime>[;…];base64,<data>`; None where it is none or does not decode."""
    head = _HEAD.match(url, 0, _HEAD_LIMIT)
    if head is None or not head.group(2).lower().endswith(";base64"):
        return None
    data = verified(url[head.end() :])
    return None if data is None else Media(head.group(1).strip().lower() or PLAIN_TEXT, data)


def parse_file_data(file_data: str, filename: str | None) -> Media | None:
    """The `file_data` of the OpenAI protocols: a data URL, or bare base64 whose type the name tells."""
    if is_data_url(file_data):
        return parse_data_url(file_data)
    data = verified(file_data)
    if data is None:
        return None
    ending = (filename or "").rpartition(".")[2].lower()
    guess = PDF if data.startswith(_PDF_MARK) else "application/octet-stream"
    return Media(_BY_ENDING.get(ending, guess), data)


def verified(data: str) -> str | None:
    """Base64 with its padding put right and line breaks taken out; None where it does not decode."""
    if _SPACE.search(data):
        data = _SPACE.sub("", data)
    if not data.isascii():
        return None
    if len(data) % 4:
        data = data.rstrip("=")
        data += "=" * (-len(data) % 4)
    try:
        binascii.a2b_base64(data, strict_mode=True)
    except binascii.Error:
        return None
    return data


def data_url(media_type: str, data: str) -> str:
    """The data URL for base64 data."""
    return f"data:{media_type};base64,{data}"


def is_text(media_type: str) -> bool:
    """Whether the type is one of plain characters, parameters (`charset`) or not."""
    return media_type.startswith("text/")


def text_of(data: str) -> str | None:
    """The characters that base64 data holds in UTF-8; None where they are none."""
    try:
        return base64.b64decode(data).decode()
    except (binascii.Error, ValueError):
        return None


def text_as_data(text: str) -> str:
    """Text as base64 of its UTF-8."""
    return base64.b64encode(text.encode()).decode()
