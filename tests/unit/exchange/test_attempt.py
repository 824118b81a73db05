"""One call and what becomes of what it pushes, whenever it pushes it."""

import asyncio
from collections.abc import Mapping

import pytest
from tests.unit.exchange.said import DONE, HELLO, ROLE, STOP
from tests.unit.exchange.scene import CUT, Clock, FakeCall, Pipe, channel, turns
from tests.unit.protocols.frames import watcher

from tidegate.core.failure import Failure, Kind
from tidegate.core.protocol import Protocol
from tidegate.engine.actions import AppendError, Complete, Failover
from tidegate.engine.body import Body
from tidegate.engine.relay import Relay, Terms, Wording
from tidegate.engine.signals import Limits, Phase, Progress
from tidegate.exchange.attempt import (
    MAX_REFUSAL,
    REFUSAL_PATIENCE,
    Ended,
    Received,
    Refusal,
    StreamAttempt,
    WholeAttempt,
)
from tidegate.exchange.ports import UpstreamRequest
from tidegate.exchange.tally import Tally

COMMENT = b": c\n"


def judged(status: int, headers: Mapping[str, str], body: bytes) -> Failure:
    return Failure(kind=Kind.UPSTREAM, message=f"{status} {headers.get('a')} {len(body)}")


def test_a_refusal_is_judged_by_all_that_came_of_it() -> None:
    refusal = Refusal(judged)
    assert (refusal.accepted, refusal.told, refusal.is_due(1e9)) == (False, False, False)
    refusal.begin(503, {"a": "x"}, 5)
    assert (refusal.accepted, refusal.told) == (False, True)
    assert not refusal.is_due(5 + REFUSAL_PATIENCE - 0.1)
    assert refusal.is_due(5 + REFUSAL_PATIENCE)
    assert refusal.collect(b"12")
    assert refusal.collect(b"3")
    assert refusal.failure().message == "503 x 3"


def test_so_much_of_a_refusal_is_read() -> None:
    refusal = Refusal(judged)
    refusal.begin(500, {}, 0)
    assert refusal.collect(b"x" * (MAX_REFUSAL - 1))
    assert not refusal.collect(b"x")


@pytest.mark.parametrize(
    ("status", "accepted"), [(199, False), (200, True), (204, True), (299, True), (300, False)]
)
def test_only_2xx_accepts(status: int, accepted: bool) -> None:
    refusal = Refusal(judged)
    refusal.begin(status, {}, 0)
    assert (refusal.accepted, refusal.told) == (accepted, not accepted)
    assert refusal.is_due(1e9) is not accepted


class Streamed:
    """A stream attempt with recorders around it."""

    def __init__(self, phase: Phase = Phase.SILENT, *, wants_usage: bool = False) -> None:
        self.clock = Clock(0)
        self.pipe = Pipe()
        self.tally = Tally()
        self.progress = Progress(accepted_at=0, attempt_at=0, heard_at=0, wrote_at=0, phase=phase)
        terms = Terms(Limits(10, 10, 100, 300), Wording("timed out", "failed"), 1 << 20)
        relay = Relay(
            watcher(Protocol.CHAT, model="m", wants_usage=wants_usage),
            self.progress,
            terms,
            lambda body: body,
        )
        self.attempt = StreamAttempt(
            relay, self.pipe, self.progress, Refusal(judged), COMMENT, self.clock, self.tally, "req_1"
        )
        self.call = FakeCall(channel(), UpstreamRequest("POST", "/", (), b""), self.attempt)
        self.task: asyncio.Task[Ended] = asyncio.get_running_loop().create_task(self.attempt.run(self.call))

    async def ended(self) -> Ended:
        ended = await asyncio.wait_for(self.task, 60)
        assert self.pipe.call is None
        return ended

    def beat(self, now: float) -> None:
        self.clock.now = now
        self.attempt.beat(now)


async def streamed(phase: Phase = Phase.SILENT, *, wants_usage: bool = False) -> Streamed:
    one = Streamed(phase, wants_usage=wants_usage)
    await turns(2)
    return one


