"""Two readers of event streams that share no code agree on what the events are."""

from hypothesis import given
from hypothesis import strategies as st
from tests.unit.doctor.recordings import heard

from tidegate.core.sse import Framer
from tidegate.doctor.framing import framed

LINES = st.lists(
    st.sampled_from(
        [
            *(b"data: a", b"data:b", b"data", b"data:  two", b"data: [DONE]", b"data: \xe5\x8c\x97"),
            *(b"event: x", b"event:", b"event: y", b": note", b":", b"id: 1", b"retry: 5", b"odd", b"", b""),
        ]
    ),
    max_size=30,
)
ENDS = st.sampled_from([b"\n", b"\r\n", b"\r"])


@given(lines=st.lists(st.tuples(LINES, ENDS), max_size=4), mark=st.booleans(), size=st.integers(1, 40))
def test_both_find_the_same_events(lines: list[tuple[list[bytes], bytes]], mark: bool, size: int) -> None:
    body = (b"\xef\xbb\xbf" if mark else b"") + b"".join(line + end for part, end in lines for line in part)
    framer = Framer(1 << 20)
    frames = [
        frame for start in range(0, len(body), size) for frame in framer.feed(body[start : start + size])
    ]
    theirs = [((frame.event or b"").decode() or None, frame.data.decode()) for frame in frames]
    ours = [(event.name, event.data) for event in framed(heard(body)).events if event.closed]
    assert [event for event in ours if event[1] is not None] == theirs
