import pytest

from tidegate.routing.breaker import (
    MOST_PAIRS,
    Cooling,
    Health,
    MayProbe,
    Probed,
    Ready,
    Rested,
    Rules,
    Turn,
    Woke,
)

RULES = Rules(failures_before_cooldown=3, cooldown=30)


@pytest.fixture
def health() -> Health:
    return Health(RULES)


def begin(health: Health, now: float, channel: str = "a", model: str = "m") -> Turn:
    turn = health.begin(channel, model, now)
    assert turn is not None
    return turn


def fail(health: Health, now: float, times: int = 1, retry_after: float | None = None) -> None:
    for turn in [begin(health, now) for _ in range(times)]:
        health.failed(turn, now, "timeout", retry_after)


def test_an_unknown_pair_may_be_tried(health: Health) -> None:
    assert health.standing("a", "m", 0) == Ready()
    assert health.why("a", "m", 0) == "in use"


def test_enough_failures_in_a_row_lead_to_a_cooldown(health: Health) -> None:
    fail(health, 10, times=2)
    assert health.standing("a", "m", 10) == Ready()
    assert health.why("a", "m", 10) == "in use; 2 failures in a row, last: timeout"
    fail(health, 11)
    assert health.standing("a", "m", 40.9) == Cooling(41, "of 3 failures in a row, last: timeout")
    assert health.begin("a", "m", 40.9) is None


def test_a_success_starts_the_count_again(health: Health) -> None:
    fail(health, 0, times=2)
    health.succeeded(begin(health, 0))
    fail(health, 0, times=2)
    assert health.standing("a", "m", 0) == Ready()


def test_the_cooldown_holds_for_one_upstream_model_only(health: Health) -> None:
    fail(health, 0, times=3)
    assert health.standing("a", "other", 0) == Ready()
    assert health.standing("b", "m", 0) == Ready()


def test_after_the_cooldown_one_request_probes(health: Health) -> None:
    fail(health, 0, times=3)
    assert isinstance(health.standing("a", "m", 30), MayProbe)
    probe = begin(health, 30)
    assert isinstance(health.standing("a", "m", 30), Probed)
    assert health.begin("a", "m", 31) is None
    health.succeeded(probe)
    assert health.standing("a", "m", 31) == Ready()
    assert health.why("a", "m", 31) == "in use"


def test_a_failed_probe_begins_the_cooldown_anew(health: Health) -> None:
    fail(health, 0, times=3)
    health.failed(begin(health, 30), 35, "refused")
    assert health.standing("a", "m", 64) == Cooling(65, "the probe failed: refused")


def test_a_released_probe_leaves_the_place_to_the_next(health: Health) -> None:
    fail(health, 0, times=3)
    health.released(begin(health, 30), 33)
    assert isinstance(health.standing("a", "m", 33), MayProbe)
    begin(health, 33)


def test_a_neutral_outcome_counts_neither_way(health: Health) -> None:
    fail(health, 0, times=2)
    health.released(begin(health, 0), 0)
    fail(health, 0)
    assert isinstance(health.standing("a", "m", 0), Cooling)


@pytest.mark.parametrize(("asked", "until"), [(17.0, 17), (300.0, 300), (86400.0, 300), (0.5, 0.5)])
def test_an_upstreams_own_wish_holds_at_once_up_to_five_minutes(
    health: Health, asked: float, until: float
) -> None:
    fail(health, 0, retry_after=asked)
    assert health.standing("a", "m", 0) == Cooling(until, "the upstream asked for it: timeout")


@pytest.mark.parametrize("asked", [0.0, -5.0, float("nan"), None])
def test_a_wish_that_is_none_is_a_plain_failure(health: Health, asked: float | None) -> None:
    fail(health, 0, retry_after=asked)
    assert health.standing("a", "m", 0) == Ready()


@pytest.mark.parametrize(("asked", "until"), [(5.0, 30), (60.0, 60)])
def test_of_cooldown_and_wish_the_later_holds(health: Health, asked: float, until: float) -> None:
    fail(health, 0, times=2)
    fail(health, 0, retry_after=asked)
    assert health.standing("a", "m", 0) == Cooling(until, "of 3 failures in a row, last: timeout")


