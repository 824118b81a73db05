"""Parameters that both OpenAI protocols have under one name, as a client sends them."""

from typing import Any

import pytest
from tests.unit.protocols.asking import CHAT_TO_RESPONSES, RESPONSES_TO_CHAT, Crossing

BOTH = [CHAT_TO_RESPONSES, RESPONSES_TO_CHAT]


@pytest.mark.parametrize("crossing", BOTH)
@pytest.mark.parametrize("body", [{"temperature": 1.7}, {"top_p": 0.2}, {"temperature": 0, "top_p": 0.5}])
def test_samplers_go_through(crossing: Crossing, body: dict[str, Any]) -> None:
    assert crossing.sent(body) == body
    assert crossing.lost(body) == []


@pytest.mark.parametrize("crossing", BOTH)
def test_models_without_samplers_get_none(crossing: Crossing) -> None:
    body = {"temperature": 0.5, "top_p": 1}
    assert crossing.sent(body, sampling=False) == {}
    assert crossing.lost(body, sampling=False) == ["dropped:temperature"]


@pytest.mark.parametrize("crossing", BOTH)
@pytest.mark.parametrize(
    "body", [{"user": "u"}, {"safety_identifier": "s"}, {"user": "u", "safety_identifier": "s"}]
)
def test_the_end_user_keeps_its_names(crossing: Crossing, body: dict[str, Any]) -> None:
    assert crossing.sent(body) == body


@pytest.mark.parametrize("crossing", BOTH)
@pytest.mark.parametrize("tier", ["default", "flex", "priority"])
def test_service_tiers_go_through(crossing: Crossing, tier: str) -> None:
    assert crossing.sent({"service_tier": tier}) == {"service_tier": tier}


def test_an_unknown_effort_is_refused() -> None:
    assert CHAT_TO_RESPONSES.refused({"reasoning_effort": "huge"}) == (
        "unsupported_value",
        "reasoning_effort",
    )
    assert RESPONSES_TO_CHAT.refused({"reasoning": {"effort": "huge"}}) == (
        "unsupported_value",
        "reasoning.effort",
    )


def test_an_unknown_output_format_is_refused() -> None:
    found = CHAT_TO_RESPONSES.refused({"response_format": {"type": "grammar"}})
    assert found == ("unsupported_value", "response_format.type")
    found = RESPONSES_TO_CHAT.refused({"text": {"format": {"type": "grammar"}}})
    assert found == ("unsupported_value", "text.format.type")


FLAT = {"name": "out", "schema": {"type": "object"}, "strict": True, "description": "d"}
IN_CHAT = {"response_format": {"type": "json_schema", "json_schema": FLAT}}
IN_RESPONSES = {"text": {"format": {"type": "json_schema", **FLAT}}}


def test_a_schema_goes_through_with_all_that_it_says() -> None:
    assert CHAT_TO_RESPONSES.sent(IN_CHAT) == IN_RESPONSES
    assert RESPONSES_TO_CHAT.sent(IN_RESPONSES) == IN_CHAT
    assert CHAT_TO_RESPONSES.lost(IN_CHAT) == RESPONSES_TO_CHAT.lost(IN_RESPONSES) == []


def test_json_mode_goes_through() -> None:
    chat = {"response_format": {"type": "json_object"}}
    responses = {"text": {"format": {"type": "json_object"}}}
    assert CHAT_TO_RESPONSES.sent(chat) == responses
    assert RESPONSES_TO_CHAT.sent(responses) == chat


def test_verbosity_goes_through() -> None:
    assert CHAT_TO_RESPONSES.sent({"verbosity": "low"}) == {"text": {"verbosity": "low"}}
    assert RESPONSES_TO_CHAT.sent({"text": {"verbosity": "low"}}) == {"verbosity": "low"}


@pytest.mark.parametrize(
    ("crossing", "body", "path"),
    [
        (CHAT_TO_RESPONSES, {"response_format": {"type": 7}}, "response_format.type"),
        (CHAT_TO_RESPONSES, {"max_tokens": 1.5}, "max_tokens"),
        (RESPONSES_TO_CHAT, {"text": {"verbosity": 7}}, "text.verbosity"),
        (RESPONSES_TO_CHAT, {"reasoning": {"effort": 7}}, "reasoning.effort"),
    ],
)
def test_a_wrong_type_is_named(crossing: Crossing, body: dict[str, Any], path: str) -> None:
    assert crossing.refused(body) == ("invalid_request", path)
