"""Data URLs as clients write them, and what is none."""

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidegate.protocols import media
from tidegate.protocols.media import Media


@pytest.mark.parametrize(
    ("url", "found"),
    [
        ("data:image/png;base64,iVBORw0KGgo=", Media("image/png", "iVBORw0KGgo=")),
        ("data:image/png;base64,iVBORw0KGgo", Media("image/png", "iVBORw0KGgo=")),
        ("DATA:IMAGE/PNG;BASE64,iVBORw0KGgo=", Media("image/png", "iVBORw0KGgo=")),
        ("data:text/plain;charset=utf-8;base64,aGk=", Media("text/plain", "aGk=")),
        ("data:;base64,aGk=", Media("text/plain", "aGk=")),
        ("data:image/png;base64,aG\r\nk=", Media("image/png", "aGk=")),
        ("data:image/png;base64,", Media("image/png", "")),
        ("data:image/png;base64,a", None),
        ("data:image/png;base64,a===", None),
        ("data:image/png;base64,a*==", None),
        ("data:image/png;base64,aGk=aGk=", None),
        ("data:image/png;base64,aGü=", None),
        ("data:text/plain,hello", None),
        ("data:image/png;base64", None),
        ("data:", None),
        ("https://example.com/a.png", None),
        ("data:" + "x" * 5000 + ";base64,aGk=", None),
    ],
)
def test_data_urls(url: str, found: Media | None) -> None:
    assert media.parse_data_url(url) == found


@pytest.mark.parametrize(
    ("file_data", "filename", "media_type"),
    [
        ("data:application/pdf;base64,JVBERi0=", None, "application/pdf"),
        ("JVBERi0=", None, "application/pdf"),
        ("aGk=", "a.TXT", "text/plain"),
        ("aGk=", "a.bin", "application/octet-stream"),
        ("aGk=", None, "application/octet-stream"),
    ],
)
def test_file_data_may_be_bare_and_is_known_by_name_or_content(
    file_data: str, filename: str | None, media_type: str
) -> None:
    found = media.parse_file_data(file_data, filename)
    assert found is not None
    assert found.media_type == media_type


def test_file_data_that_does_not_decode_is_none() -> None:
    assert media.parse_file_data("not base64!", "a.txt") is None


@given(st.binary(max_size=200))
def test_padding_may_be_missing(held: bytes) -> None:
    data = base64.b64encode(held).decode()
    assert media.verified(data.rstrip("=")) == data
    assert media.parse_data_url(media.data_url("a/b", data)) == Media("a/b", data)


@given(st.text())
def test_text_goes_into_data_and_back(text: str) -> None:
    assert media.text_of(media.text_as_data(text)) == text


def test_data_that_is_no_text_is_none() -> None:
    assert media.text_of(base64.b64encode(b"\xff\xfe\xff").decode()) is None
    assert media.text_of("a") is None


def test_text_types() -> None:
    assert media.is_text("text/markdown")
    assert not media.is_text("application/pdf")
