import gzip

import brotli
import pytest

from tidegate.console.packed import Coding, Packed

TEXT = b"export const a = 1;\n" * 100


@pytest.mark.parametrize(
    ("accepted", "coding"),
    [
        ("", Coding.PLAIN),
        ("gzip, deflate, br, zstd", Coding.BROTLI),
        ("gzip", Coding.GZIP),
        ("GZIP;q=0.5", Coding.GZIP),
        ("br;q=0, gzip;q=1.0", Coding.GZIP),
        ("br;q=0.000", Coding.PLAIN),
        ("deflate, *;q=0", Coding.PLAIN),
        (";;,=,q", Coding.PLAIN),
    ],
)
def test_the_shortest_form_that_is_taken(accepted: str, coding: Coding) -> None:
    assert Packed("app.js", TEXT).best_for(accepted) is coding


def test_each_form_is_the_same_file_under_a_tag_of_its_own() -> None:
    file = Packed("app.js", TEXT)
    assert gzip.decompress(file.body(Coding.GZIP)) == TEXT
    assert brotli.decompress(file.body(Coding.BROTLI)) == TEXT
    assert file.body(Coding.GZIP) is file.body(Coding.GZIP)
    assert len({file.etag(coding) for coding in Coding}) == 3
    assert file.etag(Coding.PLAIN) != Packed("app.js", TEXT + b" ").etag(Coding.PLAIN)


def test_what_is_small_or_packed_already_goes_as_it_is() -> None:
    assert Packed("a.js", b"x").best_for("br") is Coding.PLAIN
    assert Packed("logo.png", TEXT).best_for("br") is Coding.PLAIN


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("app.js", "text/javascript; charset=utf-8"),
        ("app.CSS", "text/css; charset=utf-8"),
        ("icon.svg", "image/svg+xml"),
        ("LICENSE", "application/octet-stream"),
    ],
)
def test_the_type_is_told_by_the_name(name: str, kind: str) -> None:
    assert Packed(name, b"").media_type == kind
