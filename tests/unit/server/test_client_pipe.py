"""What a pipe puts on the wire, and what it holds back."""

import asyncio
from collections.abc import Callable

import pytest

from tidegate.exchange.ports import Headers
from tidegate.server.client_pipe import Framing, TransportPipe

EVENT = b"data: x\n\n"
STREAM = (
    b"HTTP/1.1 200 OK\r\n"
    b"content-type: text/event-stream; charset=utf-8\r\n"
    b"cache-control: no-cache, no-transform\r\n"
    b"x-accel-buffering: no\r\n"
)


class Wire(asyncio.Transport):
    """Records each write; once gone it raises, as uvloop's does."""

    def __init__(self) -> None:
        super().__init__()
        self.writes: list[bytes] = []
        self.gone = False

    def write(self, data: object) -> None:
        if self.gone:
            raise RuntimeError("the handler is closed")
        assert isinstance(data, bytes)
        self.writes.append(data)

    def is_closing(self) -> bool:
        return self.gone


class FakeCall:
    def __init__(self) -> None:
        self.done: list[str] = []

    def cancel(self) -> None:
        self.done.append("cancel")

    def finish(self) -> None:
        self.done.append("finish")

    def pause(self) -> None:
        self.done.append("pause")

    def resume(self) -> None:
        self.done.append("resume")


def piped(
    framing: Framing = Framing.CHUNKED,
    headers: Headers | None = None,
    *,
    keep_alive: bool = True,
    head_only: bool = False,
) -> tuple[TransportPipe, Wire]:
    wire = Wire()
    told = headers if headers is not None else [("x-request-id", "req_1")]
    return TransportPipe(wire, told, framing=framing, keep_alive=keep_alive, head_only=head_only), wire


def test_head_and_first_events_are_one_write_and_so_is_each_chunk() -> None:
    pipe, wire = piped()
    assert not pipe.begun
    pipe.write(EVENT)
    pipe.write(EVENT * 20)
    pipe.finish(EVENT)
    assert wire.writes == [
        STREAM + b"transfer-encoding: chunked\r\nx-request-id: req_1\r\n\r\n9\r\n" + EVENT + b"\r\n",
        b"b4\r\n" + EVENT * 20 + b"\r\n",
        b"9\r\n" + EVENT + b"\r\n0\r\n\r\n",
    ]
    assert pipe.begun
    assert pipe.ended
    assert pipe.keep_alive


def test_a_stream_may_begin_and_end_at_once_or_end_with_nothing() -> None:
    pipe, wire = piped()
    pipe.finish(EVENT)
    assert wire.writes[0].endswith(b"\r\n\r\n9\r\n" + EVENT + b"\r\n0\r\n\r\n")
    empty, other = piped()
    empty.write(EVENT)
    empty.finish(b"")
    assert other.writes[1:] == [b"0\r\n\r\n"]


def test_http_1_0_gets_no_chunks_and_the_connection_ends_the_body() -> None:
    pipe, wire = piped(Framing.CLOSE)
    pipe.write(EVENT)
    pipe.finish(EVENT)
    assert wire.writes == [STREAM + b"x-request-id: req_1\r\nconnection: close\r\n\r\n" + EVENT, EVENT]
    assert not pipe.keep_alive


def test_a_whole_answer_is_one_write() -> None:
    pipe, wire = piped()
    pipe.answer(429, [("retry-after", "2")], b"{}")
    assert wire.writes == [
        b"HTTP/1.1 429 Too Many Requests\r\nretry-after: 2\r\ncontent-type: application/json\r\n"
        b"content-length: 2\r\nx-request-id: req_1\r\n\r\n{}"
    ]
    assert pipe.keep_alive


def test_a_whole_answer_to_http_1_0_has_a_length_and_closes() -> None:
    pipe, wire = piped(Framing.CLOSE)
    pipe.answer(200, [], b"{}")
    assert b"content-length: 2\r\n" in wire.writes[0]
    assert b"connection: close\r\n" in wire.writes[0]
    assert not pipe.keep_alive


def test_head_gets_no_body_but_its_length() -> None:
    pipe, wire = piped(head_only=True)
    pipe.answer(405, [("allow", "POST")], b"{}")
    [head] = wire.writes
    assert head.endswith(b"\r\n\r\n")
    assert b"content-length: 2\r\n" in head


def test_statuses_without_a_name_have_one_too() -> None:
    pipe, wire = piped()
    pipe.answer(529, [], b"")
    assert wire.writes[0].startswith(b"HTTP/1.1 529 Unknown\r\n")


def test_nothing_follows_an_end() -> None:
    pipe, wire = piped()
    pipe.finish(EVENT)
    pipe.write(EVENT)
    pipe.finish(EVENT)
    pipe.answer(500, [], b"{}")
    assert len(wire.writes) == 1
    other, written = piped()
    other.answer(200, [], b"{}")
    other.write(EVENT)
    other.finish(EVENT)
    assert len(written.writes) == 1