async def test_what_is_useful_is_written_at_once_and_the_end_is_written_once() -> None:
    one = await streamed()
    assert one.pipe.call is one.call
    one.call.head()
    one.clock.now = 3
    one.call.body(ROLE)
    assert (one.pipe.written, one.progress.wrote_at) == (b"", 0)
    one.clock.now = 4
    one.call.body(HELLO)
    assert (one.pipe.written, one.progress.wrote_at, one.progress.heard_at) == (ROLE + HELLO, 4, 4)
    one.attempt.on_body(STOP + DONE + HELLO)
    assert one.call.done == ["finish"]
    for push in (one.attempt.on_end, lambda: one.attempt.on_body(HELLO), lambda: one.attempt.on_failure(CUT)):
        push()
    one.beat(1000)
    one.attempt.interrupt(CUT)
    assert one.pipe.written == ROLE + HELLO + STOP + DONE
    assert await one.ended() == Complete()


async def test_a_stream_that_owes_usage_is_left_open() -> None:
    one = await streamed(wants_usage=True)
    one.call.head()
    one.call.body(HELLO + STOP + DONE)
    assert (one.pipe.written, one.pipe.ended) == (HELLO + STOP, False)
    one.beat(1000)
    assert one.pipe.written == HELLO + STOP, "no comment either: the end is near"
    assert await one.ended() == Complete()


async def test_an_error_is_the_last_thing_written() -> None:
    one = await streamed()
    one.call.head()
    one.call.body(HELLO)
    one.call.fail()
    assert one.call.done == ["cancel"]
    assert one.pipe.ended
    one.attempt.on_end()
    one.beat(1000)
    ended = await one.ended()
    assert isinstance(ended, AppendError)
    assert ended.failure == CUT
    assert one.pipe.written.count(b"stream_interrupted") == 1


async def test_a_failure_before_the_first_word_touches_no_pipe() -> None:
    one = await streamed()
    one.call.head()
    one.call.body(ROLE)
    one.call.fail()
    one.beat(1000)
    assert await one.ended() == Failover(CUT)
    assert (one.pipe.status, one.call.done) == (None, ["cancel"])


@pytest.mark.parametrize("how", ["end", "cut", "enough", "patience"])
async def test_a_refusal_counts_however_its_body_ends(how: str) -> None:
    one = await streamed()
    one.call.head(500, a="x")
    one.call.body(b"12")
    match how:
        case "end":
            one.call.end()
        case "cut":
            one.call.fail()
        case "enough":
            one.call.body(b"x" * MAX_REFUSAL)
        case _:
            one.beat(REFUSAL_PATIENCE - 0.1)
            assert not one.call.over
            one.beat(REFUSAL_PATIENCE)
    ended = await one.ended()
    assert isinstance(ended, Failover)
    assert ended.failure.message.startswith("500 x ")
    assert one.call.done == ["cancel"]


async def test_the_gateway_s_own_reason_goes_before_a_refusal_s() -> None:
    one = await streamed()
    one.call.head(500)
    draining = Failure(kind=Kind.DRAINING, message="x")
    one.attempt.interrupt(draining)
    assert await one.ended() == Failover(draining)


async def test_when_it_wants_to_be_looked_at_again() -> None:
    one = await streamed()
    one.beat(1)
    assert one.attempt.wake_at == 6  # the shortest limit later: no deadline can arise before
    one.beat(9.5)
    assert one.attempt.wake_at == 10
    one.beat(10)
    assert (one.pipe.written, one.progress.phase, one.progress.wrote_at) == (COMMENT, Phase.OPENED, 10)
    one.beat(20)
    assert one.pipe.written == COMMENT * 2
    one.call.head()
    one.call.body(HELLO)
    one.beat(30)
    assert (one.pipe.written, one.progress.phase) == (COMMENT * 2 + HELLO + COMMENT, Phase.SPOKEN)
    one.call.fail()
    await one.ended()


async def test_cancelled_it_stops_its_call() -> None:
    one = await streamed()
    one.task.cancel()
    await turns()
    assert one.task.cancelled()
    assert (one.call.done, one.pipe.call) == (["cancel"], None)


async def test_what_comes_between_leaving_and_its_notice_is_not_written() -> None:
    """The client has gone in this turn of the loop; an upstream's bytes came in the same turn."""
    one = await streamed()
    one.call.head()
    one.task.cancel()
    one.attempt.on_body(HELLO)
    one.attempt.on_failure(CUT)
    await turns()
    assert one.task.cancelled()
    assert not one.pipe.ended


