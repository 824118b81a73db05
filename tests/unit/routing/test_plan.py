from collections import Counter

import pytest
from tests.unit.routing.channels import candidate

from tidegate.core.protocol import Protocol
from tidegate.routing.breaker import Health, Rules
from tidegate.routing.catalog import Duty
from tidegate.routing.plan import Plan, order


@pytest.fixture
def health() -> Health:
    return Health(Rules(failures_before_cooldown=1, cooldown=30))


def names(plan: Plan) -> list[str]:
    return [attempt.candidate.channel.name for attempt in plan.attempts]


def first() -> float:
    """The lowest draw: always the first of what is left."""
    return 0.0


def break_(health: Health, *channels: str, retry_after: float | None = None) -> None:
    for name in channels:
        turn = health.begin(name, "m", 0)
        assert turn is not None
        health.failed(turn, 0, "refused", retry_after)


def test_higher_priorities_come_first(health: Health) -> None:
    plan = order(
        [candidate("low", priority=-1), candidate("high", priority=10), candidate("mid")], health, 0, first
    )
    assert names(plan) == ["high", "mid", "low"]
    assert plan.attempts[0].why == "priority 10, weight 1"
    assert plan.skipped == ()
    assert plan.available_at is None


def test_the_draw_chooses_by_weight(health: Health) -> None:
    heavy_and_light = [candidate("light", weight=1), candidate("heavy", weight=3)]
    assert names(order(heavy_and_light, health, 0, lambda: 0.24))[0] == "light"
    assert names(order(heavy_and_light, health, 0, lambda: 0.25))[0] == "heavy"
    assert names(order(heavy_and_light, health, 0, lambda: 0.9999999999999999))[0] == "heavy"


def test_equal_priorities_share_in_proportion_to_their_weights(health: Health) -> None:
    draws = (step / 1000 for step in range(1000))
    shares = Counter(
        names(order([candidate("a", weight=1), candidate("b", weight=4)], health, 0, lambda: next(draws)))[0]
        for _ in range(1000)
    )
    assert shares == {"a": 200, "b": 800}


def test_a_draw_of_one_by_a_rounding_source_is_no_error(health: Health) -> None:
    assert len(order([candidate("a"), candidate("b")], health, 0, lambda: 1.0).attempts) == 2


def test_a_cooling_channel_is_left_out_with_its_reason_and_time(health: Health) -> None:
    break_(health, "a")
    break_(health, "b", retry_after=100)
    plan = order([candidate("a"), candidate("b"), candidate("c")], health, 10, first)
    assert names(plan) == ["c"]
    assert [(skip.candidate.channel.name, skip.until) for skip in plan.skipped] == [("a", 30), ("b", 100)]
    assert "refused" in plan.skipped[0].why
    assert plan.available_at == 30


def test_a_channel_after_its_rest_is_tried_as_a_probe_by_one_request(health: Health) -> None:
    break_(health, "a")
    plan = order([candidate("a")], health, 30, first)
    assert names(plan) == ["a"]
    assert "as the probe" in plan.attempts[0].why
    assert health.begin("a", "m", 30) is not None
    later = order([candidate("a")], health, 30, first)
    assert later.attempts == ()
    assert "another request probes it" in later.skipped[0].why
    assert later.available_at is None


def test_the_preferred_group_comes_first_whatever_its_priority(health: Health) -> None:
    plan = order(
        [candidate("a", priority=10), candidate("b", group="g"), candidate("c", priority=5, group="g")],
        health,
        0,
        first,
        prefer_group="g",
    )
    assert names(plan) == ["c", "b", "a"]
    assert "preferred for group g" in plan.attempts[0].why


def test_a_channel_without_a_group_is_a_group_by_its_name(health: Health) -> None:
    assert names(order([candidate("a"), candidate("b")], health, 0, first, prefer_group="b")) == ["b", "a"]


def test_only_the_group_that_holds_what_the_request_builds_on_is_tried(health: Health) -> None:
    plan = order([candidate("a", priority=10), candidate("b", group="g")], health, 0, first, only_group="g")
    assert names(plan) == ["b"]
    assert [(skip.candidate.channel.name, skip.until) for skip in plan.skipped] == [("a", None)]


def test_without_candidates_the_plan_is_empty(health: Health) -> None:
    assert order([], health, 0, first) == Plan(attempts=())


def test_of_equal_priorities_the_caller_s_protocol_comes_first(health: Health) -> None:
    other = candidate("other", protocol=Protocol.CHAT, weight=100)
    own = candidate("own", protocol=Protocol.MESSAGES)
    higher = candidate("higher", protocol=Protocol.CHAT, priority=1)
    plan = order([other, own, higher], health, 0, first, prefer_protocol=Protocol.MESSAGES)
    assert names(plan) == ["higher", "own", "other"]
    assert "protocol" in plan.attempts[1].why


def test_a_paused_channel_is_left_out_whatever_the_request_is_bound_to(health: Health) -> None:
    paused = candidate("a", group="g", duty=Duty.PAUSED)
    plan = order([paused, candidate("b")], health, 0, first, prefer_group="g")
    assert names(plan) == ["b"]
    assert plan.skipped[0].why == "paused by the operator"
    assert order([paused], health, 0, first, only_group="g").attempts == ()


def test_a_draining_channel_takes_only_what_can_go_nowhere_else(health: Health) -> None:
    draining, other = candidate("a", group="g", duty=Duty.DRAINING), candidate("b", group="g")
    assert names(order([draining], health, 0, first)) == []
    assert names(order([draining, candidate("c")], health, 0, first, only_group="h")) == []
    assert names(order([draining], health, 0, first, only_group="g")) == ["a"]
    assert names(order([draining, candidate("c")], health, 0, first, prefer_group="g")) == ["a", "c"]
    assert names(order([draining, other], health, 0, first, only_group="g")) == ["b"]


def test_a_draining_channel_is_the_last_resort_of_its_group(health: Health) -> None:
    draining, other = candidate("a", group="g", duty=Duty.DRAINING), candidate("b", group="g")
    break_(health, "b")
    plan = order([draining, other], health, 10, first, only_group="g")
    assert names(plan) == ["a"], "the other one is left alone at the time"
    assert names(order([draining, other], health, 40, first, only_group="g")) == ["b"]
    assert [skip.why for skip in order([draining, other], health, 40, first).skipped] == [
        "draining: it takes only what can go nowhere else"
    ]