def test_a_stream_that_has_begun_gets_no_second_head() -> None:
    pipe, wire = piped()
    pipe.write(EVENT)
    pipe.answer(500, [], b"{}")
    assert len(wire.writes) == 1
    assert not pipe.keep_alive, "it has not ended"


def test_a_client_that_has_just_gone_is_no_fault() -> None:
    pipe, wire = piped()
    pipe.write(EVENT)
    wire.gone = True
    pipe.write(EVENT)
    pipe.finish(EVENT)
    assert not pipe.keep_alive
    early, other = piped()
    other.gone = True
    early.write(EVENT)
    early.answer(200, [], b"{}")
    early.finish(b"")
    assert (len(wire.writes), other.writes) == (1, [])


@pytest.mark.parametrize("body_ended", [True, False])
def test_an_unread_body_closes_the_connection(body_ended: bool) -> None:
    pipe, wire = piped()
    pipe.close_after_unread(body_ended=body_ended)
    pipe.answer(413, [], b"{}")
    assert pipe.keep_alive is body_ended
    assert (b"connection: close" in wire.writes[0]) is not body_ended
    closing, _ = piped(keep_alive=False)
    closing.close_after_unread(body_ended=True)
    closing.answer(413, [], b"{}")
    assert not closing.keep_alive


def test_a_client_that_is_behind_holds_the_call() -> None:
    pipe, _ = piped()
    call = FakeCall()
    pipe.pause()
    assert pipe.paused
    pipe.attach(call)
    pipe.resume()
    pipe.pause()
    assert call.done == ["pause", "resume", "pause"]
    pipe.attach(None)
    pipe.resume()
    pipe.pause()
    pipe.resume()
    assert call.done == ["pause", "resume", "pause"], "a call that is over is left alone"
    other = FakeCall()
    pipe.attach(other)
    assert other.done == []


def test_headers_that_no_wire_can_carry_are_made_safe() -> None:
    pipe, wire = piped(headers=[("access-control-allow-origin", "https://\u2603\udcff.example")])
    pipe.answer(200, [], b"")
    assert b"access-control-allow-origin: https://??.example\r\n" in wire.writes[0]


def test_warnings_stand_in_the_head_as_far_as_they_are_known_then() -> None:
    pipe, wire = piped(headers=[("x-request-id", "req_1")])
    pipe.warn("dropped:a")
    pipe.warn("dropped:b, clamped:c")
    pipe.write(EVENT)
    pipe.warn("dropped:late")
    pipe.finish(b"")
    head, _, _ = wire.writes[0].partition(b"\r\n\r\n")
    assert b"x-request-id: req_1\r\nx-tidegate-warnings: dropped:b, clamped:c" in head
    assert b"late" not in b"".join(wire.writes)


def test_warnings_stand_beside_a_whole_answer_and_go_when_they_hold_no_more() -> None:
    pipe, wire = piped()
    pipe.warn("dropped:a")
    pipe.answer(200, [], b"{}")
    assert b"\r\nx-tidegate-warnings: dropped:a\r\n" in wire.writes[0]
    other, bare = piped()
    other.warn("dropped:a")
    other.warn(None)
    other.answer(200, [], b"{}")
    assert b"x-tidegate-warnings" not in bare.writes[0]


def test_more_headers_stand_in_the_head_of_whatever_answer_comes() -> None:
    beginnings: list[Callable[[TransportPipe], None]] = [
        lambda pipe: pipe.write(EVENT),
        lambda pipe: pipe.finish(EVENT),
        lambda pipe: pipe.answer(200, [], b"{}"),
        lambda pipe: pipe.answer(429, [("retry-after", "2")], b"{}"),
    ]
    for begin in beginnings:
        pipe, wire = piped(headers=[("x-request-id", "req_1")])
        pipe.add_headers([("x-ratelimit-limit-requests", "10")])
        pipe.add_headers([("x-ratelimit-limit-tokens", "20"), ("x-ratelimit-remaining-tokens", "5")])
        begin(pipe)
        head, _, _ = wire.writes[0].partition(b"\r\n\r\n")
        assert (
            b"x-request-id: req_1\r\nx-ratelimit-limit-requests: 10\r\n"
            b"x-ratelimit-limit-tokens: 20\r\nx-ratelimit-remaining-tokens: 5"
        ) in head


def test_headers_that_come_after_the_head_are_too_late() -> None:
    pipe, wire = piped()
    pipe.write(EVENT)
    pipe.add_headers([("x-late", "1")])
    pipe.finish(EVENT)
    assert b"x-late" not in b"".join(wire.writes)


def test_headers_of_one_answer_are_not_those_of_the_next() -> None:
    told: Headers = [("x-request-id", "req_1")]
    first, _ = piped(headers=told)
    first.add_headers([("x-ratelimit-limit-requests", "10")])
    second, wire = piped(headers=told)
    second.answer(200, [], b"{}")
    assert b"x-ratelimit" not in wire.writes[0]
