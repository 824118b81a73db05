"""Output text gathered from many small deltas at little cost."""

_PIECES = 128


class Transcript:
    """Text in order of arrival; every few pieces are joined, so memory stays near the text's size.

    What was joined is not copied again, so the work is linear in the text.
    """

    __slots__ = ("_joined", "_pieces")

    def __init__(self) -> None:
        self._joined: list[str] = []
        self._pieces: list[str] = []

    def __bool__(self) -> bool:
        """Whether a delta came."""
        return bool(self._pieces or self._joined)

    def add(self, text: str) -> None:
        """Append a delta."""
        pieces = self._pieces
        pieces.append(text)
        if len(pieces) >= _PIECES:
            self._joined.append("".join(pieces))
            pieces.clear()

    def text(self) -> str:
        """All of it."""
        return "".join([*self._joined, *self._pieces])
