"""Output text gathered from many small deltas at little cost."""

_PIECES = 128


class Transcript:
    """Text in order of arrival; pieces are joined now and then so that memory stays near the text's size."""

    __slots__ = ("_pieces",)

    def __init__(self) -> None:
        self._pieces: list[str] = []

    def add(self, text: str) -> None:
        """Append a delta."""
        pieces = self._pieces
        pieces.append(text)
        if len(pieces) >= _PIECES:
            self._pieces = ["".join(pieces)]

    def text(self) -> str:
        """All of it."""
        return "".join(self._pieces)
