"""Output text gathered from many small deltas at little cost."""


class Transcript:
    """Text in order of arrival, kept as bytes: thousands of open streams hold theirs at once."""

    __slots__ = ("_deltas", "_text")

    def __init__(self) -> None:
        self._deltas = 0
        self._text = bytearray()

    def __bool__(self) -> bool:
        """Whether a delta came."""
        return self._deltas > 0

    def add(self, text: str) -> None:
        """Append a delta."""
        self._deltas += 1
        self._text += text.encode("utf-8", "surrogatepass")

    def text(self) -> str:
        """All of it."""
        return self._text.decode("utf-8", "surrogatepass")
