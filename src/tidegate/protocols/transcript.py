"""Output text gathered from many small deltas at little cost."""


class Transcript:
    """Text in order of arrival, kept as bytes: thousands of open streams hold theirs at once."""

    __slots__ = ("_deltas", "_text")

    def __init__(self) -> None:
        self._deltas = 0
        self._text = bytearray()

    def __bool__(self) -> bool:
        """Whether a delta came, be it an empty one."""
        return self._deltas > 0

    def add(self, text: str) -> None:
        """Append a delta."""
        self._deltas += 1
        self._text += text.encode("utf-8", "surrogatepass")

    def __len__(self) -> int:
        """Bytes so far."""
        return len(self._text)

    def text(self, start: int = 0) -> str:
        """All of it, or what came after `start` bytes (a length told before)."""
        return self._text[start:].decode("utf-8", "surrogatepass")