def test_a_late_wish_prolongs_the_rest_but_never_shortens_it(health: Health) -> None:
    late = [begin(health, 0) for _ in range(2)]
    fail(health, 0, times=3)
    health.failed(late[0], 1, "429", 10)
    assert isinstance(health.standing("a", "m", 29), Cooling)
    health.failed(late[1], 1, "429", 100)
    assert health.standing("a", "m", 30) == Cooling(101, "the upstream asked for it: 429")


def test_what_other_requests_find_does_not_disturb_the_probe(health: Health) -> None:
    old = [begin(health, 0) for _ in range(3)]
    fail(health, 0, times=3)
    probe = begin(health, 30)
    health.succeeded(old[0])
    health.released(old[1], 30)
    health.failed(old[2], 30, "cut")
    assert isinstance(health.standing("a", "m", 30), Probed)
    health.succeeded(probe)
    assert health.standing("a", "m", 30) == Ready()


def test_a_wish_counts_even_while_another_request_probes(health: Health) -> None:
    old = begin(health, 0)
    fail(health, 0, times=3)
    probe = begin(health, 30)
    health.failed(old, 30, "429", 60)
    health.succeeded(probe)
    assert health.standing("a", "m", 89) == Cooling(90, "the upstream asked for it: 429")


def test_a_success_from_before_the_rest_does_not_end_it(health: Health) -> None:
    old = begin(health, 0)
    fail(health, 0, times=3)
    health.succeeded(old)
    assert isinstance(health.standing("a", "m", 1), Cooling)


def test_without_a_cooldown_only_the_upstreams_wish_counts() -> None:
    health = Health(Rules(failures_before_cooldown=1, cooldown=0))
    fail(health, 0, times=9)
    assert health.standing("a", "m", 0) == Ready()
    fail(health, 0, retry_after=3)
    assert health.standing("a", "m", 2) == Cooling(3, "the upstream asked for it: timeout")


def test_why_is_told_in_every_state(health: Health) -> None:
    fail(health, 0, times=3)
    reason = "of 3 failures in a row, last: timeout"
    assert health.why("a", "m", 10) == f"left alone for 20.0 s more because {reason}"
    assert health.why("a", "m", 30) == f"the next request may probe it; it was left alone because {reason}"
    begin(health, 30)
    assert health.why("a", "m", 30) == f"one request is probing it; it was left alone because {reason}"


def test_a_reload_keeps_the_state_of_what_is_still_served(health: Health) -> None:
    fail(health, 0, times=3)
    for model in ("kept", "gone"):
        health.failed(begin(health, 0, "b", model), 0, "cut")
    health.failed(begin(health, 0, "c", "m"), 0, "cut", 60)
    health.adopt(
        Rules(failures_before_cooldown=2, cooldown=5), lambda name, model: name != "c" and model != "gone"
    )
    assert isinstance(health.standing("a", "m", 29), Cooling)
    assert health.standing("c", "m", 0) == Ready()
    for model in ("kept", "gone"):
        health.failed(begin(health, 0, "b", model), 0, "cut")
    assert health.standing("b", "kept", 0) == Cooling(5, "of 2 failures in a row, last: cut")
    assert health.standing("b", "gone", 0) == Ready()


def test_made_up_model_names_neither_pile_up_nor_wake_a_resting_channel(health: Health) -> None:
    fail(health, 0, times=3)
    for number in range(MOST_PAIRS + 10):
        health.failed(begin(health, 0, "b", f"made-up-{number}"), 0, "404")
    assert len(health._counts) == MOST_PAIRS
    assert isinstance(health.standing("a", "m", 1), Cooling)


def test_resting_pairs_are_bounded_too(health: Health) -> None:
    for number in range(MOST_PAIRS + 10):
        health.failed(begin(health, 0, "b", f"made-up-{number}"), 0, "429", 60)
    assert len(health._resting) == MOST_PAIRS
    assert health.standing("b", "made-up-0", 1) == Ready()


def test_a_huge_model_name_is_not_kept_whole(health: Health) -> None:
    health.failed(begin(health, 0, "b", "x" * 1_000_000), 0, "404")
    assert sum(len(model) for _, model in health._counts) < 1000


