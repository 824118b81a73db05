from tidegate.exchange.tally import Tally


def test_what_is_held_comes_back_to_nothing() -> None:
    tally = Tally()
    tally.hold(5)
    tally.hold(7)
    assert (tally.holds, tally.held) == (2, 12)
    tally.free(5)
    tally.free(7)
    assert (tally.holds, tally.held) == (0, 0)


def test_refusals_are_counted_by_limit_and_owner() -> None:
    tally = Tally()
    for owner in ("key", "account", "key"):
        tally.refuse("tokens", owner)
    assert tally.refusals == {("tokens", "key"): 2, ("tokens", "account"): 1}
