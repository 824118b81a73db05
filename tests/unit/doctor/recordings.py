"""Answers as they would have been heard."""

from tidegate.doctor.recording import Close, Head, Piece, Recording

STREAM = (("content-type", "text/event-stream; charset=utf-8"), ("cache-control", "no-cache"))


def heard(
    body: bytes,
    *,
    status: int = 200,
    headers: tuple[tuple[str, str], ...] = STREAM,
    close: Close = Close.WHOLE,
    size: int = 0,
) -> Recording:
    """The body in pieces of a size, one each hundredth of a second; in one piece where none is told."""
    step = size or max(1, len(body))
    pieces = tuple(
        Piece(0.1 + number * 0.01, body[start : start + step])
        for number, start in enumerate(range(0, len(body), step))
    )
    return Recording(
        head=Head(0.1, status, headers),
        pieces=pieces,
        close=close,
        ended_at=pieces[-1].at if pieces else 0.1,
    )
