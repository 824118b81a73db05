"""Reads pictures and documents as the two OpenAI protocols carry them, and puts documents into their form."""

from tidegate.core.conversation import File, Image
from tidegate.protocols import media
from tidegate.protocols.losses import Losses, malformed

_WEB = ("http://", "https://")
_NAMES = {media.PDF: "document.pdf"}


def read_image_url(url: str, detail: str | None, path: str, where: str, refusals: Losses) -> Image | None:
    """A picture by address or as a data URL; `where` is the path of the URL itself."""
    if media.is_data_url(url):
        held = media.parse_data_url(url)
        if held is None:
            refusals.refuse(malformed(where, "a data URL with base64 that decodes"))
            return None
        return Image(path=path, media_type=held.media_type, data=held.data, detail=detail)
    if not url[:8].lower().startswith(_WEB):
        refusals.refuse(malformed(where, "an http, https or data URL"))
        return None
    return Image(path=path, url=url, detail=detail)


def read_file_data(
    file_data: str, filename: str | None, path: str, where: str, refusals: Losses
) -> File | None:
    """A document as a data URL, or as bare base64; `where` is the path of the data."""
    held = media.parse_file_data(file_data, filename)
    if held is None:
        refusals.refuse(malformed(where, "a data URL with base64 that decodes"))
        return None
    return File(path=path, media_type=held.media_type, data=held.data, filename=filename)


def image_url(image: Image) -> str | None:
    """The URL that an OpenAI protocol carries; None for a picture that is known by id only."""
    if image.data is not None:
        return media.data_url(image.media_type or "image/png", image.data)
    return image.url


def file_data(file: File) -> dict[str, str] | None:
    """`file_data` with the name that goes with it; None for a document by address or id.

    Both protocols want a name beside the data, so a document without one gets one by its type.
    """
    if file.text is not None:
        held = media.data_url(media.PLAIN_TEXT, media.text_as_data(file.text))
        return {"filename": file.filename or "document.txt", "file_data": held}
    if file.data is None:
        return None
    media_type = file.media_type or media.PDF
    name = file.filename or _NAMES.get(
        media_type, "document.txt" if media.is_text(media_type) else "document"
    )
    return {"filename": name, "file_data": media.data_url(media_type, file.data)}