def test_what_is_found_out_is_told_once(health: Health) -> None:
    assert health.changes() == []
    fail(health, 0, times=3)
    assert health.changes() == [Rested("a", "m", 0, 30, "of 3 failures in a row, last: timeout")]
    assert health.changes() == []
    health.succeeded(begin(health, 31))
    assert health.changes() == [Woke("a", "m", 31)]
    health.succeeded(begin(health, 32))
    assert health.changes() == [], "that it works is no news"


def test_only_the_newest_of_a_pair_is_told_and_not_too_much_is_kept(health: Health) -> None:
    fail(health, 0, times=3)
    health.succeeded(begin(health, 31))
    fail(health, 40, retry_after=5)
    assert health.changes() == [Rested("a", "m", 40, 45, "the upstream asked for it: timeout")]
    for number in range(MOST_PAIRS + 10):
        health.failed(begin(health, 50, model=f"m{number}"), 50, "busy", 5)
    assert len(health.changes()) == MOST_PAIRS


def test_what_another_process_found_counts_here_and_is_not_told_on(health: Health) -> None:
    health.rest_remotely(Rested("a", "m", 9, 20, "busy"), 10)
    assert health.standing("a", "m", 10) == Cooling(20, "busy")
    assert health.standing("a", "m", 20) == MayProbe("busy")
    health.rest_remotely(Rested("a", "m", 8, 15, "earlier"), 10)
    assert health.standing("a", "m", 10) == Cooling(20, "busy"), "the longer rest holds"
    health.wake_remotely(Woke("a", "m", 10))
    assert health.standing("a", "m", 10) == Ready()
    assert health.changes() == []


def test_a_rest_that_is_over_is_no_news(health: Health) -> None:
    health.rest_remotely(Rested("a", "m", 5, 10, "busy"), 10)
    assert health.standing("a", "m", 10) == Ready()


def test_a_wake_from_elsewhere_forgets_failures_too(health: Health) -> None:
    fail(health, 0, times=2)
    health.wake_remotely(Woke("a", "m", 0))
    fail(health, 0, times=2)
    assert health.standing("a", "m", 0) == Ready()
    health.wake_remotely(Woke("never", "seen", 0))


def test_a_probe_that_others_have_overtaken_decides_nothing(health: Health) -> None:
    fail(health, 0, times=3)
    probe = begin(health, 31)
    health.rest_remotely(Rested("a", "m", 32, 60, "their probe failed"), 32)
    assert health.standing("a", "m", 32) == Cooling(60, "their probe failed")
    health.succeeded(probe)
    assert health.standing("a", "m", 32) == Cooling(60, "their probe failed")
    again = begin(health, 61)
    health.wake_remotely(Woke("a", "m", 60))
    health.failed(again, 62, "timeout")
    assert health.standing("a", "m", 62) == Ready(), "one failure of a pair that works"


def test_names_too_long_are_one_pair_from_elsewhere_too(health: Health) -> None:
    health.rest_remotely(Rested("a", "m" * 1000, 0, 60, "busy"), 0)
    assert health.standing("a", "m" * 2000, 0) == Cooling(60, "busy")


def test_what_was_found_here_since_counts_more_than_a_wake_from_elsewhere(health: Health) -> None:
    fail(health, 0, times=3)
    fail(health, 31)
    assert isinstance(health.standing("a", "m", 32), Cooling)
    health.wake_remotely(Woke("a", "m", 30.5))
    assert isinstance(health.standing("a", "m", 32), Cooling), "the probe here failed after theirs began"
    health.wake_remotely(Woke("a", "m", 31.5))
    assert health.standing("a", "m", 32) == Ready()


def test_rests_are_counted_and_told_while_they_last(health: Health) -> None:
    assert (list(health.cooling(0)), health.rests_begun()) == ([], {})
    fail(health, 0, times=3)
    assert list(health.cooling(29.9)) == [("a", "m")]
    assert list(health.cooling(30)) == []
    health.failed(begin(health, 30), 30, "again")
    health.rest_remotely(Rested("b", "m", 30, 60, "told"), 30)
    assert set(health.cooling(31)) == {("a", "m"), ("b", "m")}
    assert health.rests_begun() == {"a": 2}


def test_what_is_not_ready_is_listed_by_channel(health: Health) -> None:
    fail(health, 0, times=3)
    assert health.resting() == {"a": ["m"]}
