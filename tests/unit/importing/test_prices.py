from typing import Any

import pytest

from tidegate.importing.members import Members
from tidegate.importing.notes import Notes
from tidegate.importing.prices import pricing


def settings(notes: Notes, *sources: dict[str, Any]) -> dict[str, Any] | None:
    found = pricing(tuple(Members(source, f"s{at}", notes) for at, source in enumerate(sources)), notes)
    return None if found is None else found.settings()


def test_costs_per_token_become_prices_per_million() -> None:
    notes = Notes()
    assert settings(
        notes,
        {"input_cost_per_token": "3e-6", "output_cost_per_token": "0.000015"},
        {
            "input_cost_per_token": "1",
            "cache_read_input_token_cost": "3e-07",
            "cache_creation_input_token_cost": "0.00000375",
            "cache_creation_input_token_cost_above_1hr": "6e-6",
            "input_cost_per_token_above_128k_tokens": "5e-6",
            "output_cost_per_token_above_200k_tokens": "0.00002250",
            "input_cost_per_second": 5,
        },
    ) == {
        "price": {
            "input": "3",
            "output": "15",
            "cache_read": "0.3",
            "cache_write": "3.75",
            "cache_write_1h": "6",
        },
        "price_tiers": [
            {"above_input_tokens": 128000, "input": "5"},
            {"above_input_tokens": 200000, "output": "22.5"},
        ],
    }
    assert (notes.left, notes.changed) == ([], [])


def test_nothing_told_is_no_price() -> None:
    assert settings(Notes(), {}, {"mode": "chat"}) is None


def test_what_is_not_told_is_free_and_said_so() -> None:
    notes = Notes()
    assert settings(notes, {"input_cost_per_token": 0}) == {"price": {"input": "0", "output": "0"}}
    assert "output" in notes.changed[0].words


@pytest.mark.parametrize(
    ("cost", "price"), [("1e-13", "0"), ("0.00000000000149", "0.000001"), ("1", "1000000")]
)
def test_prices_are_rounded_to_what_a_config_takes(cost: str, price: str) -> None:
    notes = Notes()
    found = settings(notes, {"input_cost_per_token": cost, "output_cost_per_token": 0})
    assert found is not None
    assert found["price"]["input"] == price
    assert bool(notes.changed) is (cost != "1")


@pytest.mark.parametrize("cost", ["1.1", "free", -1])
def test_an_impossible_cost_is_told(cost: object) -> None:
    notes = Notes()
    assert settings(notes, {"input_cost_per_token": cost}) is None
    assert notes.left[0].path == "s0.input_cost_per_token"
