from typing import Any

import pytest

from tidegate.core.protocol import Protocol
from tidegate.importing.addresses import Address, address_of
from tidegate.importing.members import Members
from tidegate.importing.notes import Notes
from tidegate.importing.providers import PROVIDERS


def found(notes: Notes, provider: str, protocol: Protocol = Protocol.CHAT, **params: Any) -> Address | None:
    members = Members(dict(params), "p", notes)
    return address_of(PROVIDERS[provider], protocol, "m/1", members, notes)


@pytest.mark.parametrize(
    ("provider", "params", "base_url", "api_key"),
    [
        ("openai", {}, "https://api.openai.com/v1", "env:OPENAI_API_KEY"),
        ("openai", {"api_key": "none"}, "https://api.openai.com/v1", ""),
        ("openai", {"api_base": "http://a:1/v1/"}, "http://a:1/v1", ""),
        ("openai", {"api_base": " http://a:1/v1 "}, "http://a:1/v1", ""),
        ("openai", {"api_base": "http://a/v1/chat/completions"}, "http://a/v1", ""),
        ("openai", {"base_url": "http://a/v1", "api_key": "plain"}, "http://a/v1", "env:OPENAI_KEY"),
        ("openai", {"api_base": "os.environ/BASE"}, "env:BASE", ""),
        ("ollama", {}, "http://localhost:11434/v1", ""),
        ("ollama", {"api_base": "http://a:11434"}, "http://a:11434/v1", ""),
        ("ollama", {"api_base": "http://a:11434/v1"}, "http://a:11434/v1", ""),
    ],
)
def test_where_a_model_is(provider: str, params: dict[str, Any], base_url: str, api_key: str) -> None:
    address = found(Notes(), provider, **params)
    assert address is not None
    assert (address.base_url, address.api_key, address.headers) == (base_url, api_key, ())


def test_anthropic_has_no_version_in_its_base() -> None:
    address = found(Notes(), "anthropic", Protocol.MESSAGES, api_base="https://a/v1/messages")
    assert address is not None
    assert address.base_url == "https://a"


@pytest.mark.parametrize(
    ("protocol", "params", "base_url"),
    [
        (
            Protocol.CHAT,
            {"api_base": "https://x.example/", "api_version": "2024-10-21"},
            "https://x.example/openai/deployments/m%2F1?api-version=2024-10-21",
        ),
        (
            Protocol.CHAT,
            {"api_base": "https://openai-eu.openai.azure.com/", "api_version": "1"},
            "https://openai-eu.openai.azure.com/openai/deployments/m%2F1?api-version=1",
        ),
        (
            Protocol.CHAT,
            {"api_base": "https://x.example/openai-proxy", "api_version": "1"},
            "https://x.example/openai-proxy/openai/deployments/m%2F1?api-version=1",
        ),
        (
            Protocol.CHAT,
            {"api_base": "https://x.example/openai/deployments/its%20own/chat/completions?api-version=2"},
            "https://x.example/openai/deployments/its%20own?api-version=2",
        ),
        (Protocol.CHAT, {"api_base": "https://x.example/a/openai/"}, "https://x.example/a/openai/v1"),
        (Protocol.CHAT, {"api_base": "https://x.example/openai/v1"}, "https://x.example/openai/v1"),
        (
            Protocol.RESPONSES,
            {"api_base": "https://x.example", "api_version": "preview"},
            "https://x.example/openai/v1",
        ),
        (Protocol.CHAT, {"api_version": "1"}, "env:AZURE_API_BASE_M_1"),
        (Protocol.CHAT, {"api_base": "os.environ/EU"}, "env:EU_M_1"),
    ],
)
def test_azure_has_the_model_in_its_url_and_the_key_in_a_header(
    protocol: Protocol, params: dict[str, str], base_url: str
) -> None:
    notes = Notes()
    address = found(notes, "azure", protocol, **params)
    assert address is not None
    assert (address.base_url, address.api_key) == (base_url, "")
    assert address.headers == (("api-key", "env:AZURE_API_KEY"),)
    if base_url.startswith("env:"):
        [variable] = [one for one in notes.variables if one.name == base_url.removeprefix("env:")]
        assert "/openai/" in variable.holds


@pytest.mark.parametrize(
    "base",
    [
        *("ftp://a", "a", "http://", "https://user:secret@a", "http://[", "http://a:0x"),
        *("http://a?key=secret", "http://a/openai/v1?api-version=1&key=secret"),
    ],
)
@pytest.mark.parametrize("provider", ["openai", "azure"])
def test_what_is_no_address_is_told_without_repeating_it(provider: str, base: str) -> None:
    notes = Notes()
    assert found(notes, provider, api_base=base, api_version="1") is None
    assert [note.words for note in notes.left if "address" in note.words]
    assert "secret" not in str(notes.left)


def test_what_nobody_can_know_is_told() -> None:
    notes = Notes()
    assert found(notes, "hosted_vllm") is None
    assert "api_base is missing" in notes.left[0].words


def test_a_key_that_is_not_told_is_not_sent_to_an_address_of_ones_own() -> None:
    notes = Notes()
    address = found(notes, "openai", api_base="http://a/v1")
    assert address is not None
    assert (address.api_key, notes.variables) == ("", ())
    assert [note.words for note in notes.changed] == [
        "is not told, so none is sent; LiteLLM would send OPENAI_API_KEY"
    ]
