"""A body is told by how it begins, however many reads that takes."""

import pytest

from tidegate.engine.body import MAX_BLANK, Body, judge


@pytest.mark.parametrize(
    ("start", "kind"),
    [
        (b"", None),
        (b"\r\n \t", None),
        (b"\xef\xbb", None),
        (b"\xef\xbb\xbf", None),
        (b"d", Body.EVENTS),
        (b": ping", Body.EVENTS),
        (b"\n\ndata: {}", Body.EVENTS),
        (b"\xef\xbb\xbfdata:", Body.EVENTS),
        (b' \n{"id"', Body.JSON),
        (b"\xef\xbb\xbf[1", Body.JSON),
        (b"\n<!doctype html>", Body.FOREIGN),
        (b" " * (MAX_BLANK + 1), Body.FOREIGN),
    ],
)
def test_kinds(start: bytes, kind: Body | None) -> None:
    assert judge(start) is kind
