from decimal import Decimal
from typing import Any

import pytest

from tidegate.importing.channels import channel_tables, duration, model_tables
from tidegate.importing.deployments import read_deployments
from tidegate.importing.members import Members
from tidegate.importing.notes import Notes


def tables(
    notes: Notes, *told: tuple[str, dict[str, Any]]
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    entries: list[Any] = [
        {"model_name": public, "litellm_params": {"model": f"openai/{public}", **more}}
        for public, more in told
    ]
    found = read_deployments(Members({"model_list": entries}, "", notes), notes)
    return channel_tables(found, notes), model_tables(found, notes)


def test_models_of_one_account_are_one_channel() -> None:
    channels, models = tables(Notes(), ("a", {}), ("b", {}), ("c", {"model": "openai/d"}))
    assert channels == [
        {
            "name": "openai",
            "protocol": "chat",
            "base_url": "https://api.openai.com/v1",
            "api_key": "env:OPENAI_API_KEY",
            "models": {"a": "a", "b": "b", "c": "d"},
        }
    ]
    assert models == []


def test_one_name_twice_makes_two_channels_of_a_group() -> None:
    notes = Notes()
    channels, _ = tables(notes, ("a", {}), ("a", {"model": "openai/other"}), ("a", {}))
    assert [(one["name"], one["models"], one.get("group")) for one in channels] == [
        ("openai", ["a"], None),
        ("openai-2", {"a": "other"}, "openai"),
    ]
    assert [note.path for note in notes.changed] == ["model_list[2]"]


@pytest.mark.parametrize(
    ("told", "weights"),
    [
        ([{"weight": 1}, {"weight": 3}], [None, 3]),
        ([{"weight": "0.25"}, {"weight": Decimal("0.75")}], [None, 3]),
        ([{"rpm": 600}, {"rpm": 200}], [3, None]),
        ([{"rpm": 600, "weight": 1}, {"rpm": 200, "weight": 1}], [None, None]),
        ([{"tpm": 10**11}, {"tpm": 1}], [1_000_000, None]),
        ([{"weight": 2}, {}], [2, None]),
        ([{"weight": 0}, {"weight": 0}], [None, None]),
    ],
)
def test_weights_are_whole_numbers_in_the_same_proportion(
    told: list[dict[str, Any]], weights: list[int | None]
) -> None:
    entries = [("a", {"api_base": f"http://host{at}/v1", **more}) for at, more in enumerate(told)]
    channels, _ = tables(Notes(), *entries)
    assert [one.get("weight") for one in channels] == weights


def test_what_is_told_of_a_model_is_the_first_that_says_something() -> None:
    notes = Notes()
    costs = {"input_cost_per_token": "1e-6", "output_cost_per_token": "2e-6"}
    _, models = tables(notes, ("a", {"timeout": "1.5", **costs}), ("a", {"timeout": 2}), ("b", {}))
    assert models == [
        {
            "name": "a",
            "first_event_timeout": "1500ms",
            "idle_timeout": "1500ms",
            "price": {"input": "1", "output": "2"},
        }
    ]
    assert any("differ in idle timeout" in note.words for note in notes.changed)


def test_models_without_a_price_of_their_own_are_told() -> None:
    notes = Notes()
    costs = {"input_cost_per_token": "1e-6", "output_cost_per_token": "2e-6"}
    tables(notes, ("paid", costs), *((f"m{at}", {}) for at in range(7)))
    [note] = [one for one in notes.left if "prices" in one.path]
    assert note.words == "'m0', 'm1', 'm2', 'm3', 'm4' and 2 more cost nothing until [[models]] has a price"


def test_durations_are_written_as_a_config_has_them() -> None:
    assert [duration(Decimal(text)) for text in ("30", "0.5", "600")] == ["30s", "500ms", "600s"]
