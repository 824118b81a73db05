"""Stories of one attempt: what comes from upstream, and what is written at each moment."""

import pytest

from tidegate.core.failure import Failure, Kind
from tidegate.core.sse import MAX_LINES, Frame
from tidegate.core.usage import Usage
from tidegate.engine.actions import Action, AppendError, Complete, Failover, Keepalive, Open, Refuse, Wait
from tidegate.engine.relay import MAX_PREAMBLE, Relay, Terms, Wording
from tidegate.engine.signals import Limits, Phase, Progress
from tidegate.protocols.base import NO_IMPRINT, Said

LIMITS = Limits(commit_after=10, keepalive=10, first_event=100, idle=300)
MAX_EVENT = 4 * MAX_PREAMBLE
CUT = Failure(kind=Kind.UPSTREAM, message="cut")
OWN = Failure(kind=Kind.INVALID_REQUEST, message="no", status=400)
REPORTED = Failure(kind=Kind.OVERLOADED, message="busy")


class Reader:
    """Takes each event to mean what its data says: `output`, `noise` …"""

    usage: Usage | None = None
    finish_reason: str | None = None
    failure: Failure | None = None
    ids: list[str]
    imprint = NO_IMPRINT
    incomplete = False
    owes_usage = False
    may_end = False

    def read(self, frame: Frame) -> Said:
        said = Said(frame.data.partition(b" ")[0].decode())
        if said in (Said.ERROR, Said.BROKEN, Said.SPOILT):
            self.failure = REPORTED
        if said in (Said.FINISH, Said.OPENING):
            self.may_end = said is Said.FINISH
        return said

    def outgoing(self, frame: Frame) -> bytes:
        return b"" if frame.data.startswith(b"progress") else frame.raw

    def text(self, start: int = 0) -> str:
        return ""[start:]

    @property
    def spoken(self) -> int:
        return 0

    def error_event(self, failure: Failure) -> bytes:
        return f"<{failure.kind.value}: {failure.message}>".encode()

    def closing(self, estimate: Usage | None) -> bytes:
        return b""


def event(said: Said, more: bytes = b"") -> bytes:
    return b"data: " + said.value.encode() + more + b"\n\n"


OUTPUT, NOISE, OPENING = event(Said.OUTPUT), event(Said.NOISE), event(Said.OPENING)
REASONING, FINISH, END = event(Said.REASONING), event(Said.FINISH), event(Said.END)
PROGRESS = event(Said.PROGRESS)
ERROR, BROKEN, DROPPED = event(Said.ERROR), event(Said.BROKEN), event(Said.DROPPED)


def relay(phase: Phase = Phase.SILENT, replay: bytes | Failure = b"") -> tuple[Relay, Progress]:
    progress = Progress(accepted_at=0, attempt_at=0, heard_at=0, wrote_at=0, phase=phase)
    terms = Terms(LIMITS, Wording("timed out", "failed"), MAX_EVENT)
    return Relay(Reader(), progress, terms, lambda _: replay), progress


def test_a_preamble_is_held_until_the_first_word_and_released_in_order() -> None:
    one, progress = relay()
    assert one.feed(OPENING, 1) == one.feed(NOISE + REASONING, 2) == one.feed(DROPPED, 3) == b""
    assert progress.phase is Phase.SILENT
    assert one.feed(OUTPUT + NOISE, 4) == OPENING + NOISE + REASONING + OUTPUT + NOISE
    assert (progress.phase, progress.first_useful_at) == (Phase.SPOKEN, 4)
    assert one.feed(NOISE + DROPPED + OPENING, 5) == NOISE + OPENING
    assert one.feed(END, 6) == END
    assert one.ended == Complete()
    assert progress.first_useful_at == 4


@pytest.mark.parametrize("word", [OUTPUT, FINISH, END])
def test_useful_events_commit(word: bytes) -> None:
    one, progress = relay(Phase.OPENED)
    assert one.feed(OPENING + word, 1) == OPENING + word
    assert (progress.phase, progress.first_useful_at) == (Phase.SPOKEN, 1)


