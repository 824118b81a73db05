import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from tidegate.importing.litellm import Imported, import_litellm
from tidegate.importing.yaml_text import BadYaml

FIXTURES = Path(__file__).parents[2] / "fixtures" / "litellm"
FILES = sorted(FIXTURES.glob("*.yaml"))


def imported(**sections: Any) -> Imported:
    return import_litellm(yaml.safe_dump(sections))


def toml(**sections: Any) -> dict[str, Any]:
    return tomllib.loads(imported(**sections).toml)


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_no_secret_of_the_source_comes_out(file: Path) -> None:
    text = file.read_text(encoding="utf-8")
    assert "plain-" not in str(import_litellm(text))
    tomllib.loads(import_litellm(text).toml)


def test_a_team_s_proxy() -> None:
    found = import_litellm((FIXTURES / "team.yaml").read_text(encoding="utf-8"))
    config = tomllib.loads(found.toml)
    assert config["routing"] == {"max_attempts": 5, "failures_before_cooldown": 4, "cooldown": "45s"}
    assert config["streaming"] == {"first_event_timeout": "120s", "idle_timeout": "120s"}
    assert config["database"] == {"retention": "30d"}
    assert config["admin"] == {"token": "env:LITELLM_MASTER_KEY"}
    assert config["keys"] == [{"name": "master", "key": "env:LITELLM_MASTER_KEY"}]
    assert (found.channels, found.models) == (len(config["channels"]), 4)
    serving = {one["name"]: one for one in config["channels"] if "gpt-4o" in one["models"]}
    ranked = sorted(serving, key=lambda name: -serving[name].get("priority", 0))
    assert ranked == ["openai", "azure", "azure-2", "anthropic-2"], (
        "order first, then the rest, then the fallback"
    )
    left = {note.path for note in found.left}
    assert {"litellm_settings.cache", "model_list[5]", "model_list[6].litellm_params"} <= left
    assert {variable.name for variable in found.variables} >= {"AZURE_API_KEY_EU", "REDIS_URL", "OPENAI_KEY"}


def test_without_a_master_key_there_are_a_token_and_a_key_to_choose() -> None:
    config = toml(model_list=[])
    assert config["admin"]["token"] == "env:TIDEGATE_ADMIN_TOKEN"
    assert config["keys"] == [{"name": "default", "key": "env:TIDEGATE_KEY"}]


@pytest.mark.parametrize(
    ("router", "module", "routing"),
    [
        ({}, {}, None),
        ({"num_retries": 0}, {}, {"max_attempts": 2}),
        ({"num_retries": 3}, {"num_retries": 9}, {"max_attempts": 4}),
        ({}, {"num_retries": 9}, {"max_attempts": 10}),
        ({"num_retries": 10**9}, {}, {"max_attempts": 1000}),
        ({"cooldown_time": 0.5}, {}, {"cooldown": "500ms"}),
        ({"disable_cooldowns": True, "cooldown_time": 5}, {}, {"cooldown": 0}),
        ({"allowed_fails": 0}, {"allowed_fails": 5}, {"failures_before_cooldown": 1}),
    ],
)
def test_the_router_s_settings(
    router: dict[str, Any], module: dict[str, Any], routing: dict[str, Any] | None
) -> None:
    assert toml(router_settings=router, litellm_settings=module).get("routing") == routing


@pytest.mark.parametrize(
    ("redis", "url"),
    [
        ({"redis_host": "r"}, "redis://r:6379/0"),
        ({"redis_host": "r", "redis_port": 1, "redis_db": 2}, "redis://r:1/2"),
        ({"redis_host": "r", "redis_password": "plain"}, "env:REDIS_URL"),
        ({"redis_host": "os.environ/R"}, "env:REDIS_URL"),
        ({"redis_url": "os.environ/R"}, "env:R"),
        ({"redis_url": "redis://:plain@r"}, "env:REDIS_URL"),
    ],
)
def test_redis_is_one_url_without_its_password(redis: dict[str, Any], url: str) -> None:
    assert toml(router_settings=redis)["redis"] == {"url": url}


def test_conversion_is_as_strict_as_it_was_told() -> None:
    assert "conversion" not in toml(litellm_settings={"drop_params": True})["keys"][0]
    assert toml(litellm_settings={"drop_params": False})["keys"][0]["conversion"] == "strict"


def test_nothing_is_swallowed() -> None:
    found = imported(
        router_settings={"a": 1},
        litellm_settings={"b": 2},
        general_settings={"c": 3, "maximum_spend_logs_retention_period": "soon"},
        environment_variables={"not a name": 1, "NAME": 2},
        guardrails=[1],
        unheard_of={},
    )
    assert {note.path for note in found.left} == {
        "router_settings.a",
        "litellm_settings.b",
        "general_settings.c",
        "general_settings.maximum_spend_logs_retention_period",
        "environment_variables.not a name",
        "guardrails",
        "unheard_of",
    }
    assert "NAME" in {variable.name for variable in found.variables}


@pytest.mark.parametrize("text", ["", "[]", "text", "5", "a: [", "\x00"])
def test_what_is_no_config_is_refused(text: str) -> None:
    with pytest.raises(BadYaml):
        import_litellm(text)


NAMES = st.sampled_from(
    [
        *(
            "model_list",
            "litellm_params",
            "model_info",
            "model_name",
            "model",
            "api_key",
            "api_base",
            "order",
        ),
        *("router_settings", "litellm_settings", "general_settings", "environment_variables", "fallbacks"),
        *("default_fallbacks", "model_group_alias", "credential_list", "extra_headers", "weight", "timeout"),
        *("redis_host", "redis_url", "master_key", "input_cost_per_token", "num_retries", "drop_params", "*"),
    ]
)
LEAVES = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.sampled_from(
        [
            "",
            "*",
            "gpt",
            "openai/gpt",
            "azure/gpt",
            "os.environ/A",
            "http://a/v1",
            "1e-6",
            "plain-secret",
            "北京",
        ]
    )
)
JUNK = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=5),
    max_leaves=20,
)


@given(sections=st.dictionaries(NAMES, JUNK, max_size=6))
def test_no_mapping_is_too_odd(sections: dict[str, Any]) -> None:
    tomllib.loads(imported(**sections).toml)


@given(
    params=st.dictionaries(NAMES, LEAVES, max_size=6),
    secrets=st.dictionaries(
        st.sampled_from(["api_key", "x", "headers", "extra_headers", "azure_ad_token"]),
        st.just("plain-secret") | st.just({"x-token": "plain-secret"}),
    ),
)
def test_no_secret_of_a_deployment_comes_out(params: dict[str, Any], secrets: dict[str, Any]) -> None:
    told = {name: value for name, value in params.items() if value != "plain-secret"}
    entry = {"model_name": "a", "litellm_params": {**told, "model": "openai/gpt", **secrets}}
    assert "plain-secret" not in str(
        imported(model_list=[entry], general_settings={"master_key": "plain-secret"})
    )
