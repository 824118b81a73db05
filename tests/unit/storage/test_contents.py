"""A content as a row: redacted before it is cut, and never cut inside a character."""

import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidegate.exchange.capture import OVERHANG, Content, Part
from tidegate.storage.contents import row_of


def content(request: bytes, answer: bytes = b"", length: int | None = None) -> Content:
    return Content(
        id="req_1",
        captured_at=1.5,
        request=Part(request, len(request) if length is None else length),
        answer=Part(answer, len(answer)),
    )


def same(text: str) -> str:
    return text


def text(row: dict[str, object] | None, name: str = "request") -> str:
    assert row is not None
    kept = row[name]
    assert isinstance(kept, bytes)
    return zlib.decompress(kept).decode()


def test_a_row_has_both_directions() -> None:
    row = row_of(content(b"asked", b"answered"), 100, same)
    assert row is not None
    assert (text(row), text(row, "answer")) == ("asked", "answered")
    assert {name: value for name, value in row.items() if name not in ("request", "answer")} == {
        "id": "req_1",
        "captured_at": 1_500_000,
        "request_bytes": 5,
        "request_truncated": False,
        "answer_bytes": 8,
        "answer_truncated": False,
    }


def test_what_a_cut_goes_through_is_redacted_first() -> None:
    row = row_of(
        content(b"1234secret-of-mine and more"), 8, lambda text: text.replace("secret-of-mine", "[x]")
    )
    assert text(row) == "1234[x] "


@pytest.mark.parametrize("limit", [100, 8_000])
def test_the_end_of_what_was_noted_is_never_kept(limit: int) -> None:
    long = b"secret-of-mine" * 600
    noted = (long + b"x" * 5_000)[: limit + OVERHANG - 9] + b"secret-of"
    kept = text(row_of(content(noted, length=20_000), limit, lambda said: said.replace("secret-of-mine", "")))
    assert "secret-of" not in kept
    assert len(kept) <= limit


def test_what_cannot_be_redacted_is_not_kept() -> None:
    assert row_of(content(b"asked"), 100, lambda text: None) is None
    assert row_of(content(b"", b"answered"), 100, lambda text: None if text else text) is None


@pytest.mark.parametrize(
    ("start", "length", "limit", "truncated"),
    [(b"abc", 3, 3, False), (b"abc", 3, 2, True), (b"abc", 4, 9, True)],
)
def test_it_is_told_whether_something_is_missing(
    start: bytes, length: int, limit: int, truncated: bool
) -> None:
    row = row_of(content(start, length=length), limit, same)
    assert row is not None
    assert (row["request_truncated"], row["request_bytes"]) == (truncated, length)


@given(st.text(), st.integers(1, 50))
def test_a_text_is_cut_between_characters(said: str, limit: int) -> None:
    kept = text(row_of(content(said.encode("utf-8", "replace")), limit, same))
    assert len(kept.encode()) <= limit
    assert said.encode("utf-8", "replace").decode().startswith(kept)


@given(st.binary(), st.integers(1, 50))
def test_any_bytes_become_a_text(said: bytes, limit: int) -> None:
    assert len(text(row_of(content(said), limit, same)).encode()) <= limit
