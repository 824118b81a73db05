"""The content of a message as parts, whatever a client sends."""

from typing import Any

import pytest

from tidegate.core.conversation import Text
from tidegate.protocols.content_parts import Part, read_content, refuse_part
from tidegate.protocols.losses import Losses


def _read(part: dict[str, Any], path: str, refusals: Losses) -> Part | None:
    if "say" in part:
        return Text(text=part["say"], path=path)
    refuse_part(part.get("type"), path, refusals)
    return None


@pytest.mark.parametrize(
    ("content", "read"),
    [
        (None, ()),
        ("", ()),
        ([], ()),
        ("hi", (Text(text="hi", path="p"),)),
        ([{"say": "a"}, {"say": "b"}], (Text(text="a", path="p[0]"), Text(text="b", path="p[1]"))),
    ],
)
def test_content(content: object, read: tuple[Part, ...]) -> None:
    refusals = Losses()
    assert read_content(content, "p", refusals, _read) == read
    assert refusals.failure is None


@pytest.mark.parametrize(
    ("content", "kind", "path"),
    [
        (7, "invalid_request", "p"),
        ({"say": "a"}, "invalid_request", "p"),
        (["hi"], "invalid_request", "p[0]"),
        ([{}], "invalid_request", "p[0].type"),
        ([{"type": 7}], "invalid_request", "p[0].type"),
        ([{"say": "a"}, {"type": "input_audio"}], "unsupported_value", "p[1].type"),
    ],
)
def test_what_is_refused(content: object, kind: str, path: str) -> None:
    refusals = Losses()
    read_content(content, "p", refusals, _read)
    assert refusals.failure is not None
    assert (refusals.failure.kind.value, refusals.failure.param) == (kind, path)
