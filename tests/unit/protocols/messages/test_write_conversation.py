"""Parameters for a messages channel, row by row of conversion.md §2 and §6."""

from hashlib import sha256
from typing import Any

import pytest
from tests.unit.protocols.messages.conversing import (
    C,
    R,
    chat,
    converted,
    refused,
    responses,
    user,
    write,
)

from tidegate.core.failure import Failure, Kind
from tidegate.core.protocol import Protocol
from tidegate.protocols.conversion import Written
from tidegate.protocols.messages.request import read_request
from tidegate.protocols.messages.write_conversation import JSON_INSTRUCTION

SCHEMA = {"type": "object", "properties": {"a": {"type": "string"}}}


def sent(protocol: Protocol, **members: Any) -> tuple[dict[str, Any], list[str]]:
    """What goes up beside the prompt."""
    abilities = {name: members.pop(name) for name in ("sampling", "structured_output") if name in members}
    request = chat(**members) if protocol is C else responses(**members)
    body, lost = converted(protocol, request, **abilities)
    plain = ("model", "messages", "stream", "max_tokens")
    return {name: value for name, value in body.items() if name not in plain}, lost


@pytest.mark.parametrize(
    ("protocol", "members", "limit"),
    [
        (C, {}, 4096),
        (R, {}, 4096),
        (C, {"max_tokens": 5}, 5),
        (C, {"max_completion_tokens": 7}, 7),
        (C, {"max_completion_tokens": 7, "max_tokens": 5}, 5),
        (R, {"max_output_tokens": 9}, 9),
    ],
)
def test_there_is_always_an_output_limit(protocol: Protocol, members: dict[str, Any], limit: int) -> None:
    body, _ = converted(protocol, chat(**members) if protocol is C else responses(**members))
    assert body["max_tokens"] == limit


TABLE: list[tuple[Protocol, dict[str, Any], dict[str, Any], list[str]]] = [
    (C, {"temperature": 0.5}, {"temperature": 0.5}, []),
    (C, {"temperature": 1.5}, {"temperature": 1.0}, ["clamped:temperature"]),
    (R, {"temperature": 1.5}, {"temperature": 1.0}, ["clamped:temperature"]),
    (C, {"temperature": 1}, {}, []),
    (C, {"temperature": 1, "sampling": False}, {}, []),
    (C, {"temperature": 0.5, "sampling": False}, {}, ["dropped:temperature"]),
    (C, {"top_p": 0.5}, {"top_p": 0.5}, []),
    (C, {"top_p": 0.5, "temperature": 0}, {"temperature": 0}, ["dropped:top_p"]),
    (C, {"top_p": 1, "temperature": 0}, {"temperature": 0}, []),
    (R, {"top_p": 0.5, "sampling": False}, {}, ["dropped:top_p"]),
    (C, {"stop": "END"}, {"stop_sequences": ["END"]}, []),
    (C, {"stop": ["A", "B"]}, {"stop_sequences": ["A", "B"]}, []),
    (C, {"stop": ["A", "\n"]}, {"stop_sequences": ["A"]}, ["approximated:stop"]),
    (C, {"stop": []}, {}, []),
    (C, {"n": 1, "logprobs": False, "presence_penalty": 0, "frequency_penalty": 0.0}, {}, []),
    (C, {"presence_penalty": 1}, {}, ["dropped:presence_penalty"]),
    (C, {"frequency_penalty": 1}, {}, ["dropped:frequency_penalty"]),
    (C, {"seed": 0}, {}, ["dropped:seed"]),
    (C, {"verbosity": "low"}, {}, ["dropped:verbosity"]),
    (R, {"text": {"verbosity": "low"}}, {}, ["dropped:text.verbosity"]),
    (C, {"user": "u"}, {"metadata": {"user_id": "u"}}, []),
    (C, {"user": "u", "safety_identifier": "s"}, {"metadata": {"user_id": "s"}}, []),
    (R, {"safety_identifier": "s"}, {"metadata": {"user_id": "s"}}, []),
    (C, {"user": "u" * 256}, {"metadata": {"user_id": "u" * 256}}, []),
    (
        C,
        {"user": "u" * 257},
        {"metadata": {"user_id": sha256(b"u" * 257).hexdigest()}},
        ["approximated:user"],
    ),
    (C, {"metadata": {"a": "b"}}, {}, ["dropped:metadata"]),
    (R, {"metadata": {"a": "b"}}, {}, ["dropped:metadata"]),
    (C, {"metadata": {}}, {}, []),
    (C, {"store": True}, {}, []),
    (R, {"store": True}, {}, []),
    (C, {"service_tier": "default"}, {"service_tier": "standard_only"}, []),
    (C, {"service_tier": "flex"}, {}, ["dropped:service_tier"]),
    (R, {"service_tier": "priority"}, {}, ["dropped:service_tier"]),
    (C, {"prompt_cache_key": "k", "prompt_cache_retention": "24h"}, {}, []),
    (R, {"prompt_cache_key": "k", "include": ["reasoning.encrypted_content"]}, {}, []),
    (C, {"stream": True, "stream_options": {"include_usage": True, "include_obfuscation": False}}, {}, []),
    (C, {"prediction": {"type": "content", "content": "x"}}, {}, ["dropped:prediction"]),
    (R, {"truncation": "auto", "max_tool_calls": 3}, {}, ["dropped:truncation", "dropped:max_tool_calls"]),
    (R, {"context_management": [{"type": "compaction"}]}, {}, ["dropped:context_management"]),
    (C, {"vendor_x": 1}, {}, ["dropped:vendor_x"]),
    (C, {"vendor_x": None}, {}, []),
    (C, {"response_format": {"type": "text"}}, {}, []),
    (
        C,
        {"response_format": {"type": "json_schema", "json_schema": {"name": "n", "schema": SCHEMA}}},
        {"output_config": {"format": {"type": "json_schema", "schema": SCHEMA}}},
        [],
    ),
    (
        R,
        {"text": {"format": {"type": "json_schema", "name": "n", "schema": SCHEMA, "strict": False}}},
        {"output_config": {"format": {"type": "json_schema", "schema": SCHEMA}}},
        [],
    ),
    (
        C,
        {"response_format": {"type": "json_object"}},
        {"system": [{"type": "text", "text": JSON_INSTRUCTION}]},
        ["approximated:response_format"],
    ),
]