@pytest.mark.parametrize("phase", [Phase.SILENT, Phase.OPENED])
def test_what_the_caller_s_protocol_cannot_say_is_useful_and_commits_nothing(phase: Phase) -> None:
    one, progress = relay(phase)
    assert one.feed(OPENING + PROGRESS, 2) == b""
    assert (progress.phase, progress.first_useful_at, progress.heard_at) == (phase, 2, 2)
    assert one.feed(PROGRESS * 3, 3) == b""
    assert (progress.first_useful_at, progress.heard_at) == (2, 3)
    assert one.feed(OUTPUT + PROGRESS, 4) == OPENING + OUTPUT
    assert (progress.phase, progress.heard_at) == (Phase.SPOKEN, 4)
    other, _ = relay(phase)
    other.feed(OPENING + PROGRESS + ERROR, 2)
    assert other.ended == Failover(REPORTED)


def test_a_model_that_works_unseen_is_given_the_time_between_two_events() -> None:
    one, _ = relay(Phase.OPENED)
    one.feed(PROGRESS, 90)
    assert not isinstance(one.quiet(389)[0], Failover)
    one.feed(PROGRESS, 389)
    assert not isinstance(one.quiet(688)[0], Failover)
    assert isinstance(one.quiet(690)[0], Failover)


@pytest.mark.parametrize("phase", [Phase.SILENT, Phase.OPENED])
@pytest.mark.parametrize("fault", [ERROR, BROKEN])
def test_a_fault_before_the_first_word_gives_the_client_nothing(phase: Phase, fault: bytes) -> None:
    one, progress = relay(phase)
    assert one.feed(OPENING + NOISE + fault + OUTPUT + END, 1) == b""
    assert one.ended == Failover(REPORTED)
    assert progress.phase is phase
    assert one.feed(OUTPUT, 2) == one.end(2) == one.broke(CUT, 2) == b""


def test_an_error_of_the_upstream_after_a_word_goes_out_as_its_own_event_and_ends_all() -> None:
    one, _ = relay()
    assert one.feed(OUTPUT + ERROR + OUTPUT + END, 1) == OUTPUT + ERROR
    assert one.ended == AppendError(REPORTED)


def test_a_broken_event_after_a_word_is_told_in_the_gateway_s_words() -> None:
    one, _ = relay()
    assert one.feed(OUTPUT + BROKEN + OUTPUT, 1) == OUTPUT + b"<interrupted: failed>"
    assert one.ended == AppendError(REPORTED, Failure(kind=Kind.INTERRUPTED, message="failed"))


@pytest.mark.parametrize(
    "then",
    [
        pytest.param(lambda one: one.feed(ERROR, 2), id="error"),
        pytest.param(lambda one: one.feed(BROKEN, 2), id="broken"),
        pytest.param(lambda one: one.end(2), id="end"),
        pytest.param(lambda one: one.broke(CUT, 2), id="cut"),
        pytest.param(lambda one: one.quiet(6.9)[1], id="usage did not come"),
    ],
)
def test_after_the_finish_nothing_spoils_the_answer(then: object) -> None:
    one, progress = relay()
    assert one.feed(OUTPUT + FINISH, 1.5) == OUTPUT + FINISH
    assert progress.finished_at == 1.5
    assert callable(then)
    assert then(one) == b""
    assert one.ended == Complete()


def test_the_words_for_a_time_out_are_the_operator_s() -> None:
    one, _ = relay()
    one.feed(OUTPUT, 1)
    action, out = one.quiet(301)
    assert out == b"<interrupted: timed out>"
    assert isinstance(action, AppendError)
    assert isinstance(one.ended, AppendError)
    assert one.ended.failure.kind is Kind.TIMEOUT


def test_time_passes() -> None:
    one, progress = relay()
    assert one.quiet(9) == (Wait(10), b"")
    assert one.quiet(10) == (Open(), b"")
    progress.phase, progress.wrote_at = Phase.OPENED, 10
    assert one.quiet(20) == (Keepalive(), b"")
    action, out = one.quiet(100)
    assert (isinstance(action, Failover), out) == (True, b"")
    assert one.ended is action


