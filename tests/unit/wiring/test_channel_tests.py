import pytest
from tests.unit.routing.channels import channel

from tidegate.admin.ports import NoSuchModel
from tidegate.wiring.channel_tests import upstream_name


def test_the_first_model_that_is_no_pattern_is_taken() -> None:
    assert upstream_name(channel("a", "gpt-*", mapped={"n": "up"}), None) == "up"


def test_a_model_may_be_named() -> None:
    made = channel("a", "gpt-*", mapped={"n": "up"})
    assert upstream_name(made, "n") == "up"
    assert upstream_name(made, "gpt-5") == "gpt-5"


@pytest.mark.parametrize("model", [None, "other"])
def test_no_model_is_guessed(model: str | None) -> None:
    with pytest.raises(NoSuchModel):
        upstream_name(channel("a", "gpt-*"), model)
