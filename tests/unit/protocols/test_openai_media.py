"""Pictures and documents in the form of the OpenAI protocols."""

import pytest

from tidegate.core.conversation import File, Image
from tidegate.protocols.losses import Losses
from tidegate.protocols.openai_media import file_data, image_url, read_file_data, read_image_url

PNG = "data:image/png;base64,iVBORw0KGgo="


def test_a_picture_as_data_is_taken_apart_and_put_together() -> None:
    image = read_image_url(PNG, "low", "p", "p.url", Losses())
    assert image == Image(path="p", media_type="image/png", data="iVBORw0KGgo=", detail="low")
    assert image_url(image) == PNG


def test_a_picture_by_address() -> None:
    image = read_image_url("HTTPS://h.test/a", None, "p", "p.url", Losses())
    assert image is not None
    assert image_url(image) == "HTTPS://h.test/a"


def test_a_stored_picture_has_no_url() -> None:
    assert image_url(Image(path="p", file_id="f")) is None


@pytest.mark.parametrize(
    "url", ["", "data:image/png;base64,!", "data:x", "file:///etc/passwd", "ftp://h.test/a"]
)
def test_other_urls_are_refused(url: str) -> None:
    refusals = Losses()
    assert read_image_url(url, None, "p", "p.url", refusals) is None
    assert refusals.failure is not None
    assert refusals.failure.param == "p.url"


def test_file_data_that_does_not_decode_is_refused() -> None:
    refusals = Losses()
    assert read_file_data("data:application/pdf;base64,!", "a.pdf", "p", "p.file_data", refusals) is None
    assert refusals.failure is not None
    assert refusals.failure.param == "p.file_data"


@pytest.mark.parametrize(
    ("file", "written"),
    [
        (
            File(path="p", media_type="application/pdf", data="JVBERi0=", filename="a.pdf"),
            {"filename": "a.pdf", "file_data": "data:application/pdf;base64,JVBERi0="},
        ),
        (
            File(path="p", media_type="application/pdf", data="JVBERi0="),
            {"filename": "document.pdf", "file_data": "data:application/pdf;base64,JVBERi0="},
        ),
        (
            File(path="p", media_type="text/markdown", data="aGk="),
            {"filename": "document.txt", "file_data": "data:text/markdown;base64,aGk="},
        ),
        (
            File(path="p", media_type="application/zip", data="aGk="),
            {"filename": "document", "file_data": "data:application/zip;base64,aGk="},
        ),
        (
            File(path="p", media_type="text/plain", text="hü", filename="a.txt"),
            {"filename": "a.txt", "file_data": "data:text/plain;base64,aMO8"},
        ),
        (File(path="p", url="https://h.test/a.pdf"), None),
        (File(path="p", file_id="f"), None),
    ],
)
def test_documents(file: File, written: dict[str, str] | None) -> None:
    assert file_data(file) == written
