from decimal import Decimal
from typing import Any

import pytest

from tidegate.core.protocol import Protocol
from tidegate.importing.deployments import Deployment, read_deployments
from tidegate.importing.members import Members
from tidegate.importing.notes import Notes


def read(notes: Notes, *entries: Any, **top: Any) -> list[Deployment]:
    return read_deployments(Members({"model_list": list(entries), **top}, "", notes), notes)


def entry(model: str, public: str = "a", info: dict[str, Any] | None = None, **params: Any) -> dict[str, Any]:
    return {
        "model_name": public,
        "litellm_params": {"model": model, "api_key": "os.environ/KEY", **params},
        "model_info": info or {},
    }


@pytest.mark.parametrize(
    ("model", "more", "provider", "upstream", "protocol"),
    [
        ("gpt-5", {}, "openai", "gpt-5", Protocol.CHAT),
        ("openai/gpt-5", {}, "openai", "gpt-5", Protocol.CHAT),
        ("openai/responses/gpt-5", {}, "openai", "gpt-5", Protocol.RESPONSES),
        ("claude-sonnet-5", {}, "anthropic", "claude-sonnet-5", Protocol.MESSAGES),
        ("anthropic/claude-sonnet-5", {}, "anthropic", "claude-sonnet-5", Protocol.MESSAGES),
        ("azure/o_series/my-o3", {"api_base": "https://a"}, "azure", "my-o3", Protocol.CHAT),
        ("azure/gpt5_series/mine", {"api_base": "https://a"}, "azure", "mine", Protocol.CHAT),
        ("azure/responses/mine", {"api_base": "https://a"}, "azure", "mine", Protocol.RESPONSES),
        ("facebook-opt", {"api_base": "http://a/v1"}, "openai", "facebook-opt", Protocol.CHAT),
        ("o3-mini", {}, "openai", "o3-mini", Protocol.CHAT),
        ("openrouter/meta/llama", {}, "openrouter", "meta/llama", Protocol.CHAT),
        ("meta/llama", {"custom_llm_provider": "groq"}, "groq", "meta/llama", Protocol.CHAT),
        ("groq/llama", {"custom_llm_provider": "groq"}, "groq", "llama", Protocol.CHAT),
    ],
)
def test_the_provider_stands_before_the_name(
    model: str, more: dict[str, Any], provider: str, upstream: str, protocol: Protocol
) -> None:
    notes = Notes()
    [found] = read(notes, entry(model, **more))
    assert (found.address.provider, found.upstream, found.address.protocol) == (provider, upstream, protocol)
    assert (found.address.api_key or dict(found.address.headers)["api-key"], notes.left) == ("env:KEY", [])


def test_what_is_told_of_a_deployment_is_read() -> None:
    notes = Notes()
    [found] = read(
        notes,
        entry(
            "anthropic/claude",
            order=2,
            weight=3,
            rpm=5,
            timeout=30,
            stream_timeout="10",
            max_tokens=100,
            extra_headers={
                "X-Team": "search",
                "x-token": "plain-secret",
                "anthropic-beta": "a-long-word-2025-08",
            },
            info={"mode": "chat", "id": "x", "input_cost_per_token": "1e-6", "output_cost_per_token": 0},
        ),
    )
    assert (found.order, found.weights) == (2, (Decimal(3), Decimal(5), None))
    assert (found.first_event_timeout, found.idle_timeout) == (Decimal(10), Decimal(30))
    assert found.max_output_tokens == 100
    assert found.headers == (
        ("x-team", "search"),
        ("x-token", "env:HEADER_X_TOKEN"),
        ("anthropic-beta", "a-long-word-2025-08"),
    )
    assert found.pricing is not None
    assert [note.path for note in notes.left] == ["model_list[0].model_info.id"]
    assert [note.path for note in notes.changed] == [
        "model_list[0].litellm_params.timeout",
        "model_list[0].litellm_params.rpm",
    ]


def test_credentials_are_found_by_their_names() -> None:
    notes = Notes()
    credentials = [
        {"credential_name": "c", "credential_values": {"api_key": "os.environ/C", "api_base": "http://c/v1"}},
        {"credential_name": "broken"},
    ]
    named = entry("openai/gpt", litellm_credential_name="c")
    del named["litellm_params"]["api_key"]
    [found] = read(notes, named, credential_list=credentials)
    assert (found.address.base_url, found.address.api_key) == ("http://c/v1", "env:C")
    assert [note.path for note in notes.left] == ["credential_list[1]"]


@pytest.mark.parametrize(
    ("one", "words"),
    [
        ({"model_name": "a"}, "should have model_name"),
        ("text", "should hold names"),
        (entry(""), "is missing"),
        (entry("bedrock/claude"), "AWS"),
        (entry("vertex_ai/gemini"), "Google"),
        (entry("unheard/of"), "not known here"),
        (entry("gpt", custom_llm_provider="unheard"), "not known here"),
        (entry("gemini-1.5-pro", vertex_project="mine"), "names no provider"),
        (entry("os.environ/MODEL"), "read from the environment"),
        (entry("gpt-5", litellm_credential_name="gone"), "no name of the credential_list"),
        (entry("openai/ada", info={"mode": "embedding"}), "is for 'embedding'"),
        (entry("*", "*"), "every model of every provider"),
        (entry("openai/*", "openai/*"), "whole name"),
        (entry("openai/*-x", "*-x"), "elsewhere than at the end"),
        (entry("openai/gpt", extra_headers={"Host": "a"}), "sets itself"),
        (entry("openai/gpt", organization=["a", "b"]), "each organization"),
        (entry("openai/gpt", max_tokens=5), "adds no limit"),
        (entry("openai/gpt", temperature=0), "set it in the caller"),
        (entry("openai/gpt", never_heard_of=1), "is not known here"),
    ],
)
def test_what_cannot_be_carried_is_told(one: Any, words: str) -> None:
    notes = Notes()
    read(notes, one)
    assert words in " ".join(note.words for note in notes.left)


def test_a_pattern_is_carried_where_both_are_the_same() -> None:
    notes = Notes()
    assert [(one.public, one.upstream) for one in read(notes, entry("openai/gpt-*", "gpt-*"))] == [
        ("gpt-*", "*")
    ]
    assert notes.left == []
