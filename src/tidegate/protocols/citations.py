"""Reads a citation of a web page, which the three protocols write nearly alike."""

from tidegate.core.events import Cited
from tidegate.core.usage import count
from tidegate.protocols.loose import mapping, text


def web_citation(value: object) -> Cited | None:
    """The citation in an object with `url`, `title` and perhaps `start_index` and `end_index`; None: no page.

    Chat wraps it as `url_citation`. Messages tells no indices.
    """
    told = mapping(value)
    told = mapping(told.get("url_citation")) or told
    url = text(told.get("url"))
    if url is None:
        return None
    start, end = count(told.get("start_index")), count(told.get("end_index"))
    return Cited(url, text(told.get("title")) or "", start, end)
