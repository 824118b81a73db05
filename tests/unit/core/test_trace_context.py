"""Trace context is read as the W3C has it: what is valid is continued, what is not begins a trace anew."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidegate.core.trace_context import Trace, begin

TRACE, SPAN = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
PARENT = f"00-{TRACE}-{SPAN}-01"

hex_digits = st.sampled_from("0123456789abcdef")
values = st.text("abcdefghijklmnopqrstuvwxyz0123456789:;.-_", min_size=1, max_size=20)
keys = st.from_regex(r"[a-z][a-z0-9_*/-]{0,10}(@[a-z]{1,5})?", fullmatch=True)


def hexes(length: int) -> st.SearchStrategy[str]:
    return st.text(hex_digits, min_size=length, max_size=length)


def read(parent: str, state: str | None = None, share: float = 1.0) -> Trace:
    headers = {"traceparent": parent} | ({} if state is None else {"tracestate": state})
    return begin("req_1", headers, share)


def is_continued(trace: Trace) -> bool:
    return trace.parent_id is not None


def test_a_callers_trace_is_continued() -> None:
    trace = read(PARENT, "rojo=00f067aa0ba902b7,congo=t61rcWkgMzE", share=0)
    assert (trace.trace_id, trace.parent_id, trace.sampled) == (TRACE, SPAN, True)
    assert trace.state == "rojo=00f067aa0ba902b7,congo=t61rcWkgMzE"


def test_what_goes_on_names_the_attempt_as_parent() -> None:
    trace = read(f"00-{TRACE}-{SPAN}-03", "a=1")
    assert trace.headers(1) == (
        ("traceparent", f"00-{TRACE}-{trace.attempt_id(1)}-03"),
        ("tracestate", "a=1"),
    )
    assert read(PARENT).headers(0) == (("traceparent", f"00-{TRACE}-{trace.attempt_id(0)}-01"),)
    assert is_continued(read(trace.headers(0)[0][1]))


def test_ids_follow_from_the_request_and_differ() -> None:
    trace = read(PARENT)
    ids = {trace.span_id, *(trace.attempt_id(number) for number in range(50))}
    assert len(ids) == 51
    assert all(re.fullmatch("[0-9a-f]{16}", one) for one in ids)
    assert read(PARENT).span_id == trace.span_id
    assert begin("req_2", {}, 1.0).span_id != trace.span_id


@given(hexes(32), hexes(16), hexes(2))
def test_every_valid_parent_is_continued_with_the_flags_that_have_a_meaning(
    trace_id: str, span_id: str, flags: str
) -> None:
    trace = read(f"00-{trace_id}-{span_id}-{flags}", share=0)
    valid = bool(trace_id.strip("0")) and bool(span_id.strip("0"))
    assert is_continued(trace) == valid
    if valid:
        assert trace.sampled == bool(int(flags, 16) & 1)
        assert trace.headers(0)[0][1].endswith(f"-{int(flags, 16) & 3:02x}")


@given(st.one_of(st.text(max_size=70), st.from_regex(r"00-[0-9a-fA-F]{30,34}-[0-9a-f]{14,18}-0[0-9a-g]")))
def test_any_text_is_continued_or_begins_a_trace(text: str) -> None:
    trace = read(text)
    assert re.fullmatch("[0-9a-f]{32}", trace.trace_id)
    assert trace.trace_id.strip("0")
    if is_continued(trace):
        assert trace.trace_id in text
    else:
        assert trace == begin("req_1", {}, 1.0)


@pytest.mark.parametrize(
    "parent",
    [
        "",
        "00",
        f"00-{TRACE}-{SPAN}",
        f"00-{TRACE}-{SPAN}-1",
        f"00-{TRACE}-{SPAN}-001",
        f"00-{TRACE}-{SPAN}-0x",
        f"00-{TRACE}-{SPAN}-01-more",
        f"00-{TRACE}-{SPAN}-01-",
        f"00-{TRACE.upper()}-{SPAN}-01",
        f"00-{TRACE}-{SPAN.upper()}-01",
        f"00-{'0' * 32}-{SPAN}-01",
        f"00-{TRACE}-{'0' * 16}-01",
        f"ff-{TRACE}-{SPAN}-01",
        f"0-{TRACE}-{SPAN}-01",
        f"00-{TRACE[1:]}-{SPAN}-01",
        f"00-{TRACE}-{SPAN[1:]}-01",
        f"00_{TRACE}_{SPAN}_01",
        f"cc-{TRACE}-{SPAN}-01.more",
        f"{PARENT}, {PARENT}",
        f"{PARENT},",
        PARENT.replace("4", "٤"),
    ],
)
def test_a_malformed_parent_is_ignored_and_its_state_too(parent: str) -> None:
    trace = read(parent, "a=1")
    assert not is_continued(trace)
    assert trace.state == ""


@pytest.mark.parametrize("parent", [f"cc-{TRACE}-{SPAN}-01", f"01-{TRACE}-{SPAN}-01-what-comes-later"])
def test_a_later_version_is_read_by_its_known_beginning_and_goes_on_as_ours(parent: str) -> None:
    trace = read(parent)
    assert (trace.trace_id, trace.parent_id) == (TRACE, SPAN)
    assert trace.headers(0)[0][1].startswith("00-")


@pytest.mark.parametrize("around", [f" {PARENT}", f"{PARENT}\t"])
def test_spaces_around_a_header_do_not_count(around: str) -> None:
    assert is_continued(read(around))


@given(st.lists(st.tuples(keys, values), max_size=40))
def test_a_valid_state_goes_on_as_it_is(members: list[tuple[str, str]]) -> None:
    state = ",".join(f"{key}={value}" for key, value in members)
    assert read(PARENT, state).state == (state if len(members) <= 32 and len(state) <= 2048 else "")


@pytest.mark.parametrize(
    ("state", "kept"),
    [
        ("a=1, b=2", "a=1,b=2"),
        ("a=1,,b=2 ,", "a=1,b=2"),
        ("a=1\t,\tb=2", "a=1,b=2"),
        ("0tenant@sys=x", "0tenant@sys=x"),
        ("", ""),
        (",", ""),
        ("a", ""),
        ("=1", ""),
        ("A=1", ""),
        ("a=", ""),
        ("a =1", ""),
        ("a=1=2", ""),
        ("a=\x01", ""),
        ("a=é", ""),
        ("0a=1", ""),
        ("a=" + "x" * 256, "a=" + "x" * 256),
        ("a=" + "x" * 257, ""),
        ("x" * 257 + "=1", ""),
        (",".join(f"k{number}=1" for number in range(32)), ",".join(f"k{number}=1" for number in range(32))),
        (",".join(f"k{number}=1" for number in range(33)), ""),
    ],
)
def test_a_malformed_state_is_dropped_and_the_trace_goes_on(state: str, kept: str) -> None:
    trace = read(PARENT, state)
    assert is_continued(trace)
    assert trace.state == kept


@pytest.mark.parametrize("flags", ["00", "01"])
@pytest.mark.parametrize("share", [0.0, 1.0])
def test_the_caller_decides_whether_its_trace_is_recorded(flags: str, share: float) -> None:
    assert read(f"00-{TRACE}-{SPAN}-{flags}", share=share).sampled == (flags == "01")


@pytest.mark.parametrize("share", [0.0, 0.01, 0.5, 1.0])
def test_of_new_traces_the_share_is_recorded(share: float) -> None:
    recorded = sum(begin(f"req_{number:027x}", {}, share).sampled for number in range(10_000))
    assert abs(recorded / 10_000 - share) < 0.02
    if share in (0.0, 1.0):
        assert recorded == share * 10_000
