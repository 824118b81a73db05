"""The one hosted tool that converts: web search, as the three protocols declare it (conversion.md §5)."""

from typing import Any

from msgspec import Struct

from tidegate.protocols.loose import listing, mapping

_LOCATION = ("city", "country", "region", "timezone")


class WebSearch(Struct, frozen=True, kw_only=True):
    """What a declaration says. `paths` are the members that it has, relative to the tool."""

    allowed_domains: tuple[str, ...] = ()
    blocked_domains: tuple[str, ...] = ()
    location: dict[str, str] | None = None
    """City, country, region, timezone: what of it is told."""
    context_size: str | None = None
    max_uses: int | None = None


def is_web_search(type_: str) -> bool:
    """`web_search`, `web_search_preview` of Responses and the dated forms of both families."""
    return type_ == "web_search" or type_.startswith(("web_search_2", "web_search_preview"))


def of_tool(body: object) -> WebSearch:
    """The declaration in a list of tools, in the form of Responses or of Messages."""
    declared = mapping(body)
    uses = declared.get("max_uses")
    size = declared.get("search_context_size")
    return WebSearch(
        allowed_domains=_texts(mapping(declared.get("filters")).get("allowed_domains"))
        or _texts(declared.get("allowed_domains")),
        blocked_domains=_texts(declared.get("blocked_domains")),
        location=_location(declared.get("user_location")),
        context_size=size if isinstance(size, str) else None,
        max_uses=uses if isinstance(uses, int) else None,
    )


def of_options(options: object) -> WebSearch:
    """The `web_search_options` of Chat."""
    given = mapping(options)
    size = given.get("search_context_size")
    place = mapping(given.get("user_location"))
    return WebSearch(
        location=_location(place.get("approximate") or place),
        context_size=size if isinstance(size, str) else None,
    )


def approximate_location(search: WebSearch) -> dict[str, Any] | None:
    """The flat form of Responses and Messages."""
    return None if search.location is None else {"type": "approximate", **search.location}


def _location(value: object) -> dict[str, str] | None:
    place = mapping(value)
    known = {name: text for name in _LOCATION if isinstance(text := place.get(name), str)}
    return known or None


def _texts(value: object) -> tuple[str, ...]:
    return tuple(element for element in listing(value) if isinstance(element, str))
