"""Reads the content parts of Chat messages."""

from typing import Any

from tidegate.core.conversation import File, Image, Refused, Text
from tidegate.protocols.client_members import text_at, text_if_any
from tidegate.protocols.content_parts import Part, read_content, refuse_part
from tidegate.protocols.losses import Losses, malformed
from tidegate.protocols.openai_media import read_file_data, read_image_url


def read_parts(content: object, path: str, refusals: Losses) -> tuple[Part, ...]:
    """A message's content as its parts; see `read_content`."""
    return read_content(content, path, refusals, _read_part)


def _read_part(part: dict[str, Any], path: str, refusals: Losses) -> Part | None:
    match part.get("type"):
        case "text":
            return Text(text=text_at(part, "text", path, refusals), path=path)
        case "refusal":
            return Refused(text=text_at(part, "refusal", path, refusals), path=path)
        case "image_url":
            return _read_image(part.get("image_url"), path, refusals)
        case "file":
            return _read_file(part.get("file"), path, refusals)
        case kind:  # a client may send anything
            refuse_part(kind, path, refusals)
            return None


def _read_image(image: object, path: str, refusals: Losses) -> Image | None:
    """Some clients write the URL itself where the object should stand."""
    inner = f"{path}.image_url"
    if isinstance(image, str):
        return read_image_url(image, None, path, inner, refusals)
    if not isinstance(image, dict):
        refusals.refuse(malformed(inner, "an object"))
        return None
    detail = text_if_any(image, "detail", inner, refusals)
    return read_image_url(text_at(image, "url", inner, refusals), detail, path, f"{inner}.url", refusals)


def _read_file(file: object, path: str, refusals: Losses) -> File | None:
    inner = f"{path}.file"
    if not isinstance(file, dict):
        refusals.refuse(malformed(inner, "an object"))
        return None
    filename = text_if_any(file, "filename", inner, refusals)
    file_id = text_if_any(file, "file_id", inner, refusals)
    if file_id is not None:
        return File(path=path, file_id=file_id, filename=filename)
    file_data = text_at(file, "file_data", inner, refusals)
    return read_file_data(file_data, filename, path, f"{inner}.file_data", refusals)
