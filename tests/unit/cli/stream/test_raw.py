"""How `--raw` cuts and stamps the lines of a stream."""

from hypothesis import given
from hypothesis import strategies as st

from tidegate.cli.stream.raw import RawLines


def shown(chunks: list[bytes]) -> str:
    lines = RawLines()
    spans = [span for number, chunk in enumerate(chunks) for span in lines.feed(chunk, number / 10)]
    return "".join(span.text for span in (*spans, *lines.end(9.0)))


def test_a_line_is_stamped_when_its_end_arrives() -> None:
    assert shown([b"data: a\n\nda", b"ta: b\n\n"]) == ("   0.000  data: a\n\n   0.100  data: b\n\n")


def test_a_comment_shows_at_once() -> None:
    assert shown([b"data: a\n\n", b": keepalive\n"]).endswith("   0.100  : keepalive\n")


def test_a_last_line_without_an_end_is_marked() -> None:
    assert shown([b"data: a"]) == "   9.000  data: a (no line end)\n"


@given(
    st.lists(st.sampled_from([b"data: x", b": y", b""])), st.sampled_from([b"\n", b"\r\n", b"\r"]), st.data()
)
def test_every_line_end_and_chunking_gives_the_same_lines(
    lines: list[bytes], end: bytes, data: st.DataObject
) -> None:
    wire = b"".join(line + end for line in lines)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(wire)))))
    chunks = [wire[a:b] for a, b in zip([0, *cuts], [*cuts, len(wire)], strict=True)]
    texts = [line[10:] for line in shown(chunks).split("\n")[:-1]]
    assert texts == [line.decode() for line in lines]
