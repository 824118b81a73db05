from tests.unit.routing.channels import channel

from tidegate.core.protocol import Protocol
from tidegate.exchange.tally import Tally
from tidegate.observe import figures
from tidegate.observe.counts import value_of
from tidegate.routing.breaker import Health, Rules
from tidegate.routing.catalog import Catalog
from tidegate.wiring.readings import of_channels, tallied


def test_every_limit_and_protocol_begins_at_zero() -> None:
    counts = tallied(Tally())
    assert all(cell == [0] for cell in counts[figures.REFUSALS.name].values())
    assert set(counts[figures.GAPS.name]) == {(protocol.value,) for protocol in Protocol}


def test_what_requests_left_behind_is_told() -> None:
    tally = Tally()
    tally.refuse("tokens", "key")
    tally.hold(2_000_000_000)
    tally.keepalives, tally.opened = 3, 1
    tally.gaps[Protocol.CHAT].powers[1] += 2
    tally.gaps[Protocol.CHAT].seconds = 3.0
    counts = tallied(tally)
    assert value_of(counts, figures.REFUSALS, ("tokens", "key")) == 1
    assert (value_of(counts, figures.HOLDS), value_of(counts, figures.HELD)) == (1, 2.0)
    assert (value_of(counts, figures.KEEPALIVES), value_of(counts, figures.OPENED)) == (3, 1)
    gaps = counts[figures.GAPS.name]["chat",]
    assert (gaps[0], gaps[1 + figures.GAPS.bounds.index(2.0)], sum(gaps[1:])) == (3_000_000, 2, 2)


def test_channels_are_told_by_configured_names() -> None:
    catalog = Catalog([channel("a", "gpt-*", mapped={"x": "up"}), channel("b", "m")])
    health = Health(Rules(failures_before_cooldown=1, cooldown=30))
    for model in ("up", "gpt-1", "gpt-2", "of an older config"):
        turn = health.begin("a", model, 0)
        assert turn is not None
        health.failed(turn, 0, "down")
    assert health.begin("b", "m", 0) is not None
    counts = of_channels(health, catalog, 1)
    assert counts[figures.COOLING.name] == {("a", "up"): [1], ("a", "gpt-*"): [1]}
    assert counts[figures.COOLDOWNS.name] == {("a",): [4], ("b",): [0]}
    assert counts[figures.CHANNEL_OPEN.name] == {("b",): [1]}
