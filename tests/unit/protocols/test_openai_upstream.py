"""What both OpenAI upstreams take from a Messages client, and bodies that cannot be written."""

from hashlib import sha256
from typing import Any

import pytest
from tests.unit.protocols.asking import (
    CHAT_TO_RESPONSES,
    MESSAGES_TO_CHAT,
    MESSAGES_TO_RESPONSES,
    RESPONSES_TO_CHAT,
    Crossing,
)

from tidegate.core.capability import MaxTokensField
from tidegate.core.failure import Failure, Kind
from tidegate.protocols.openai_upstream import encoded

BOTH = [MESSAGES_TO_CHAT, MESSAGES_TO_RESPONSES]
SCHEMA = {"type": "object", "properties": {"a": {}}, "required": ["a"], "additionalProperties": False}


@pytest.mark.parametrize("crossing", BOTH)
def test_a_user_id_becomes_a_safety_identifier(crossing: Crossing) -> None:
    body = {"metadata": {"user_id": "u" * 128}}
    assert crossing.sent(body) == {"safety_identifier": "u" * 128}
    assert crossing.lost(body) == []


@pytest.mark.parametrize("crossing", BOTH)
def test_a_long_user_id_becomes_its_hash(crossing: Crossing) -> None:
    body = {"metadata": {"user_id": "u" * 129}}
    assert crossing.sent(body) == {"safety_identifier": sha256(b"u" * 129).hexdigest()}
    assert crossing.lost(body) == ["approximated:metadata.user_id"]


def test_servers_of_the_old_limit_get_an_end_user_only_under_its_old_name() -> None:
    old = {"max_tokens_field": MaxTokensField.MAX_TOKENS}
    body = {"metadata": {"user_id": "u"}}
    assert "safety_identifier" not in MESSAGES_TO_CHAT.sent(body, **old)
    assert MESSAGES_TO_CHAT.lost(body, **old) == ["dropped:metadata.user_id"]
    assert RESPONSES_TO_CHAT.lost({"safety_identifier": "u"}, **old) == ["dropped:safety_identifier"]
    assert RESPONSES_TO_CHAT.sent({"user": "u"}, **old) == {"user": "u"}


@pytest.mark.parametrize("crossing", BOTH)
@pytest.mark.parametrize(("tier", "sent"), [("auto", "auto"), ("standard_only", "default")])
def test_service_tiers(crossing: Crossing, tier: str, sent: str) -> None:
    assert crossing.sent({"service_tier": tier}) == {"service_tier": sent}


@pytest.mark.parametrize("crossing", BOTH)
def test_an_unknown_service_tier_is_dropped(crossing: Crossing) -> None:
    assert crossing.lost({"service_tier": "gold"}) == ["dropped:service_tier"]


@pytest.mark.parametrize("crossing", BOTH)
def test_top_k_is_dropped_and_the_other_samplers_go_through(crossing: Crossing) -> None:
    body = {"top_k": 5, "temperature": 0.3, "top_p": 0.9}
    assert crossing.sent(body) == {"temperature": 0.3, "top_p": 0.9}
    assert crossing.lost(body) == ["dropped:top_k"]


@pytest.mark.parametrize("crossing", [CHAT_TO_RESPONSES, RESPONSES_TO_CHAT])
def test_a_limit_of_nothing_is_refused(crossing: Crossing) -> None:
    name = "max_tokens" if crossing is CHAT_TO_RESPONSES else "max_output_tokens"
    assert crossing.refused({name: 0}) == ("unsupported_value", name)


@pytest.mark.parametrize("crossing", BOTH)
def test_no_output_at_all_is_refused(crossing: Crossing) -> None:
    assert crossing.refused({"max_tokens": 0}) == ("unsupported_value", "max_tokens")


@pytest.mark.parametrize("crossing", BOTH)
def test_an_answer_that_is_begun_is_refused(crossing: Crossing) -> None:
    messages = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "{"}]
    assert crossing.refused({"messages": messages}) == ("unsupported_value", "messages[1]")


def structured(schema: dict[str, Any]) -> dict[str, Any]:
    return {"output_config": {"format": {"type": "json_schema", "schema": schema}}}


@pytest.mark.parametrize(("schema", "strict"), [(SCHEMA, True), ({"type": "object"}, False)])
def test_a_schema_is_strict_where_it_leaves_nothing_open(schema: dict[str, Any], strict: bool) -> None:
    members = {"name": "response", "schema": schema, "strict": strict}
    chat = MESSAGES_TO_CHAT.sent(structured(schema))
    assert chat == {"response_format": {"type": "json_schema", "json_schema": members}}
    responses = MESSAGES_TO_RESPONSES.sent(structured(schema))
    assert responses == {"text": {"format": {"type": "json_schema", **members}}}


@pytest.mark.parametrize("crossing", BOTH)
def test_a_channel_without_structured_output_refuses_a_schema(crossing: Crossing) -> None:
    found = crossing.refused(structured(SCHEMA), structured_output=False)
    assert found == ("unsupported_value", "output_config.format")


def test_a_body_nested_beyond_writing_is_refused() -> None:
    deep: Any = 0
    for _ in range(5000):
        deep = [deep]
    found = encoded({"input": deep})
    assert isinstance(found, Failure)
    assert found.kind is Kind.INVALID_REQUEST
