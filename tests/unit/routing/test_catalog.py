import pytest
from msgspec import structs
from tests.unit.routing.channels import channel

from tidegate.core.protocol import Protocol
from tidegate.routing.catalog import Catalog, Headers, Key, Model, digest

SECRET = "sk-tg-caller"
LAPTOP = Key(name="laptop", account="acme", models=("sonnet", "gpt-4*"))
ANYTHING = Key(name="root", account="acme")


@pytest.fixture
def catalog() -> Catalog:
    channels = [
        channel("one", mapped={"sonnet": "claude-sonnet-5"}, protocol=Protocol.MESSAGES, group="anthropic"),
        channel("two", "sonnet", "gpt-*", protocol=Protocol.CHAT),
        channel("three", "gpt-4o", "gpt-4*", protocol=Protocol.CHAT),
    ]
    models = [
        Model(name="sonnet", first_event_timeout=150, idle_timeout=60, max_output_tokens=8192),
        Model(name="gpt-4*", first_event_timeout=1, idle_timeout=2),
        Model(name="gpt-4o-mini", first_event_timeout=3, idle_timeout=4),
        Model(name="gpt-9", first_event_timeout=3, idle_timeout=4),
    ]
    keys = {digest(SECRET): LAPTOP}
    return Catalog(channels, models, keys, first_event_timeout=120, idle_timeout=360)


def test_a_key_is_found_by_its_secret_only(catalog: Catalog) -> None:
    assert catalog.find_key(SECRET) is LAPTOP
    assert catalog.find_key(SECRET + " ") is None
    assert catalog.find_key("") is None
    assert catalog.find_key("\ud800\udcff") is None


def test_a_key_may_use_its_names_and_patterns(catalog: Catalog) -> None:
    allowed = [
        name for name in ("sonnet", "gpt-4", "gpt-4o", "gpt-5", "sonnet-x") if catalog.allows(LAPTOP, name)
    ]
    assert allowed == ["sonnet", "gpt-4", "gpt-4o"]
    assert catalog.allows(ANYTHING, "whatever")


def test_a_models_settings_come_from_the_most_specific_entry(catalog: Catalog) -> None:
    assert catalog.model("sonnet").max_output_tokens == 8192
    assert catalog.model("gpt-4o-mini").first_event_timeout == 3
    assert catalog.model("gpt-4-turbo").name == "gpt-4*"


def test_models_without_an_entry_have_the_defaults_under_a_bounded_name(catalog: Catalog) -> None:
    assert catalog.model("gpt-5") == Model(name="gpt-*", first_event_timeout=120, idle_timeout=360)
    assert catalog.model("made-up").name == "*"


def test_candidates_speak_the_protocol_and_know_the_upstreams_name(catalog: Catalog) -> None:
    def found(model: str, protocol: Protocol) -> list[tuple[str, str]]:
        return [(one.channel.name, one.upstream_model) for one in catalog.candidates(model, protocol)]

    assert found("sonnet", Protocol.MESSAGES) == [("one", "claude-sonnet-5")]
    assert found("sonnet", Protocol.CHAT) == [("two", "sonnet")]
    assert found("gpt-4o", Protocol.CHAT) == [("three", "gpt-4o"), ("two", "gpt-4o")]
    assert found("gpt-4*", Protocol.CHAT) == [("three", "gpt-4*"), ("two", "gpt-4*")]
    assert found("sonnet", Protocol.RESPONSES) == []


def test_all_candidates_are_those_of_every_protocol_each_once(catalog: Catalog) -> None:
    def found(model: str) -> list[tuple[str, str]]:
        return sorted((one.channel.name, one.upstream_model) for one in catalog.all_candidates(model))

    assert found("sonnet") == [("one", "claude-sonnet-5"), ("two", "sonnet")]
    assert found("gpt-4o") == [("three", "gpt-4o"), ("two", "gpt-4o")]
    assert found("made-up") == []


def test_an_exact_name_wins_over_the_same_channels_pattern() -> None:
    catalog = Catalog([channel("one", "*", mapped={"fast": "gpt-5-mini"})])
    [only] = catalog.candidates("fast", Protocol.CHAT)
    assert only.upstream_model == "gpt-5-mini"


def test_it_is_told_whether_any_channel_serves_a_model(catalog: Catalog) -> None:
    assert catalog.known("gpt-77")
    assert not catalog.known("opus")


def test_public_models_are_what_the_key_may_use_of_what_is_served(catalog: Catalog) -> None:
    assert catalog.public_models(LAPTOP) == ("gpt-4*", "gpt-4o", "gpt-4o-mini", "sonnet")
    assert catalog.public_models(ANYTHING) == ("gpt-*", "gpt-4*", "gpt-4o", "gpt-4o-mini", "gpt-9", "sonnet")


def test_a_group_is_the_channels_name_where_none_is_set(catalog: Catalog) -> None:
    assert catalog.groups == {"anthropic", "two", "three"}


def test_it_is_known_which_upstream_models_a_channel_can_ask_for(catalog: Catalog) -> None:
    assert catalog.serves("one", "claude-sonnet-5")
    assert not catalog.serves("one", "sonnet")
    assert catalog.serves("two", "gpt-77")
    assert not catalog.serves("gone", "gpt-77")
    assert catalog.channel("two") is catalog.channels[1]
    assert catalog.channel("gone") is None


def test_an_upstream_model_has_the_name_that_the_config_gives_it(catalog: Catalog) -> None:
    assert catalog.offered_as("one", "claude-sonnet-5") == "claude-sonnet-5"
    assert catalog.offered_as("two", "gpt-77") == "gpt-*"
    assert catalog.offered_as("three", "gpt-4o") == "gpt-4o"
    assert catalog.offered_as("three", "gpt-4-turbo") == "gpt-4*"
    assert catalog.offered_as("one", "sonnet") is None
    assert catalog.offered_as("nowhere", "gpt-77") is None


def test_neither_credentials_nor_header_values_are_shown() -> None:
    shown = repr(channel("one", "m")) + repr(Headers({"x-team": "hush"})) + str(Headers({"x-team": "hush"}))
    assert "sk-upstream" not in shown
    assert "hush" not in shown
    assert "x-team" in shown


def test_header_values_that_may_be_credentials_are_secrets_of_the_channel() -> None:
    headers = {
        "x-team": "search",
        "API-Key": "short-one",
        "authorization": "Bearer the-token",
        "x-route": "0123456789abcdef0123456789",
        "x-note": "some words that are no credential",
    }
    known = [secret.reveal() for secret in structs.replace(channel("a"), headers=headers).secrets]
    assert known == ["sk-upstream", "short-one", "the-token", "0123456789abcdef0123456789"]


def test_operators_find_a_key_by_its_name(catalog: Catalog) -> None:
    assert catalog.key_named("laptop") is LAPTOP
    assert catalog.key_named("nobody") is None