@pytest.mark.parametrize("phase", Phase)
def test_after_the_end_time_changes_nothing(phase: Phase) -> None:
    one, _ = relay(phase)
    one.feed(END, 1)
    assert one.quiet(10_000) == (Complete(), b"")
    assert one.ended == Complete()
    other, _ = relay(phase)
    other.broke(CUT, 1)
    ended = other.ended
    assert other.quiet(10_000) == (ended, b"")


def test_only_the_model_is_progress() -> None:
    one, progress = relay()
    for raw, heard in (
        (OPENING, 1),
        (NOISE, 1),
        (DROPPED, 1),
        (OUTPUT, 4),
        (NOISE, 4),
        (REASONING, 6),
        (END, 6),
    ):
        one.feed(raw, {OPENING: 1, NOISE: 2, DROPPED: 3, OUTPUT: 4, REASONING: 6, END: 7}[raw])
        assert progress.heard_at == heard


@pytest.mark.parametrize("between", [b"", NOISE, OPENING, REASONING, DROPPED, OPENING + NOISE])
@pytest.mark.parametrize("word", [OUTPUT, PROGRESS, FINISH, END])
def test_a_silence_ends_with_the_next_useful_event(between: bytes, word: bytes) -> None:
    one, progress = relay()
    one.feed(OPENING, 3)
    one.feed(OUTPUT, 5)
    one.feed(between, 14)
    one.feed(word, 15)
    assert (one._gaps.seconds, sum(one._gaps.powers)) == (10, 1)
    one.feed(END, 17)  # told after the finish it is no word
    assert one._gaps.seconds == (12 if word in (OUTPUT, PROGRESS) else 10)
    progress.begin_attempt(20)
    assert progress.spoke_at is None


def test_a_silence_in_which_the_client_is_behind_is_not_the_upstream_s() -> None:
    one, progress = relay()
    one.feed(OUTPUT, 5)
    progress.wait_for_client(14)
    one.feed(OUTPUT, 15)
    assert one._gaps.seconds == 1


def test_reasoning_that_was_opened_lengthens_the_patience() -> None:
    one, progress = relay(Phase.OPENED)
    one.feed(REASONING, 50)
    assert progress.reasoning_at == 50
    progress.wrote_at = 349
    assert isinstance(one.quiet(349)[0], Wait)
    assert isinstance(one.quiet(350)[0], Failover)


def test_a_preamble_beyond_its_bound_commits_and_the_first_word_still_counts() -> None:
    one, progress = relay()
    big = event(Said.NOISE, b" " + b"x" * (MAX_PREAMBLE // 2))
    assert one.feed(big, 1) == b""
    assert one.feed(big, 2) == big + big
    assert progress.phase is Phase.SPOKEN
    assert (progress.heard_at, progress.first_useful_at) == (2, None)
    assert one.feed(OUTPUT, 3) == OUTPUT
    assert progress.first_useful_at == 3
    one.feed(OUTPUT, 4)
    assert progress.first_useful_at == 3


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (b"<!doctype html><p>no", Kind.UPSTREAM),
        (b" " * 70_000, Kind.UPSTREAM),
        (b"\xef\xbb\xbf<x>", Kind.UPSTREAM),
    ],
)
def test_another_body_is_a_failed_attempt(body: bytes, kind: Kind) -> None:
    one, _ = relay()
    for at in range(0, len(body), 9_000):
        assert one.feed(body[at : at + 9_000], 1) == b""
    assert isinstance(one.ended, Failover)
    assert one.ended.failure.kind is kind


@pytest.mark.parametrize(
    "body", [b"", b"\n \r\n", b"\xef\xbb", b": only a comment\n\n", b"event: x\n\nretry: 5\n\n"]
)
@pytest.mark.parametrize("phase", [Phase.SILENT, Phase.OPENED])
def test_an_empty_stream_is_a_failed_attempt(body: bytes, phase: Phase) -> None:
    one, _ = relay(phase)
    if body:
        assert one.feed(body, 1) == b""
    assert one.end(1) == b""
    assert isinstance(one.ended, Failover)


