from hypothesis import given
from hypothesis import strategies as st
from tests.unit.routing.channels import candidate

from tidegate.routing.breaker import Health, Rules
from tidegate.routing.catalog import Candidate, Duty
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


@given(
    st.lists(st.tuples(st.sampled_from(Duty), st.sampled_from(["g", "h"]), st.booleans()), max_size=8),
    groups,
    groups,
)
def test_the_operator_s_wish_is_kept(
    rows: list[tuple[Duty, str, bool]], prefer: str | None, only: str | None
) -> None:
    health = Health(Rules())
    candidates: list[Candidate] = []
    for number, (duty, group, rests) in enumerate(rows):
        candidates.append(candidate(str(number), group=group, duty=duty))
        turn = health.begin(str(number), "m", 0)
        assert turn is not None
        health.failed(turn, 0, "refused", 60.0 if rests else None)

    plan = order(candidates, health, NOW, lambda: 0.0, prefer_group=prefer, only_group=only)

    planned = [attempt.candidate.channel for attempt in plan.attempts]
    assert len(planned) + len(plan.skipped) == len(rows)
    assert all(one.duty is not Duty.PAUSED for one in planned)
    bound_to = only or prefer
    active = [one for one in planned if one.duty is Duty.ACTIVE and one.group == bound_to]
    draining = [one for one in planned if one.duty is Duty.DRAINING]
    assert all(one.group == bound_to for one in draining)
    assert not (active and draining), "a draining channel is the last resort"
    usable = [number for number, (_, group, rests) in enumerate(rows) if group == bound_to and not rests]
    if bound_to is not None and (only is None or only == bound_to) and not active:
        assert {int(one.name) for one in draining} == {
            number for number in usable if rows[number][0] is Duty.DRAINING
        }
