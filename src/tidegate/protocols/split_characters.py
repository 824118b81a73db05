"""Puts characters together that a server has cut in two: half in one event's text, half in the next one's."""

import re

from msgspec.structs import replace

from tidegate.core.sse import Frame

_ESCAPE = b"\\u"
_FIRST_AT_END = re.compile(rb'(?<!\\)((?:\\\\)*)(\\u[dD][89abAB][0-9a-fA-F]{2})(?=")')
_SECOND_AT_START = re.compile(rb'(?<!\\)"(?=\\u[dD][c-fC-F][0-9a-fA-F]{2})')


class SplitCharacters:
    """The halves of one stream.

    A character beyond U+FFFF is two UTF-16 units, each of which JSON can escape (RFC 8259, 7). Servers
    that cut text at units send the first at the end of one string and the second at the start of a later one.
    No text of ours can hold a half, so the first waits for the second; where none comes it is left out.
    """

    __slots__ = ("_first",)

    def __init__(self) -> None:
        self._first = b""

    def join(self, frame: Frame) -> Frame:
        """The event with whole characters. One that escapes nothing is given back as it is."""
        if _ESCAPE not in frame.data:
            return frame
        data = frame.data
        if self._first:
            first = self._first
            data, joined = _SECOND_AT_START.subn(lambda _quote: b'"' + first, data)
            if joined:
                self._first = b""
        data = _FIRST_AT_END.sub(self._keep, data)
        return frame if data == frame.data else replace(frame, data=data)

    def _keep(self, found: "re.Match[bytes]") -> bytes:
        self._first = found[2]
        return found[1]
