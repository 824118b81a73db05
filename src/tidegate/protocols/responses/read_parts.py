"""Reads the content parts of Responses items."""

from typing import Any

from tidegate.core.conversation import File, Image, Refused, Text
from tidegate.protocols.client_members import text_at, text_if_any
from tidegate.protocols.content_parts import Part, read_content, refuse_part
from tidegate.protocols.losses import Losses
from tidegate.protocols.openai_media import read_file_data, read_image_url


def read_parts(content: object, path: str, refusals: Losses) -> tuple[Part, ...]:
    """A message's content or a tool's output as its parts; see `read_content`."""
    return read_content(content, path, refusals, _read_part)


def _read_part(part: dict[str, Any], path: str, refusals: Losses) -> Part | None:
    match part.get("type"):
        case "input_text" | "output_text" | "text":
            return Text(text=text_at(part, "text", path, refusals), path=path)
        case "refusal":
            return Refused(text=text_at(part, "refusal", path, refusals), path=path)
        case "input_image":
            return _read_image(part, path, refusals)
        case "input_file":
            return _read_file(part, path, refusals)
        case kind:  # a client may send anything
            refuse_part(kind, path, refusals)
            return None


def _read_image(part: dict[str, Any], path: str, refusals: Losses) -> Image | None:
    detail = text_if_any(part, "detail", path, refusals)
    file_id = text_if_any(part, "file_id", path, refusals)
    if file_id is not None:
        return Image(path=path, file_id=file_id, detail=detail)
    url = text_at(part, "image_url", path, refusals)
    return read_image_url(url, detail, path, f"{path}.image_url", refusals)


def _read_file(part: dict[str, Any], path: str, refusals: Losses) -> File | None:
    filename = text_if_any(part, "filename", path, refusals)
    file_id = text_if_any(part, "file_id", path, refusals)
    if file_id is not None:
        return File(path=path, file_id=file_id, filename=filename)
    url = text_if_any(part, "file_url", path, refusals)
    if url is not None:
        return File(path=path, url=url, filename=filename)
    file_data = text_at(part, "file_data", path, refusals)
    return read_file_data(file_data, filename, path, f"{path}.file_data", refusals)
