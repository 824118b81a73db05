"""Takes a complete event stream apart, to be told as one answer."""

from collections.abc import Iterator

from tidegate.core.sse import Frame, Framer
from tidegate.protocols.loose import decoded
from tidegate.protocols.split_characters import SplitCharacters

_DONE = b"[DONE]"


def events_of(stream: bytes) -> Iterator[Frame]:
    """The events that have data. A last one without its blank line counts if it is whole. Raises Overflow."""
    framer, characters = Framer(len(stream) + 4), SplitCharacters()
    yield from (characters.join(frame) for frame in framer.feed(stream) if frame.data.strip())
    last = framer.end()
    if last is not None and (is_done(last) or decoded(last.data) is not None):
        yield characters.join(last)


def is_done(frame: Frame) -> bool:
    """Whether the event is `[DONE]`, which Chat ends with and other streams may carry as well."""
    return frame.data.startswith(_DONE)
