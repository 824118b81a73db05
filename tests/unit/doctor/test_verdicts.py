import json
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.unit.doctor.recordings import heard
from tests.unit.doctor.streams import CASES, good, wire

from tidegate.core.protocol import Protocol
from tidegate.doctor.expectation import Expectation
from tidegate.doctor.findings import Finding
from tidegate.doctor.probes import Probe, Refused, Streamed, Wanted, Whole
from tidegate.doctor.recording import Close, Piece, Recording
from tidegate.doctor.verdicts import examined, says_all

ODD = sorted((CASES.parent / "odd-streams").glob("*.sse"))
TEXT = wire(Protocol.CHAT, good(Protocol.CHAT, "text"))
JSON = (("content-type", "application/json"),)
REFUSAL = b'{"error":{"message":"a","type":"b","param":null,"code":null}}'


def findings(recording: Recording, wanted: Wanted, protocol: Protocol = Protocol.CHAT) -> tuple[Finding, ...]:
    return examined(protocol, Probe(name="x", path="/", body=b"", wanted=wanted), recording).findings


def rules(recording: Recording, wanted: Wanted) -> list[str]:
    return [finding.rule for finding in findings(recording, wanted)]


STREAMED, WHOLE = Streamed(Expectation()), Whole(Expectation())
TOOL = Streamed(Expectation(tool="get_weather"))


@pytest.mark.parametrize(
    ("recording", "wanted", "expected"),
    [
        (heard(TEXT), STREAMED, []),
        (heard(TEXT, close=Close.BROKEN), STREAMED, ["connection"]),
        (Recording(head=None, close=Close.UNREACHED, trouble="refused"), STREAMED, ["unreachable"]),
        (heard(TEXT[:-40], close=Close.BROKEN), STREAMED, ["connection", "end-mark", "usage-missing"]),
        (heard(TEXT[:-200], close=Close.TOO_LATE), STREAMED, ["stalled"]),
        (heard(b"", close=Close.TOO_LATE), STREAMED, ["stalled"]),
        (heard(b"", headers=JSON), STREAMED, ["content-type", "cache-control", "body-form"]),
        (heard(REFUSAL, status=429, headers=JSON), STREAMED, ["status"]),
        (heard(REFUSAL.replace(b'"a"', b'"no tools"'), status=400, headers=JSON), TOOL, ["tool-refused"]),
        (heard(REFUSAL, status=400, headers=JSON), TOOL, ["status"]),
        (heard(REFUSAL, status=403, headers=JSON), WHOLE, ["credential"]),
        (heard(b"busy", status=429), WHOLE, ["status", "error-body"]),
        (heard(TEXT), WHOLE, ["content-type", "body-form"]),
        (heard(b"{", close=Close.BROKEN), WHOLE, ["connection"]),
        (heard(REFUSAL, status=401, headers=JSON), Refused(401), []),
        (heard(REFUSAL, status=500, headers=JSON), Refused(401), ["error-status"]),
        (heard(b"", status=401, close=Close.TOO_LATE), Refused(401), ["stalled"]),
    ],
)
def test_what_is_found_depends_on_what_was_wanted(
    recording: Recording, wanted: Wanted, expected: list[str]
) -> None:
    assert rules(recording, wanted) == expected


@pytest.mark.parametrize(
    ("recording", "wanted", "first", "expected"),
    [
        (heard(TEXT), STREAMED, True, False),
        (Recording(head=None, close=Close.UNREACHED), STREAMED, False, True),
        (Recording(head=None, close=Close.TOO_LATE), STREAMED, True, True),
        (Recording(head=None, close=Close.TOO_LATE), STREAMED, False, False),
        (heard(b"", close=Close.TOO_LATE), STREAMED, True, False),
        (heard(REFUSAL, status=401), STREAMED, False, True),
        (heard(REFUSAL, status=401), Refused(401), False, False),
        (heard(REFUSAL, status=404), WHOLE, True, True),
        (heard(REFUSAL, status=404), TOOL, False, False),
        (heard(REFUSAL, status=500), STREAMED, True, False),
    ],
)
def test_what_all_others_would_come_to_is_not_asked_again(
    recording: Recording, wanted: Wanted, first: bool, expected: bool
) -> None:
    probe = Probe(name="x", path="/", body=b"", wanted=wanted)
    assert says_all(probe, recording, first=first) is expected


def test_it_is_told_where_a_redirection_leads() -> None:
    recording = heard(b"", status=302, headers=(("location", "https://elsewhere.example/v1"),))
    assert "https://elsewhere.example/v1" in findings(recording, STREAMED)[0].message


@pytest.mark.parametrize(
    ("limit", "stop", "expected"),
    [(12, "stop", ["limit-finish"]), (12, "length", []), (16, "stop", []), (2, "length", ["limit-ignored"])],
)
def test_a_limit_is_kept_and_told(limit: int, stop: str, expected: list[str]) -> None:
    body = TEXT.replace(b'"finish_reason": "stop"', f'"finish_reason": "{stop}"'.encode())
    assert rules(heard(body), Streamed(Expectation(limit=limit))) == expected


