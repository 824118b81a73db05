"""How far a request has come, from attempt to attempt."""

from tidegate.engine.signals import Phase, Progress


def seen(phase: Phase, **times: float) -> Progress:
    return Progress(**{"accepted_at": 1, "attempt_at": 2, "heard_at": 3, "wrote_at": 4, **times}, phase=phase)


def test_another_attempt_starts_its_own_clocks_and_keeps_what_the_client_has() -> None:
    progress = seen(Phase.OPENED, reasoning_at=5, finished_at=6)
    progress.begin_attempt(9)
    assert (progress.attempt_at, progress.heard_at) == (9, 9)
    assert (progress.reasoning_at, progress.finished_at) == (None, None)
    assert (progress.accepted_at, progress.wrote_at, progress.phase) == (1, 4, Phase.OPENED)


def test_while_the_client_is_behind_no_limit_runs() -> None:
    before, after = seen(Phase.OPENED), seen(Phase.SPOKEN, finished_at=5)
    for progress in (before, after):
        progress.wait_for_client(9)
        assert (progress.heard_at, progress.wrote_at, progress.accepted_at) == (9, 9, 1)
    assert (before.attempt_at, before.finished_at) == (9, None)
    assert (after.attempt_at, after.finished_at) == (2, 9)
