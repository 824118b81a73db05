"""Content parts of Responses items."""

from typing import Any

import pytest

from tidegate.core.conversation import File, Image, Refused, Text
from tidegate.protocols.content_parts import Part
from tidegate.protocols.losses import Losses
from tidegate.protocols.responses.read_parts import read_parts

PNG = "data:image/png;base64,iVBORw0KGgo="
AT = "p[0]"


@pytest.mark.parametrize(
    ("part", "read"),
    [
        ({"type": "input_text", "text": "hi"}, Text(text="hi", path=AT)),
        ({"type": "output_text", "text": "hi", "annotations": []}, Text(text="hi", path=AT)),
        ({"type": "text", "text": "hi"}, Text(text="hi", path=AT)),
        ({"type": "refusal", "refusal": "no"}, Refused(text="no", path=AT)),
        (
            {"type": "input_image", "image_url": PNG, "detail": "high"},
            Image(path=AT, media_type="image/png", data="iVBORw0KGgo=", detail="high"),
        ),
        ({"type": "input_image", "file_id": "f"}, Image(path=AT, file_id="f")),
        ({"type": "input_file", "file_id": "f"}, File(path=AT, file_id="f")),
        ({"type": "input_file", "file_url": "https://h.test/a"}, File(path=AT, url="https://h.test/a")),
        (
            {"type": "input_file", "file_data": "data:application/pdf;base64,JVBERi0", "filename": "a.pdf"},
            File(path=AT, media_type="application/pdf", data="JVBERi0=", filename="a.pdf"),
        ),
    ],
)
def test_parts(part: dict[str, Any], read: Part) -> None:
    refusals = Losses()
    assert read_parts([part], "p", refusals) == (read,)
    assert refusals.failure is None


@pytest.mark.parametrize("content", [None, "", []])
def test_nothing_is_nothing(content: object) -> None:
    assert read_parts(content, "p", Losses()) == ()


@pytest.mark.parametrize(
    ("content", "kind", "path"),
    [
        (7, "invalid_request", "p"),
        ([7], "invalid_request", "p[0]"),
        ([{"type": None}], "invalid_request", "p[0].type"),
        ([{"type": "input_audio"}], "unsupported_value", "p[0].type"),
        ([{"type": "input_image"}], "invalid_request", "p[0].image_url"),
        ([{"type": "input_image", "image_url": "data:x"}], "invalid_request", "p[0].image_url"),
        ([{"type": "input_file", "filename": "a"}], "invalid_request", "p[0].file_data"),
        ([{"type": "input_file", "file_data": "!", "filename": "a"}], "invalid_request", "p[0].file_data"),
    ],
)
def test_what_is_wrong_is_named(content: object, kind: str, path: str) -> None:
    refusals = Losses()
    read_parts(content, "p", refusals)
    assert refusals.failure is not None
    assert (refusals.failure.kind.value, refusals.failure.param) == (kind, path)