def silent(protocol: Protocol, *stops: str) -> bytes:
    """A good answer whose text has got lost."""
    kept = [
        event
        for event in good(protocol, "text")
        if "delta" not in str(event) or any(stop in str(event) for stop in stops)
    ]
    return wire(protocol, kept)


def test_an_answer_without_output_is_told() -> None:
    body = silent(Protocol.MESSAGES, "end_turn")
    told = [finding.rule for finding in findings(heard(body), STREAMED, Protocol.MESSAGES)]
    assert told == ["empty-answer"]
    refused = body.replace(b"end_turn", b"refusal")
    assert findings(heard(refused), STREAMED, Protocol.MESSAGES) == ()


@pytest.mark.parametrize("protocol", Protocol)
def test_a_whole_answer_without_output_is_told(protocol: Protocol) -> None:
    body = json.loads((CASES / "text" / f"{protocol.value}.json").read_text(encoding="utf-8"))
    assert findings(heard(json.dumps(body).encode(), headers=JSON), WHOLE, protocol) == ()
    match protocol:
        case Protocol.CHAT:
            body["choices"][0]["message"]["content"] = None
        case Protocol.RESPONSES:
            body["output"] = []
        case Protocol.MESSAGES:
            body["content"] = []
    told = findings(heard(json.dumps(body).encode(), headers=JSON), WHOLE, protocol)
    assert [finding.rule for finding in told] == ["empty-answer"]


@pytest.mark.parametrize("body", [b"data: {}\n\n" * 20_001, b": comment\n" * 200_001 + TEXT])
def test_what_is_too_much_is_not_read_to_its_end(body: bytes) -> None:
    assert "too-large" in rules(heard(body), STREAMED)
    assert "end-mark" not in rules(heard(body), STREAMED)


def test_the_figures_are_those_of_the_recording() -> None:
    report = examined(
        Protocol.CHAT, Probe(name="x", path="/", body=b"", wanted=STREAMED), heard(TEXT, size=100)
    )
    assert (report.status, report.events, report.ok) == (200, 7, True)
    assert report.first_byte_ms == pytest.approx(100.0)
    assert report.first_event_ms == pytest.approx(120.0)
    assert report.total_ms > 120.0


@pytest.mark.parametrize("path", ODD, ids=lambda path: path.stem)
@given(cuts=st.lists(st.integers(min_value=0, max_value=5_000), max_size=40))
def test_any_chunking_gives_the_same_findings(path: Path, cuts: list[int]) -> None:
    protocol, body = Protocol(path.stem.partition("-")[0]), path.read_bytes()
    places = [0, *sorted(cut for cut in set(cuts) if 0 < cut < len(body)), len(body)]
    pieces = tuple(Piece(0.1, body[start:stop]) for start, stop in pairwise(places))
    whole = heard(body)
    cut = Recording(head=whole.head, pieces=pieces, ended_at=0.1)
    assert findings(cut, STREAMED, protocol) == findings(whole, STREAMED, protocol)


@given(body=st.binary(max_size=400), status=st.sampled_from([200, 401, 500]))
@pytest.mark.parametrize("protocol", Protocol)
def test_no_bytes_are_too_odd_to_be_examined(protocol: Protocol, body: bytes, status: int) -> None:
    for wanted in (STREAMED, WHOLE, Refused(401)):
        findings(heard(body, status=status), wanted, protocol)


JUNK = st.recursive(
    st.none() | st.booleans() | st.integers() | st.sampled_from(["", "a", "error", "message_start"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    *(
                        "type",
                        "error",
                        "choices",
                        "delta",
                        "index",
                        "message",
                        "usage",
                        "content_block",
                        "item",
                    ),
                    *("response", "output", "output_index", "tool_calls", "function", "arguments", "part"),
                ]
            ),
            inner,
            max_size=6,
        )
    ),
    max_leaves=12,
)
KINDS = st.sampled_from(
    [
        *("message_start", "content_block_start", "content_block_delta", "content_block_stop"),
        *("message_delta", "response.created", "response.output_item.added", "response.output_item.done"),
        *("response.content_part.added", "response.content_part.done", "response.output_text.delta"),
        *(
            "response.output_text.done",
            "response.function_call_arguments.done",
            "response.completed",
            "error",
        ),
    ]
)


JUNK_EVENTS = st.lists(
    st.tuples(KINDS, st.dictionaries(st.text(max_size=3), JUNK, max_size=2), JUNK), max_size=6
)


@settings(suppress_health_check=[HealthCheck.too_slow])  # a busy machine
@given(events=JUNK_EVENTS)
@pytest.mark.parametrize("protocol", Protocol)
def test_no_members_are_too_odd_to_be_examined(
    protocol: Protocol, events: list[tuple[str, dict[str, object], object]]
) -> None:
    told = [
        {**more, **(junk if isinstance(junk, dict) else {"choices": junk}), "type": kind}
        for kind, more, junk in events
    ]
    findings(heard(wire(protocol, told)), STREAMED, protocol)