class Gathered:
    """An attempt for a whole answer with recorders around it."""

    def __init__(self, idle: float = 60, limit: int = 100) -> None:
        self.clock = Clock(0)
        self.attempt = WholeAttempt(
            Refusal(judged), idle=idle, limit=limit, clock=self.clock, request_id="req_1"
        )
        self.call = FakeCall(channel(), UpstreamRequest("POST", "/", (), b""), self.attempt)
        self.task = asyncio.get_running_loop().create_task(self.attempt.run(self.call))


async def gathered(idle: float = 60, limit: int = 100) -> Gathered:
    one = Gathered(idle, limit)
    await turns(2)
    return one


@pytest.mark.parametrize(
    ("parts", "kind"),
    [
        ([b'{"a":', b"1}"], Body.JSON),
        ([b"\n", b"data: x\n\n"], Body.EVENTS),
        ([b"<html>"], Body.FOREIGN),
        ([], Body.FOREIGN),
        ([b" \n"], Body.FOREIGN),
    ],
)
async def test_a_whole_body_and_what_it_looks_like(parts: list[bytes], kind: Body) -> None:
    one = await gathered()
    one.call.head()
    one.call.body(*parts)
    one.call.end()
    assert await one.task == Received(b"".join(parts), kind)
    assert one.call.done == ["finish"]


@pytest.mark.parametrize("how", ["end", "cut", "enough", "patience"])
async def test_a_refusal_of_a_whole_request_counts_however_its_body_ends(how: str) -> None:
    one = await gathered()
    one.call.head(500, a="x")
    one.call.body(b"12")
    match how:
        case "end":
            one.call.end()
        case "cut":
            one.call.fail()
        case "enough":
            one.call.body(b"x" * MAX_REFUSAL)
        case _:
            one.attempt.beat(REFUSAL_PATIENCE)
    found = await one.task
    assert isinstance(found, Failure)
    assert found.message.startswith("500 x ")
    assert one.call.done == ["cancel"]


async def test_a_cut_answer_is_no_answer() -> None:
    one = await gathered()
    one.call.head()
    one.call.body(b'{"a":1}')
    one.call.fail()
    assert await one.task == CUT


async def test_silence_is_a_time_out_and_every_byte_breaks_it() -> None:
    one = await gathered(idle=60)
    one.attempt.beat(59)
    one.clock.now = 59
    one.call.head()
    one.clock.now = 100
    one.call.body(b"{")
    one.attempt.beat(159)
    assert not one.call.over
    one.attempt.beat(160)
    found = await one.task
    assert isinstance(found, Failure)
    assert found.kind is Kind.TIMEOUT
    endless = await gathered(idle=0)
    endless.attempt.beat(1e9)
    assert not endless.call.over
    endless.attempt.interrupt(CUT)
    endless.attempt.interrupt(CUT)
    assert await endless.task == CUT


async def test_an_answer_is_bounded() -> None:
    one = await gathered(limit=10)
    one.call.head()
    one.call.body(b"x" * 10)
    assert not one.call.over
    one.call.body(b"x")
    assert isinstance(await one.task, Failure)
    assert one.call.done == ["cancel"]


async def test_a_whole_request_that_is_cancelled_stops_its_call() -> None:
    one = await gathered()
    one.task.cancel()
    await turns()
    assert one.call.done == ["cancel"]


async def test_a_fault_of_our_own_in_reading_is_told_with_the_request_and_ends_the_attempt(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    streamed = Streamed()
    told: list[dict[str, object]] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: told.append(context))
    fault = ValueError("odd")

    def stumbles(*_: object) -> bytes:
        raise fault

    monkeypatch.setattr(Relay, "feed", stumbles)
    await asyncio.sleep(0)
    streamed.call.head()
    streamed.call.body(b"data: {}\n\n")
    ended = await streamed.ended()
    assert isinstance(ended, Failover)
    assert (ended.failure.kind, streamed.call.done) == (Kind.UPSTREAM, ["cancel"])
    assert told == [{"message": "an answer could not be read", "exception": fault, "request_id": "req_1"}]