def test_a_json_answer_is_sent_as_the_stream_that_says_the_same() -> None:
    one, progress = relay(replay=OPENING + OUTPUT + END)
    for part in (b"\xef\xbb\xbf ", b'{"a":', b"1}"):
        assert one.feed(part, 1) == b""
    assert one.end(2) == OPENING + OUTPUT + END
    assert one.ended == Complete()
    assert progress.first_useful_at == 2


def test_a_replayed_stream_without_an_end_is_no_success() -> None:
    one, _ = relay(replay=OUTPUT)
    one.feed(b"{}", 1)
    assert one.end(1) == OUTPUT + b"<interrupted: failed>"
    assert isinstance(one.ended, AppendError)


@pytest.mark.parametrize(("failure", "ended"), [(CUT, Failover(CUT)), (OWN, Refuse(OWN))])
def test_json_that_is_no_answer_fails_by_what_it_says(failure: Failure, ended: Action) -> None:
    one, _ = relay(replay=failure)
    one.feed(b"{}", 1)
    assert one.end(1) == b""
    assert one.ended == ended


def test_a_json_answer_is_bounded() -> None:
    one, _ = relay(replay=OUTPUT)
    assert one.feed(b"{" + b" " * MAX_EVENT, 1) == b""
    assert isinstance(one.ended, Failover)


def test_what_came_before_an_event_that_is_too_large_goes_out() -> None:
    one, _ = relay()
    one.feed(OUTPUT, 1)
    out = one.feed(NOISE + b"data: " + b"x" * MAX_EVENT, 2)
    assert out == NOISE + b"<interrupted: failed>"
    assert isinstance(one.ended, AppendError)
    other, _ = relay()
    assert other.feed(OPENING + b"data\n" * (MAX_LINES + 1), 1) == b""
    assert isinstance(other.ended, Failover)


def test_the_end_mark_before_an_event_that_is_too_large_is_the_end() -> None:
    one, _ = relay()
    assert one.feed(OUTPUT + END + b"data: " + b"x" * MAX_EVENT, 1) == OUTPUT + END
    assert one.ended == Complete()


@pytest.mark.parametrize(
    ("last", "out"),
    [
        (b"data: output {}", b"data: output {}\n\n<interrupted: failed>"),
        (b'data: output {"a":', b"<interrupted: failed>"),
        (b"data: end }\n", b"data: end }\n\n"),
        (b"event: x", b"<interrupted: failed>"),
    ],
)
def test_an_event_without_its_blank_line_counts_if_it_is_whole(last: bytes, out: bytes) -> None:
    one, _ = relay()
    one.feed(OUTPUT + last, 1)
    assert one.end(2) == out
    assert isinstance(one.ended, Complete if b"end" in last else AppendError)


@pytest.mark.parametrize("phase", Phase)
def test_breaks_by_phase(phase: Phase) -> None:
    one, _ = relay(phase)
    out = one.broke(CUT, 1)
    if phase is Phase.SPOKEN:
        assert out == b"<interrupted: failed>"
        assert isinstance(one.ended, AppendError)
    else:
        assert (out, one.ended) == (b"", Failover(CUT))


def test_a_finish_does_not_make_a_spoilt_answer_whole() -> None:
    one, _ = relay()
    told = one.feed(OUTPUT + FINISH + event(Said.SPOILT), 1)
    assert isinstance(one.ended, AppendError)
    assert told == OUTPUT + FINISH + b"<interrupted: failed>"


def test_what_breaks_after_the_finish_takes_nothing_back() -> None:
    one, _ = relay()
    assert one.feed(OUTPUT + FINISH + BROKEN, 1) == OUTPUT + FINISH
    assert one.ended == Complete()


def test_what_began_after_the_finish_must_finish_too() -> None:
    one, _ = relay()
    assert one.feed(OUTPUT + FINISH + OPENING, 1) == OUTPUT + FINISH + OPENING
    assert one.end(2) == b"<interrupted: failed>"
    assert isinstance(one.ended, AppendError)
