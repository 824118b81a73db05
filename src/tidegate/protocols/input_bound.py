"""How many prompt tokens a request can have at most, told from its bytes in a few microseconds."""

import re
from collections.abc import Iterator

from msgspec import Struct

from tidegate.core.protocol import Protocol

IMAGE_TOKENS = 5_000
"""What one picture counts: providers scale pictures down, so that none costs more, however large it is."""
MOST_FILE_TOKENS = 500_000
"""What one inline file counts at most: a hundred pages, each read as text and as a picture."""
SEARCHES = 10
"""Web searches that a request is held for where it lets the model search."""

_LOOKED_AT = 1024
_MOST_RUNS = 1_000  # what comes after so many is counted by its bytes
_OPENING = re.compile(rb'\s*:\s*"')
_HEAD = re.compile(rb'(?:url|file_data)"\s*:\s*"data:[^"]*\Z')
_BASE64 = re.compile(rb"[A-Za-z0-9+/=_\\-]+")
_PICTURES = (b"iVBORw0KGgo", b"/9j/", b"\\/9j\\/", b"R0lGOD", b"UklGR")
_WAVE = b"QVZF"  # also begins as WebP does; this is where they differ
_PDF = b"JVBERi"

_FILES = rb'file_(?:id|url)"|(?:\w+_)?url"\s*:\s*"(?!data:)|type"\s*:\s*"(?:url"|\w+_20\d{6}")'
_OF_PROTOCOL = {
    Protocol.CHAT: rb'web_search_options"|audio"\s*:\s*\{\s*"id"|model"\s*:\s*"[^"]*-search',
    Protocol.RESPONSES: (
        rb'previous_response_id"\s*:\s*"|item_reference"|conversation"|prompt"\s*:\s*\{|container"|mcp"|shell"'
        rb'|(?:web_search|file_search|tool_search|code_interpreter|image_generation|computer)\w*"'
        rb'|id"\s*:\s*"[^"]*"\s*(?:\}|,\s*"type"\s*:\s*null)'  # a reference may leave out its type
    ),
    Protocol.MESSAGES: rb'container"|mcp_\w+"',
}
"""Words that stand in requests whose prompt is not all in their bytes, and in few others."""

_ELSEWHERE = {
    protocol: re.compile(rb'"(?:%s|%s)' % (_FILES, words)) for protocol, words in _OF_PROTOCOL.items()
}
_NOT_PLAIN = {
    protocol: re.compile(rb'"(?:(?:file_)?data[":]|%s|%s)' % (_FILES, words))
    for protocol, words in _OF_PROTOCOL.items()
}
"""As above, or with inline files."""

_REMOTE = re.compile(
    rb'"(?:image_url"\s*:\s*(?:\{\s*"url"\s*:\s*)?"(?!data:)|file_(?:id|url)"\s*:\s*"|type"\s*:\s*"url")'
)
_SEARCH_TOOL = re.compile(rb'"(?:web_search_options"|type"\s*:\s*"web_search(?:_preview)?(?:_20[0-9_]*)?")')
_SPELT_OUT = re.compile(rb"\\u00[4-7]")  # a letter that needs no escape may hide any word from a search


class Bound(Struct, frozen=True):
    """The most prompt tokens; a guess where `firm` is False: the request refers to content elsewhere."""

    tokens: int
    firm: bool
    searches: int = 0
    """Web searches to hold money for."""


def input_bound(body: bytes, protocol: Protocol) -> Bound:
    """Every token is at least one byte of the body; pictures and long files count what they can come to.

    What is no reference elsewhere may be taken for one, and never the other way round.
    """
    spelt_out = b"\\" in body and _SPELT_OUT.search(body) is not None
    if not spelt_out and _NOT_PLAIN[protocol].search(body) is None:
        return Bound(len(body), firm=True)
    tokens, text, firm = _with_inline(body)
    if not spelt_out and _ELSEWHERE[protocol].search(text) is None:
        return Bound(tokens, firm)
    remote = IMAGE_TOKENS * min(len(_REMOTE.findall(text)), _MOST_RUNS)
    return Bound(tokens + remote, firm=False, searches=SEARCHES if _SEARCH_TOOL.search(text) else 0)


def _with_inline(body: bytes) -> tuple[int, bytes, bool]:
    """The bound of a body with inline files, what of it is not their base64, and whether it is firm."""
    tokens, firm = len(body), True
    kept: list[bytes] = []
    at = 0
    for start, end in sorted(_runs(body)):
        length = end - start
        if _is_picture(body, start):
            tokens += IMAGE_TOKENS - length
        else:
            tokens += min(0, MOST_FILE_TOKENS - length)
            firm = firm and length <= MOST_FILE_TOKENS and not body.startswith(_PDF, start)
        kept.append(body[at:start])
        at = end
    kept.append(body[at:])
    return tokens, b"".join(kept), firm


def _runs(body: bytes) -> Iterator[tuple[int, int]]:
    """Where values that hold files, or what follows the head of a data URL, are base64 to their end.

    No two overlap, and nothing is looked at twice, so that no body takes long.
    """
    for mark, head in ((b";base64,", _after_head), (b'data"', _after_key)):
        at = 0
        for _ in range(_MOST_RUNS):
            at = body.find(mark, at)
            if at < 0:
                break
            at += len(mark)
            start = head(body, at)
            if start is not None:
                at = body.find(b'"', start)
                if _is_base64(body, start, at):
                    yield start, at


def _after_key(body: bytes, at: int) -> int | None:
    """Where the string begins that is the value of the key that ends at `at`."""
    opened = _OPENING.match(body, at)
    return None if opened is None else opened.end()


def _after_head(body: bytes, at: int) -> int | None:
    """`at`, if a data URL's head ends there, in a member that providers read files from."""
    return at if _HEAD.search(body[max(0, at - 160) : at]) else None


def _is_base64(body: bytes, start: int, end: int) -> bool:
    """Looked at closely at its start only; no text goes on in ASCII without a space or a spelt out letter."""
    if end <= start or _BASE64.fullmatch(body, start, min(end, start + _LOOKED_AT)) is None:
        return False
    no_words = body.find(b" ", start, end) < 0 and body.find(b"\\u", start, end) < 0
    return no_words and body[start:end].isascii()


def _is_picture(body: bytes, start: int) -> bool:
    run = body[start : start + 16]
    return b"image/" in body[max(0, start - 40) : start] or (run.startswith(_PICTURES) and run[12:] != _WAVE)