@pytest.mark.parametrize(("protocol", "members", "wanted", "losses"), TABLE)
def test_a_parameter_is_sent_dropped_or_clamped(
    protocol: Protocol, members: dict[str, Any], wanted: dict[str, Any], losses: list[str]
) -> None:
    assert sent(protocol, **members) == (wanted, losses)


@pytest.mark.parametrize(
    ("protocol", "members", "param"),
    [
        (C, {"n": 2}, "n"),
        (C, {"logit_bias": {"1": 5}}, "logit_bias"),
        (C, {"logprobs": True}, "logprobs"),
        (R, {"include": ["message.output_text.logprobs"]}, "include"),
        (C, {"max_tokens": 0}, "max_tokens"),
        (C, {"modalities": ["text", "audio"], "audio": {"voice": "x"}}, "modalities"),
        (C, {"moderation": {"model": "m"}}, "moderation"),
        (R, {"previous_response_id": "resp_1"}, "previous_response_id"),
        (R, {"prompt": {"id": "p"}}, "prompt"),
        (C, {"response_format": {"type": "json_schema", "json_schema": {"name": "n"}}}, "response_format"),
    ],
)
def test_what_changes_the_answer_is_refused(protocol: Protocol, members: dict[str, Any], param: str) -> None:
    request = chat(**members) if protocol is C else responses(**members)
    failure = write(protocol, request)
    assert isinstance(failure, Failure), failure
    assert failure.kind in (Kind.UNSUPPORTED_PARAMETER, Kind.UNSUPPORTED_VALUE)
    assert (failure.param or "").startswith(param)


def test_a_schema_is_refused_where_the_model_takes_none() -> None:
    form = {"type": "json_schema", "json_schema": {"name": "n", "schema": SCHEMA}}
    assert refused(C, chat(response_format=form), structured_output=False) == "response_format"


def test_stop_strings_of_white_space_are_left_to_the_gateway() -> None:
    written = write(C, chat(stop=["A", "\n", "\n\n"]))
    assert isinstance(written, Written)
    assert written.stops == ("\n", "\n\n")


def test_the_channel_is_asked_for_a_stream_only_where_one_is_wanted() -> None:
    body, _ = converted(C, chat())
    assert body["stream"] is True


def test_what_is_written_is_a_messages_request() -> None:
    written = write(R, responses(user(), instructions="Be brief.", tools=[{"type": "function", "name": "f"}]))
    assert isinstance(written, Written)
    assert not isinstance(read_request(written.body), Failure)
