"""Content parts of Chat messages."""

from typing import Any

import pytest

from tidegate.core.conversation import File, Image, Refused, Text
from tidegate.protocols.chat.read_parts import read_parts
from tidegate.protocols.content_parts import Part
from tidegate.protocols.losses import Losses

PNG = "data:image/png;base64,iVBORw0KGgo="
AT = "messages[0].content[0]"


@pytest.mark.parametrize(
    ("part", "read"),
    [
        ({"type": "text", "text": "hi"}, Text(text="hi", path=AT)),
        ({"type": "refusal", "refusal": "no"}, Refused(text="no", path=AT)),
        (
            {"type": "image_url", "image_url": {"url": PNG, "detail": "low"}},
            Image(path=AT, media_type="image/png", data="iVBORw0KGgo=", detail="low"),
        ),
        ({"type": "image_url", "image_url": "http://h.test/a"}, Image(path=AT, url="http://h.test/a")),
        (
            {"type": "file", "file": {"file_id": "f", "filename": "n"}},
            File(path=AT, file_id="f", filename="n"),
        ),
        (
            {"type": "file", "file": {"file_data": "JVBERi0=", "filename": "a.pdf"}},
            File(path=AT, media_type="application/pdf", data="JVBERi0=", filename="a.pdf"),
        ),
    ],
)
def test_parts(part: dict[str, Any], read: Part) -> None:
    refusals = Losses()
    assert read_parts([part], "messages[0].content", refusals) == (read,)
    assert refusals.failure is None


@pytest.mark.parametrize("content", [None, "", []])
def test_nothing_is_nothing(content: object) -> None:
    assert read_parts(content, "p", Losses()) == ()


def test_a_string_is_one_text_at_the_place_of_the_whole() -> None:
    assert read_parts("hi", "p.content", Losses()) == (Text(text="hi", path="p.content"),)


@pytest.mark.parametrize(
    ("content", "kind", "path"),
    [
        (7, "invalid_request", "p"),
        (["hi"], "invalid_request", "p[0]"),
        ([{}], "invalid_request", "p[0].type"),
        ([{"type": "text"}], "invalid_request", "p[0].text"),
        ([{"type": "input_audio", "input_audio": {}}], "unsupported_value", "p[0].type"),
        ([{"type": "image_url"}], "invalid_request", "p[0].image_url"),
        ([{"type": "image_url", "image_url": {}}], "invalid_request", "p[0].image_url.url"),
        ([{"type": "image_url", "image_url": {"url": "data:x"}}], "invalid_request", "p[0].image_url.url"),
        (
            [{"type": "image_url", "image_url": {"url": PNG, "detail": 1}}],
            "invalid_request",
            "p[0].image_url.detail",
        ),
        ([{"type": "file", "file": "x"}], "invalid_request", "p[0].file"),
        ([{"type": "file", "file": {"file_data": "!"}}], "invalid_request", "p[0].file.file_data"),
    ],
)
def test_what_is_wrong_is_named(content: object, kind: str, path: str) -> None:
    refusals = Losses()
    read_parts(content, "p", refusals)
    assert refusals.failure is not None
    assert (refusals.failure.kind.value, refusals.failure.param) == (kind, path)
