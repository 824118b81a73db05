"""Stories of silence and breakage: what is decided at each moment."""

from math import inf

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidegate.core.failure import Failure, Fault, Kind, fault
from tidegate.engine.actions import Action, AppendError, Complete, Failover, Keepalive, Open, Refuse, Wait
from tidegate.engine.decide import STALLED, decide
from tidegate.engine.signals import Broke, Limits, Phase, Progress, Quiet

LIMITS = Limits(commit_after=10, keepalive=10, first_event=120, idle=360)
CUT = Failure(kind=Kind.UPSTREAM, message="cut")


def seen(phase: Phase = Phase.SILENT, **times: float | None) -> Progress:
    start: dict[str, float | None] = {"accepted_at": 0, "attempt_at": 0, "heard_at": 0, "wrote_at": 0}
    return Progress(phase=phase, **(start | times))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("progress", "now", "expected"),
    [
        (seen(), 9.9, Wait(10)),
        (seen(), 10, Open()),
        (seen(Phase.OPENED, wrote_at=10), 19, Wait(20)),
        (seen(Phase.OPENED, wrote_at=10), 20, Keepalive()),
        (seen(Phase.OPENED, wrote_at=119), 120, Failover(STALLED)),
        (seen(Phase.OPENED, attempt_at=60, wrote_at=119), 120, Wait(129)),
        (seen(Phase.OPENED, reasoning_at=5, wrote_at=119), 120, Wait(129)),
        (seen(Phase.OPENED, reasoning_at=5, wrote_at=364), 365, Failover(STALLED)),
        (seen(Phase.SPOKEN, heard_at=50, wrote_at=405), 409, Wait(410)),
        (seen(Phase.SPOKEN, heard_at=50, wrote_at=405), 410, AppendError(STALLED)),
        (seen(Phase.SPOKEN, finished_at=7, heard_at=7, wrote_at=7), 11.9, Wait(12)),
        (seen(Phase.SPOKEN, finished_at=7, heard_at=7, wrote_at=7), 12, Complete()),
    ],
)
def test_silence(progress: Progress, now: float, expected: Action) -> None:
    assert decide(progress, Quiet(), now, LIMITS) == expected


def test_a_limit_of_zero_never_strikes() -> None:
    off = Limits(commit_after=0, keepalive=0, first_event=0, idle=0)
    for phase in Phase:
        assert decide(seen(phase), Quiet(), 1e9, off) == Wait(inf)


def test_breakage_in_each_phase() -> None:
    own = Failure(kind=Kind.INVALID_REQUEST, message="no", status=400)
    told = Failure(kind=Kind.INVALID_REQUEST, message="no")
    assert decide(seen(), Broke(CUT), 1, LIMITS) == Failover(CUT)
    assert decide(seen(), Broke(own), 1, LIMITS) == Refuse(own)
    assert decide(seen(), Broke(told), 1, LIMITS) == Failover(told)
    assert decide(seen(Phase.OPENED), Broke(CUT), 1, LIMITS) == Failover(CUT)
    assert decide(seen(Phase.SPOKEN), Broke(CUT), 1, LIMITS) == AppendError(CUT)
    assert decide(seen(Phase.SPOKEN), Broke(own), 1, LIMITS) == AppendError(own)
    assert decide(seen(Phase.SPOKEN, finished_at=0.5), Broke(CUT), 1, LIMITS) == Complete()


times = st.floats(0, 1e6)
progresses = st.builds(
    Progress,
    accepted_at=times,
    attempt_at=times,
    heard_at=times,
    wrote_at=times,
    phase=st.sampled_from(Phase),
    reasoning_at=st.none() | times,
    finished_at=st.none(),
)
limits = st.builds(
    Limits,
    commit_after=st.sampled_from([0.0, 1.0, 10.0]),
    keepalive=st.sampled_from([0.0, 1.0, 10.0]),
    first_event=st.sampled_from([0.0, 4.0, 120.0]),
    idle=st.sampled_from([0.0, 4.0, 360.0]),
)
signals = st.one_of(
    st.just(Quiet()),
    st.builds(Broke, st.sampled_from(Kind).map(lambda kind: Failure(kind=kind, message="x"))),
)


@given(progresses, signals, times, limits)
def test_no_change_of_channel_once_the_model_has_spoken(
    progress: Progress, signal: Quiet | Broke, now: float, limits: Limits
) -> None:
    action = decide(progress, signal, now, limits)
    spoken = progress.phase is Phase.SPOKEN
    assert not (spoken and isinstance(action, Failover | Refuse | Open))
    assert not (not spoken and isinstance(action, AppendError | Complete))


@given(progresses, st.sampled_from(Kind), times, limits)
def test_the_request_s_own_fault_is_never_tried_elsewhere(
    progress: Progress, kind: Kind, now: float, limits: Limits
) -> None:
    action = decide(progress, Broke(Failure(kind=kind, message="x", status=400)), now, limits)
    assert not (isinstance(action, Failover) and fault(kind) is Fault.CLIENT)


@given(progresses, times, limits)
def test_a_wait_ends_in_the_future_and_not_before_something_is_due(
    progress: Progress, now: float, limits: Limits
) -> None:
    action = decide(progress, Quiet(), now, limits)
    if isinstance(action, Wait):
        assert action.until > now
        if action.until < inf:
            assert not isinstance(decide(progress, Quiet(), action.until, limits), Wait)
