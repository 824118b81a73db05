"""Faults that are put into the gateway on purpose: the simulation finds each, so it is able to fail."""

from collections.abc import Callable
from typing import Any

import pytest
from msgspec import structs
from tests.simulation.disk import Disk
from tests.simulation.limits import PlayedLimits
from tests.simulation.run import Broken, play
from tests.simulation.storage import PlayedStorage
from tests.simulation.upstream import PlayedCall

from tidegate.core.failure import Failure
from tidegate.core.usage import Usage
from tidegate.engine import relay
from tidegate.engine.actions import Action, AppendError, Complete, Failover, Keepalive, Wait
from tidegate.engine.decide import decide
from tidegate.engine.relay import Relay
from tidegate.exchange import checkpoints
from tidegate.exchange.attempt import StreamAttempt
from tidegate.exchange.heartbeat import Heartbeat
from tidegate.exchange.lifecycle import Exchange
from tidegate.exchange.ports import Intent, RequestRecord
from tidegate.exchange.prepared import Preparer
from tidegate.exchange.settlement import Settlement
from tidegate.exchange.story import NOTHING, Story, Told
from tidegate.exchange.streaming import Stream
from tidegate.exchange.tries import Tries
from tidegate.ledger.entries import Granted
from tidegate.protocols.chat.stream import ChatWatcher
from tidegate.routing.breaker import Health

Plant = Callable[[pytest.MonkeyPatch], None]
SEEDS = 2_000


def an_event_after_an_error(patch: pytest.MonkeyPatch) -> None:
    end = StreamAttempt._end

    def faulty(self: StreamAttempt, ended: Any, out: bytes) -> None:
        end(self, ended, out + out if isinstance(ended, AppendError) else out)

    patch.setattr(StreamAttempt, "_end", faulty)


def bytes_after_the_end(patch: pytest.MonkeyPatch) -> None:
    ended = Settlement.stream_ended

    def faulty(self: Settlement, stream: Stream, how: Any) -> None:
        stream.pipe.write(b": bye\n")
        ended(self, stream, how)

    patch.setattr(Settlement, "stream_ended", faulty)


def two_answers_glued(patch: pytest.MonkeyPatch) -> None:
    def faulty(*values: Any) -> Action:
        action = decide(*values)
        return Failover(action.failure) if isinstance(action, AppendError) else action

    patch.setattr(relay, "decide", faulty)


def the_opening_of_an_abandoned_attempt(patch: pytest.MonkeyPatch) -> None:
    def faulty(self: Relay, frame: Any, out: list[bytes]) -> None:
        out.append(self.watcher.outgoing(frame))

    patch.setattr(Relay, "_pass", faulty)


def a_cut_passes_for_an_end(patch: pytest.MonkeyPatch) -> None:
    def faulty(self: Relay, now: float) -> bytes:
        self.ended = Complete()
        return b""

    patch.setattr(Relay, "_closed", faulty)


def a_row_is_missing(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Settlement, "stream_left", lambda self, stream: None)


def a_row_is_written_twice(patch: pytest.MonkeyPatch) -> None:
    refused = Settlement.refused

    def faulty(self: Settlement, *values: Any) -> None:
        refused(self, *values)
        refused(self, *values)

    patch.setattr(Settlement, "refused", faulty)


def a_row_tells_another_end(patch: pytest.MonkeyPatch) -> None:
    ended = Settlement.stream_ended

    def faulty(self: Settlement, stream: Stream, how: Any) -> None:
        ended(self, stream, Complete() if isinstance(how, AppendError) else how)

    patch.setattr(Settlement, "stream_ended", faulty)


def an_upstream_goes_on_for_nobody(patch: pytest.MonkeyPatch) -> None:
    async def faulty(self: StreamAttempt, call: Any) -> Any:
        self._call = call
        self._pipe.attach(call)
        try:
            return await self._future
        finally:
            self._pipe.attach(None)

    patch.setattr(StreamAttempt, "run", faulty)


def an_open_stream_is_silent(patch: pytest.MonkeyPatch) -> None:
    def faulty(*values: Any) -> Action:
        action = decide(*values)
        return Wait(until=values[2] + 5) if isinstance(action, Keepalive) else action

    patch.setattr(relay, "decide", faulty)


def a_failed_attempt_is_never_told(patch: pytest.MonkeyPatch) -> None:
    end = StreamAttempt._end

    def faulty(self: StreamAttempt, ended: Any, out: bytes) -> None:
        if not isinstance(ended, Failover):
            end(self, ended, out)

    patch.setattr(StreamAttempt, "_end", faulty)


