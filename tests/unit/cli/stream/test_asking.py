"""Where and how `tidegate stream` asks."""

import json

import pytest

from tidegate.cli.stream.asking import BadUrl, question
from tidegate.core.protocol import Protocol


@pytest.mark.parametrize(
    ("protocol", "given", "called"),
    [
        (Protocol.CHAT, "http://h:1", "http://h:1/v1/chat/completions"),
        (Protocol.CHAT, "http://h:1/v1/", "http://h:1/v1/chat/completions"),
        (Protocol.CHAT, "https://h/v1beta/openai", "https://h/v1beta/openai/chat/completions"),
        (Protocol.RESPONSES, "https://h/api", "https://h/api/v1/responses"),
        (Protocol.RESPONSES, "https://h/v1", "https://h/v1/responses"),
        (Protocol.MESSAGES, "https://h", "https://h/v1/messages"),
        (Protocol.MESSAGES, "https://h/v1", "https://h/v1/messages"),
        (Protocol.MESSAGES, "https://h/anthropic/", "https://h/anthropic/v1/messages"),
    ],
)
def test_the_base_url_works_with_and_without_v1(protocol: Protocol, given: str, called: str) -> None:
    asked = question(protocol, given, "m", "hi")
    assert asked.base_url + asked.path == called


def test_each_protocol_gets_its_smallest_streaming_request() -> None:
    bodies = {p: json.loads(question(p, "http://h", "m", "hi").body) for p in Protocol}
    assert all(body["model"] == "m" and body["stream"] is True for body in bodies.values())
    assert bodies[Protocol.CHAT]["stream_options"] == {"include_usage": True}
    assert bodies[Protocol.RESPONSES]["input"] == "hi"
    assert bodies[Protocol.MESSAGES]["max_tokens"] > 0


def test_extra_members_go_on_top() -> None:
    body = json.loads(question(Protocol.CHAT, "http://h", "m", "hi", {"model": "n", "seed": 1}).body)
    assert (body["model"], body["seed"]) == ("n", 1)


def test_messages_names_its_version() -> None:
    assert ("anthropic-version", "2023-06-01") in question(Protocol.MESSAGES, "http://h", "m", "hi").headers


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("localhost:8080", "http:// or https://"),
        ("ftp://h", "http:// or https://"),
        ("http://", "no host"),
        ("http://h:99999", "ort"),
        ("http://[::1", "Invalid"),
        ("http://h/v1?x=1", "query"),
    ],
)
def test_a_bad_url_is_refused_with_the_reason(url: str, why: str) -> None:
    with pytest.raises(BadUrl, match=why):
        question(Protocol.CHAT, url, "m", "hi")


def test_a_credential_in_the_url_is_refused_and_not_repeated() -> None:
    with pytest.raises(BadUrl) as refused:
        question(Protocol.CHAT, "http://me:hush@h/v1", "m", "hi")
    assert "hush" not in str(refused.value)
