import gzip
import json
from itertools import pairwise

import pytest

from tidegate.core.protocol import Protocol
from tidegate.simulator.parameters import Ending
from tidegate.simulator.script import Body, Breathe, Close, Cut, Open, Raw, Say, Stall, Wait

from .reading import asked, body, events, head, raw

CHAT = Protocol.CHAT


def header(step: Open, name: str) -> str | None:
    return dict(step.headers).get(name)


def test_the_head_of_a_stream_and_of_a_whole_answer() -> None:
    stream, at_once = head(asked(CHAT)), head(asked(CHAT, stream=False))
    assert (stream.status, stream.body) == (200, Body.CHUNKED)
    assert header(stream, "content-type") == "text/event-stream; charset=utf-8"
    assert header(stream, "content-encoding") is None
    assert (at_once.body, header(at_once, "content-type")) == (Body.LENGTH, "application/json")
    assert header(at_once, "x-request-id") == header(at_once, "request-id") == "req_sim1"


@pytest.mark.parametrize("protocol", list(Protocol))
@pytest.mark.parametrize("stream", [True, False])
def test_a_refusal_has_its_status_and_headers(protocol: Protocol, stream: bool) -> None:
    steps = asked(
        protocol, "sim;status=429;retry_after=7;retry_after_ms=7000;should_retry=false", stream=stream
    )
    opened = head(steps)
    assert opened.status == 429
    assert (header(opened, "retry-after"), header(opened, "retry-after-ms")) == ("7", "7000")
    assert header(opened, "x-should-retry") == "false"
    assert json.loads(body(steps))["error"]["type"] == "rate_limit_error"


def test_a_redirect_says_where_to() -> None:
    assert header(head(asked(CHAT, "sim;status=302")), "location") == "/elsewhere"


def test_an_error_without_a_stream_is_a_status() -> None:
    assert head(asked(Protocol.MESSAGES, "sim;error=overloaded", stream=False)).status == 529
    assert head(asked(Protocol.MESSAGES, "sim;error=overloaded")).status == 200
    own = asked(CHAT, "sim;error=quota;status=403;message=no%3B")
    assert head(own).status == 403
    assert json.loads(body(own))["error"]["message"] == "no;"


def test_a_member_can_be_refused_by_name() -> None:
    told = asked(CHAT, "sim;refuse=stream_options", stream_options={"include_usage": True})
    error = json.loads(body(told))["error"]
    assert (head(told).status, error["code"], error["param"]) == (
        400,
        "unsupported_parameter",
        "stream_options",
    )
    assert head(asked(CHAT, "sim;refuse=stream_options")).status == 200


@pytest.mark.parametrize(("carrier", "status"), [("sim_1", 200), ("other", 400)])
def test_reasoning_of_others_can_be_refused(carrier: str, status: int) -> None:
    item = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": carrier}
    given = [item, {"role": "user", "content": "x"}]
    assert head(asked(Protocol.RESPONSES, "sim;check_reasoning", input=given)).status == status


def test_bodies_that_are_not_what_was_promised() -> None:
    assert body(asked(CHAT, "sim;html")).startswith(b"<!doctype html>")
    assert body(asked(CHAT, "sim;empty")) == b""
    assert body(asked(CHAT, "sim;empty=done")) == b"data: [DONE]\n\n"
    assert events(body(asked(CHAT, "sim;empty=comments"))) == []
    assert json.loads(body(asked(CHAT, "sim;json")))["object"] == "chat.completion"
    assert events(body(asked(CHAT, "sim;sse", stream=False)))[-1] == (None, "[DONE]")


def test_content_types_that_are_wrong_or_missing() -> None:
    assert header(head(asked(CHAT, "sim;wrong_type")), "content-type") == "text/plain"
    assert header(head(asked(CHAT, "sim;wrong_type=none")), "content-type") is None


def test_faults_of_the_head() -> None:
    opened = head(asked(CHAT, "sim;headers=3;header_size=50;trailers;close"))
    assert [name for name, _ in opened.headers if name.startswith("x-simulated-")] == [
        "x-simulated-size",
        "x-simulated-0",
        "x-simulated-1",
        "x-simulated-2",
    ]
    assert (header(opened, "x-simulated-size"), header(opened, "connection")) == ("x" * 50, "close")
    old = head(asked(CHAT, "sim;http10"))
    assert (old.version, old.body) == ("1.0", Body.CLOSE)


def test_no_answer_at_all() -> None:
    assert asked(CHAT, "sim;drop;head_delay=2s") == [Wait(2.0), Cut(Ending.TRUNCATE)]
    assert asked(CHAT, "sim;drop=clean") == [Cut(Ending.TRUNCATE)]
    assert asked(CHAT, "sim;drop=reset") == [Cut(Ending.RESET)]
    assert asked(CHAT, "sim;not_http") == [Raw(b"SSH-2.0-Simulated_1.0\r\n"), Cut(Ending.TRUNCATE)]


def test_more_answers_than_one() -> None:
    (interim,) = raw(asked(CHAT, "sim;interim"))
    assert interim.startswith(b"HTTP/1.1 103 ")
    assert isinstance(asked(CHAT, "sim;twice")[-1], Raw)


def test_the_connection_closes_told_or_not() -> None:
    assert asked(CHAT, "sim;close_silently", stream=False)[-1] == Close(connection=True)
    assert header(head(asked(CHAT, "sim;close_silently")), "connection") is None


def test_a_split_leaves_byte_by_byte_and_loses_none() -> None:
    steps = asked(CHAT, "sim;split")
    says = [step for step in steps if isinstance(step, Say)]
    assert {len(step.data) for step in says} == {1}
    assert [e["choices"][0]["delta"] for _, e in events(body(steps))[:-1]] == [
        e["choices"][0]["delta"] for _, e in events(body(asked(CHAT)))[:-1]
    ]
    assert all(isinstance(b, Breathe) for a, b in pairwise(steps) if isinstance(a, Say))


def test_a_compressed_body_says_so_and_is_whole() -> None:
    steps = asked(CHAT, "sim;gzip", stream=False)
    assert header(head(steps), "content-encoding") == "gzip"
    assert head(steps).body is Body.CHUNKED
    assert json.loads(gzip.decompress(body(steps)))["object"] == "chat.completion"


def test_a_whole_answer_takes_the_time_of_its_stream() -> None:
    steps = asked(CHAT, "sim;ttft=2s;rate=2;words=5", stream=False)
    assert steps[0] == Wait(4.0)


def test_a_whole_answer_can_break_in_the_middle() -> None:
    full = body(asked(CHAT, stream=False))
    cut = asked(CHAT, "sim;cut_after=1;cut=reset", stream=False)
    assert cut[-1] == Cut(Ending.RESET)
    assert len(body(cut)) < len(full)
    assert int(header(head(cut), "content-length") or 0) > len(body(cut))
    assert Stall() in asked(CHAT, "sim;stall_after=1", stream=False)
    garbled = asked(CHAT, "sim;garble_after=1", stream=False)
    assert header(head(garbled), "content-length") == str(len(body(garbled)))
    with pytest.raises(json.JSONDecodeError):
        json.loads(body(garbled))