def a_client_that_has_caught_up_hears_no_more(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(PlayedCall, "resume", lambda self: None)


def a_turn_is_not_handed_back(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Health, "released", lambda self, turn, now: None)


def an_attempt_is_not_noted(patch: pytest.MonkeyPatch) -> None:
    tries = Tries._noted

    async def faulty(self: Tries, prepared: Any, reason: str, *, may_repair: bool) -> Any:
        told = await tries(self, prepared, reason, may_repair=may_repair)
        if len(self.story.attempts) > 1:
            self.story.attempts.pop(0)
        return told

    patch.setattr(Tries, "_noted", faulty)


def words_get_lost(patch: pytest.MonkeyPatch) -> None:
    outgoing = ChatWatcher.outgoing

    def faulty(self: ChatWatcher, frame: Any) -> bytes:
        return b"" if b"w1" in frame.data else outgoing(self, frame)

    patch.setattr(ChatWatcher, "outgoing", faulty)


def output_is_not_counted(patch: pytest.MonkeyPatch) -> None:
    close = Settlement.close

    def faulty(self: Settlement, story: Story, told: Told = NOTHING, *values: Any, **named: Any) -> None:
        if story.outcome == "interrupted":
            told = structs.replace(told, usage=structs.replace(told.usage, output=0))
        close(self, story, told, *values, **named)

    patch.setattr(Settlement, "close", faulty)


def a_call_before_its_hold(patch: pytest.MonkeyPatch) -> None:
    async def faulty(self: PlayedStorage, intent: Intent) -> Granted:
        self._put(intent)
        return Granted(intent.amount)

    patch.setattr(PlayedStorage, "hold", faulty)


def no_lower_limit(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Preparer, "limit_output", lambda self, limit: None)


def a_failed_request_is_charged(patch: pytest.MonkeyPatch) -> None:
    refused = Settlement.close

    def faulty(self: Settlement, story: Story, told: Told = NOTHING, *values: Any, **named: Any) -> None:
        if story.outcome == "failed" and story.attempts:
            told = Told(usage=Usage(input=1, output=1), source="estimated")
        refused(self, story, told, *values, **named)

    patch.setattr(Settlement, "close", faulty)


def an_interrupted_answer_is_free(patch: pytest.MonkeyPatch) -> None:
    record = Story.record

    def faulty(self: Story, *values: Any) -> RequestRecord:
        made = record(self, *values)
        return structs.replace(made, cost=0) if made.outcome == "interrupted" else made

    patch.setattr(Story, "record", faulty)


def who_leaves_pays_nothing(patch: pytest.MonkeyPatch) -> None:
    left = Settlement.stream_left

    def faulty(self: Settlement, stream: Stream) -> None:
        stream.request.story.outcome = "client_closed"
        self.close(stream.request.story) if stream.accepted else left(self, stream)

    patch.setattr(Settlement, "stream_left", faulty)


def the_place_in_the_limits_is_kept(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(PlayedLimits, "finish", lambda *values: None)


def no_checkpoints(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(PlayedStorage, "checkpoint", lambda self, records: None)


def late_checkpoints(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(checkpoints, "PERIOD", 2.5)


def recovery_forgets(patch: pytest.MonkeyPatch) -> None:
    def faulty(self: Disk, now: float) -> list[RequestRecord]:
        self.intents.clear()
        return []

    patch.setattr(Disk, "left", faulty)


def a_row_does_not_guard_its_settlement(patch: pytest.MonkeyPatch) -> None:
    def faulty(self: Disk, record: RequestRecord, now: float) -> None:
        self.books.settled.pop(record.id, None)
        self.rows.setdefault(record.id, record)
        self.intents.pop(record.id, None)
        if record.account is not None:
            self.books.settle(record.id, record.account, record.key, record.cost, now)

    patch.setattr(Disk, "_settle", faulty)


def whoever_leaves_while_held_has_no_row(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Exchange, "_left", lambda self, story: None)


def calls_begin_after_a_drain(patch: pytest.MonkeyPatch) -> None:
    def faulty(self: Heartbeat, failure: Failure) -> None:
        for call in self.open_calls():
            call.interrupt(failure)

    patch.setattr(Heartbeat, "stop", faulty)


PLANTS: dict[Plant, str] = {
    an_event_after_an_error: "errors",
    bytes_after_the_end: "after the end",
    two_answers_glued: ".",
    the_opening_of_an_abandoned_attempt: ".",
    a_cut_passes_for_an_end: ".",
    a_row_is_missing: "0 rows|places are taken",
    a_row_is_written_twice: "2 rows|a place that it does not have",
    a_row_tells_another_end: ".",
    an_upstream_goes_on_for_nobody: "still open|left open",
    an_open_stream_is_silent: "silence",
    a_failed_attempt_is_never_told: "time is up",
    a_client_that_has_caught_up_hears_no_more: "good and in time",
    a_turn_is_not_handed_back: "probe|turns",
    an_attempt_is_not_noted: ".",
    words_get_lost: ".",
    output_is_not_counted: "tokens are told",
    a_call_before_its_hold: "before the hold",
    no_lower_limit: "not covered",
    a_failed_request_is_charged: ".",
    an_interrupted_answer_is_free: ".",
    who_leaves_pays_nothing: ".",
    the_place_in_the_limits_is_kept: "places are taken",
    no_checkpoints: "heard in time",
    late_checkpoints: "heard in time",
    recovery_forgets: "there is no row|is held|held",
    a_row_does_not_guard_its_settlement: "charged",
    calls_begin_after_a_drain: "after the end of the drain",
    whoever_leaves_while_held_has_no_row: "0 rows",
}


@pytest.mark.parametrize("plant", PLANTS, ids=lambda plant: plant.__name__)
def test_a_planted_fault_is_found(plant: Plant, monkeypatch: pytest.MonkeyPatch) -> None:
    plant(monkeypatch)
    with pytest.raises(Broken, match=PLANTS[plant]) as found:
        for seed in range(1, SEEDS):
            play(seed)
    seed = int(str(found.value).split()[1].rstrip(":"))
    with pytest.raises(Broken) as again:
        play(seed)
    assert again.value.trace.lines() == found.value.trace.lines()
