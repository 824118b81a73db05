"""Writes pictures and documents as content parts of a chat upstream."""

from typing import Any, assert_never

from tidegate.core.conversation import File, Image
from tidegate.core.protocol import Protocol
from tidegate.protocols.losses import Losses
from tidegate.protocols.openai_media import file_data, image_url

Part = dict[str, Any]


class PartWriter:
    """Knows whose client asks: ids of stored files mean something only among the OpenAI protocols."""

    def __init__(self, client: Protocol, losses: Losses) -> None:
        self._client = client
        self._losses = losses

    def write(self, block: Image | File) -> list[Part]:
        """The parts, mostly one; what cannot be said is refused."""
        match block:
            case Image():
                return self._image(block)
            case File():
                return self._file(block)
            case _ as never:
                assert_never(never)

    def _image(self, image: Image) -> list[Part]:
        url = image_url(image)
        if url is None:
            self._losses.refuse_value(
                image.path, f"`{image.path}` is a stored picture, which cannot be sent."
            )
            return []
        inner = {"url": url}
        if image.detail == "original":
            # Most servers of this protocol know only the three older levels.
            self._losses.approximated(f"{image.path}.detail")
            inner["detail"] = "high"
        elif image.detail is not None:
            inner["detail"] = image.detail
        return [{"type": "image_url", "image_url": inner}]

    def _file(self, file: File) -> list[Part]:
        parts: list[Part] = []
        if file.context is not None:
            parts.append({"type": "text", "text": file.context})
            self._losses.approximated(f"{file.path}.context")
        if file.cited:
            self._losses.dropped(f"{file.path}.citations")
        held = file_data(file)
        if held is not None:
            parts.append({"type": "file", "file": held})
        elif file.file_id is not None and self._client is Protocol.RESPONSES:
            parts.append({"type": "file", "file": {"file_id": file.file_id}})
        else:
            self._losses.refuse_value(
                file.path, f"`{file.path}`: only documents with their data can be sent."
            )
        return parts
