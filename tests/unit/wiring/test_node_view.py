from tests.unit.routing.channels import channel

from tidegate.admin.ports import ChannelHealth
from tidegate.routing.breaker import Health, Rules
from tidegate.routing.catalog import Channel, Duty
from tidegate.wiring.node_view import channel_healths


def broken(health: Health, name: str, model: str) -> None:
    turn = health.begin(name, model, 0.0)
    assert turn is not None
    health.failed(turn, 0.0, "refused")


def channel_health(
    one: Channel, health: Health, now: float, wall: float, open_requests: int
) -> ChannelHealth:
    [found] = channel_healths([one], health, {one.name: open_requests}, now, wall)
    return found


def test_a_channel_tells_each_model_that_is_known_of_it() -> None:
    health = Health(Rules(failures_before_cooldown=1, cooldown=30))
    broken(health, "a", "gpt-x")
    broken(health, "b", "other")
    shown = channel_health(channel("a", "m", "gpt-*", mapped={"n": "up"}), health, 10.0, 1_000.0, 3)
    assert (shown.state, shown.open_requests) == ("cooling", 3)
    assert [(model.upstream_model, model.state, model.until) for model in shown.models] == [
        ("gpt-x", "cooling", 1_020.0),
        ("m", "ready", None),
        ("up", "ready", None),
    ]
    assert "refused" in shown.models[0].why
    assert channel_health(channel("a", "m"), health, 30.0, 1_000.0, 0).state == "probing"
    assert health.begin("a", "gpt-x", 30.0) is not None
    assert channel_health(channel("a", "m"), health, 30.0, 1_000.0, 0).models[0].state == "probing"


def test_what_the_operator_wants_goes_before_what_was_found_out() -> None:
    health = Health(Rules(failures_before_cooldown=1, cooldown=30))
    broken(health, "a", "m")
    for duty in (Duty.PAUSED, Duty.DRAINING):
        assert channel_health(channel("a", "m", duty=duty), health, 10.0, 0.0, 0).state == duty.value


def test_open_attempts_are_counted_by_channel() -> None:
    health = Health(Rules(failures_before_cooldown=5))
    turns = [health.begin("a", "m", 0.0), health.begin("a", "n", 0.0), health.begin("b", "m", 0.0)]
    first, second, third = (turn for turn in turns if turn is not None)
    assert health.open_turns() == {"a": 2, "b": 1}
    health.succeeded(first)
    health.failed(second, 0.0, "refused")
    health.released(third, 0.0)
    assert health.open_turns() == {}


def test_channels_are_told_in_the_order_of_their_names() -> None:
    health = Health(Rules())
    found = channel_healths([channel("b", "m"), channel("a", "m")], health, {"b": 2.0}, 0.0, 0.0)
    assert [(one.name, one.open_requests) for one in found] == [("a", 0), ("b", 2)]
