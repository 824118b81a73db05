from hypothesis import given
from hypothesis import strategies as st
from tests.unit.routing.channels import candidate

from tidegate.routing.breaker import Health, Rules
from tidegate.routing.catalog import Candidate
from tidegate.routing.plan import order

NOW = 15.0
sizes = st.lists(
    st.tuples(
        st.integers(min_value=-3, max_value=3),
        st.integers(min_value=1, max_value=1_000_000),
        st.sampled_from(["", "g", "h"]),
        st.sampled_from([None, 1.0, 14.0, 16.0, 60.0]),
    ),
    max_size=12,
)
draws = st.lists(st.floats(min_value=0, max_value=1, exclude_max=True), min_size=12, max_size=12)
groups = st.sampled_from([None, "g", "h", "gone"])


@given(sizes, draws, groups, groups)
def test_every_channel_is_planned_or_skipped_exactly_once_and_tiers_never_mix(
    rows: list[tuple[int, int, str, float | None]],
    drawn: list[float],
    prefer: str | None,
    only: str | None,
) -> None:
    health = Health(Rules())
    candidates: list[Candidate] = []
    for number, (priority, weight, group, rest) in enumerate(rows):
        candidates.append(candidate(str(number), priority=priority, weight=weight, group=group))
        turn = health.begin(str(number), "m", 0)
        assert turn is not None
        health.failed(turn, 0, "refused", rest)
    source = iter(drawn)

    plan = order(candidates, health, NOW, lambda: next(source), prefer_group=prefer, only_group=only)

    planned = [attempt.candidate.channel for attempt in plan.attempts]
    skipped = [skip.candidate.channel for skip in plan.skipped]
    assert sorted(int(one.name) for one in planned + skipped) == list(range(len(rows)))
    ranks = [((one.group or one.name) == prefer, one.priority) for one in planned]
    assert ranks == sorted(ranks, reverse=True)
    assert only is None or all(one.group == only for one in planned)
    rests = {str(number): row[3] for number, row in enumerate(rows)}
    assert all((rests[one.name] or 0) <= NOW for one in planned)
    assert plan.available_at is None or plan.available_at > NOW
