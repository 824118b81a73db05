from contextlib import suppress
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.managed.stores import CHANNEL

from tidegate.admin.ports import Invalid, Settings
from tidegate.config.settings import Streaming
from tidegate.core.secret import Secret
from tidegate.managed.definitions import parsed, read_name, read_value, without_defaults, written
from tidegate.routing.catalog import Account, Channel, Key, Model
from tidegate.storage.catalog import Kind

GOOD = {key: value for key, value in CHANNEL.items() if key != "name"}


def faults(kind: Kind, settings: dict[str, object]) -> list[str]:
    with pytest.raises(Invalid) as caught:
        read_value(kind, "a", settings, Streaming())
    return [fault.field for fault in caught.value.faults]


def test_each_kind_is_read_with_its_defaults() -> None:
    channel = read_value(Kind.CHANNELS, "a", GOOD, Streaming())
    assert isinstance(channel, Channel)
    assert (channel.name, channel.group, channel.api_key) == ("a", "a", Secret("sk-stored-credential"))
    assert channel.headers == {"x-team": "search-team-secret"}
    model = read_value(Kind.MODELS, "a", {}, Streaming(idle_timeout=7.0))
    assert isinstance(model, Model)
    assert model.idle_timeout == 7.0
    assert read_value(Kind.ACCOUNTS, "a", {"prepaid": True}, Streaming()) == Account(name="a", prepaid=True)
    budget = {"budget_per_day": "1.5", "models": ["x-*"]}
    key = Key(name="a", account="default", models=("x-*",), budget_per_day=1_500_000_000)
    assert read_value(Kind.KEYS, "a", budget, Streaming()) == key


@pytest.mark.parametrize(
    ("kind", "settings", "fields"),
    [
        (Kind.CHANNELS, {}, ["protocol", "base_url", "models"]),
        (Kind.CHANNELS, {**GOOD, "api_key": "env:HOME"}, ["api_key"]),
        (Kind.CHANNELS, {**GOOD, "base_url": "file:/etc/passwd"}, ["base_url"]),
        (Kind.CHANNELS, {**GOOD, "headers": {"x-a": "env:HOME"}}, ["headers.x-a"]),
        (Kind.CHANNELS, {**GOOD, "models": ["file:x"]}, ["models[0]"]),
        (Kind.CHANNELS, {**GOOD, "ca_file": "/etc/passwd"}, ["ca_file"]),
        (Kind.CHANNELS, {**GOOD, "headers": {"host": "x"}}, ["headers.host"]),
        (Kind.CHANNELS, {**GOOD, "weight": Decimal("1.5")}, ["weight"]),
        (Kind.CHANNELS, {**GOOD, "wieght": 1}, ["wieght"]),
        (Kind.CHANNELS, {**GOOD, "name": "b"}, ["name"]),
        (Kind.MODELS, {"price": {"input": "1"}}, ["price.output"]),
        (Kind.MODELS, {"price": {"input": "-1", "output": "1"}}, ["price.input"]),
        (Kind.MODELS, {"price": 5}, ["price"]),
        (Kind.ACCOUNTS, {"balance": "5"}, ["balance"]),
        (Kind.ACCOUNTS, {"prepaid": "yes", "budget_per_day": "0.0000000001"}, ["prepaid", "budget_per_day"]),
        (Kind.KEYS, {"account": 5, "models": {}}, ["account", "models"]),
        (Kind.KEYS, {"requests_per_minute": 0, "unknown": None}, ["requests_per_minute", "unknown"]),
        (Kind.KEYS, {"key": "sk-tg-mine"}, ["key"]),
    ],
)
def test_what_is_wrong_is_named(kind: Kind, settings: dict[str, object], fields: list[str]) -> None:
    assert faults(kind, settings) == fields


def test_no_fault_repeats_a_value() -> None:
    with pytest.raises(Invalid) as caught:
        read_value(Kind.CHANNELS, "a", {**GOOD, "api_key": "two words secret"}, Streaming())
    assert "secret" not in str(caught.value)
    assert "secret" not in repr(caught.value.faults)


@pytest.mark.parametrize(
    "name", [None, "", " a", 5, "a\nb", "env:HOME", "file:x", ".", "..", "x" * 257, "\ud800"]
)
def test_a_bad_name_is_refused(name: object) -> None:
    with pytest.raises(Invalid) as caught:
        read_name(Kind.KEYS, {"name": name})
    assert [fault.field for fault in caught.value.faults] == ["name"]


def test_a_model_may_be_a_pattern() -> None:
    assert read_name(Kind.MODELS, {"name": "gpt-*"}) == "gpt-*"
    with pytest.raises(Invalid):
        read_name(Kind.MODELS, {"name": "g*t"})


json_values: st.SearchStrategy[Any] = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.decimals(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
names = st.sampled_from([*GOOD, "price", "price_tiers", "service_tiers", "capabilities", "group", "prepaid"])


@given(st.sampled_from(Kind), st.dictionaries(names, json_values, max_size=5))
def test_any_settings_are_read_or_refused(kind: Kind, settings: dict[str, object]) -> None:
    with suppress(Invalid):
        value = read_value(kind, "a", settings, Streaming())
        again = parsed(written(without_defaults(settings)))
        # What was good stays good in the database, or a restart would lose it.
        assert outcome(kind, again) == value


def outcome(kind: Kind, settings: Settings) -> object:
    try:
        return read_value(kind, "a", settings, Streaming())
    except Invalid as error:
        return error


@pytest.mark.parametrize("text", ["", "[]", "5", "{", "null", '{"a":' * 100_000])
def test_a_damaged_row_is_refused(text: str) -> None:
    with pytest.raises(Invalid):
        parsed(text)
