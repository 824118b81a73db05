"""The limits that hold for one model."""

from tests.unit.exchange.scene import settings

from tidegate.engine.signals import Limits
from tidegate.routing.catalog import Model


def test_a_model_s_own_time_outs() -> None:
    model = Model(name="m", first_event_timeout=150, idle_timeout=0)
    chosen = settings(commit_after=1, keepalive_interval=2)
    assert chosen.limits(model) == Limits(commit_after=1, keepalive=2, first_event=150, idle=0)


def test_no_secret_is_shown() -> None:
    assert "own" not in repr(settings())
