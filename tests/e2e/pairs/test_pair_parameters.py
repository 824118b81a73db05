"""Parameters of requests in every cross pair: what the upstream gets, what is warned of, what is refused."""

from typing import Any

import pytest
from tests.harness import settings
from tests.harness.crossing import cross
from tests.harness.dialects import CHAT, MESSAGES, RESPONSES, Side
from tests.harness.notation import Json
from tests.harness.pairs import CROSS, Pair
from tests.harness.stage import Stage
from tests.harness.together import together

C_R, C_M = Pair(CHAT, RESPONSES), Pair(CHAT, MESSAGES)
R_C, R_M = Pair(RESPONSES, CHAT), Pair(RESPONSES, MESSAGES)
M_C, M_R = Pair(MESSAGES, CHAT), Pair(MESSAGES, RESPONSES)
SCHEMA: Json = {
    "type": "object",
    "properties": {"a": {"type": "string"}},
    "required": ["a"],
    "additionalProperties": False,
}
EDITS: Json = {"edits": [{"type": "clear_thinking_20251015", "keep": "all"}]}
FLAT: Json = {"type": "json_schema", "name": "n", "schema": SCHEMA, "strict": True}
ABSENT = object()
"""The member must not be there."""
Case = tuple[Pair, str, Json, Json, list[str]]
"""Pair, kind of channel, the caller's members, the upstream's members, warnings."""


def chat_tool(name: str = "f", **more: object) -> Json:
    return {"type": "function", "function": {"name": name, "parameters": SCHEMA, **more}}


def flat_tool(name: str = "f", **more: object) -> Json:
    return {"type": "function", "name": name, "parameters": SCHEMA, **more}


def claude_tool(name: str = "f", **more: object) -> Json:
    return {"name": name, "input_schema": SCHEMA, **more}


LIMITS: list[Case] = [
    (C_M, "small", {}, {"max_tokens": 4096}, []),
    (C_M, "a", {}, {"max_tokens": 32000}, []),
    (C_M, "a", {"max_tokens": 77}, {"max_tokens": 77}, []),
    (C_M, "a", {"max_completion_tokens": 88}, {"max_tokens": 88}, []),
    (C_M, "a", {"max_completion_tokens": 88, "max_tokens": 77}, {"max_tokens": 77}, []),
    (R_M, "a", {"max_output_tokens": 99}, {"max_tokens": 99}, []),
    (R_M, "small", {"max_output_tokens": None}, {"max_tokens": 4096}, []),
    (M_C, "a", {"max_tokens": 55}, {"max_completion_tokens": 55, "max_tokens": ABSENT}, []),
    (M_C, "oldfield", {"max_tokens": 55}, {"max_tokens": 55, "max_completion_tokens": ABSENT}, []),
    (R_C, "a", {"max_output_tokens": 55}, {"max_completion_tokens": 55}, []),
    (C_R, "a", {"max_tokens": 55}, {"max_output_tokens": 55}, []),
    (C_R, "a", {"max_tokens": 5}, {"max_output_tokens": 16}, ["clamped:max_tokens"]),
    (M_R, "a", {"max_tokens": 5}, {"max_output_tokens": 16}, ["clamped:max_tokens"]),
]
SAMPLING: list[Case] = [
    (C_M, "a", {"temperature": 0.3, "top_p": 0.5}, {"temperature": 0.3}, ["dropped:top_p"]),
    (C_M, "a", {"top_p": 0.5}, {"top_p": 0.5}, []),
    (C_M, "a", {"temperature": 1.7}, {"temperature": 1.0}, ["clamped:temperature"]),
    (R_M, "a", {"temperature": 2}, {"temperature": 1.0}, ["clamped:temperature"]),
    (C_R, "a", {"temperature": 1.7, "top_p": 0.5}, {"temperature": 1.7, "top_p": 0.5}, []),
    (M_C, "a", {"temperature": 0.3, "top_p": 0.5}, {"temperature": 0.3, "top_p": 0.5}, []),
    (M_C, "a", {"top_k": 5}, {"top_k": ABSENT}, ["dropped:top_k"]),
    (M_R, "a", {"top_k": 5}, {"top_k": ABSENT}, ["dropped:top_k"]),
    (C_M, "a", {"seed": 7}, {"seed": ABSENT}, ["dropped:seed"]),
    (C_R, "a", {"presence_penalty": 1}, {"presence_penalty": ABSENT}, ["dropped:presence_penalty"]),
    (C_R, "a", {"n": 1, "logprobs": False, "stop": [], "seed": None}, {"n": ABSENT, "stop": ABSENT}, []),
    (C_M, "a", {"n": 1, "presence_penalty": 0, "store": None}, {"n": ABSENT, "store": ABSENT}, []),
]
OTHERS: list[Case] = [
    (C_M, "a", {"user": "u-1"}, {"metadata": {"user_id": "u-1"}}, []),
    (C_R, "a", {"metadata": {"k": "v"}}, {"metadata": {"k": "v"}}, []),
    (C_M, "a", {"metadata": {"k": "v"}}, {"metadata": ABSENT}, ["dropped:metadata"]),
    (M_C, "a", {"metadata": {"user_id": "u-1"}}, {"safety_identifier": "u-1"}, []),
    (M_R, "a", {"metadata": {"user_id": "u-1"}}, {"safety_identifier": "u-1", "store": False}, []),
    (R_C, "a", {"store": True}, {"store": ABSENT}, []),
    (C_R, "a", {}, {"store": False, "include": ["reasoning.encrypted_content"]}, []),
    (C_R, "a", {"verbosity": "low"}, {"text": {"verbosity": "low"}}, []),
    (C_M, "a", {"verbosity": "low"}, {"verbosity": ABSENT}, ["dropped:verbosity"]),
    (C_M, "a", {"prompt_cache_key": "k"}, {"prompt_cache_key": ABSENT}, []),
    (C_R, "a", {"prompt_cache_key": "k"}, {"prompt_cache_key": "k"}, []),
    (C_R, "a", {"service_tier": "flex"}, {"service_tier": "flex"}, []),
    (C_M, "a", {"service_tier": "default"}, {"service_tier": "standard_only"}, []),
    (C_M, "a", {"service_tier": "flex"}, {"service_tier": ABSENT}, ["dropped:service_tier"]),
    (M_C, "a", {"service_tier": "standard_only"}, {"service_tier": "default"}, []),
    *((pair, "a", {"vendor_x": 1}, {"vendor_x": ABSENT}, ["dropped:vendor_x"]) for pair in CROSS),
    (M_C, "a", {"context_management": EDITS}, {"context_management": ABSENT}, ["dropped:context_management"]),
    (M_R, "a", {"context_management": EDITS}, {"context_management": ABSENT}, ["dropped:context_management"]),
    (C_M, "a", {"odd name!": 1}, {}, ["dropped:odd%20name%21"]),
    (C_R, "a", {"logprobs": True, "top_logprobs": 2}, {"top_logprobs": 2}, []),
]


def nested(name: str = "n", **more: object) -> Json:
    """A schema as Chat has it."""
    return {"type": "json_schema", "json_schema": {"name": name, "schema": SCHEMA, **more}}


CLAUDE: Json = {"output_config": {"format": {"type": "json_schema", "schema": SCHEMA}}}
JSON_OBJECT: Json = {"type": "json_object"}
FORMATS: list[Case] = [
    (C_R, "a", {"response_format": nested(strict=True)}, {"text": {"format": FLAT}}, []),
    (R_C, "a", {"text": {"format": FLAT}}, {"response_format": nested(strict=True)}, []),
    (C_M, "a", {"response_format": nested()}, {**CLAUDE, "tools": ABSENT}, []),
    (R_M, "a", {"text": {"format": FLAT}}, {**CLAUDE, "tools": ABSENT}, []),
    (M_C, "a", CLAUDE, {"response_format": nested("response", strict=True)}, []),
    (M_R, "a", CLAUDE, {"text": {"format": {**FLAT, "name": "response"}}}, []),
    (C_R, "a", {"response_format": JSON_OBJECT}, {"text": {"format": JSON_OBJECT}}, []),
    (C_R, "a", {"response_format": {"type": "text"}}, {}, []),
]
EFFORTS: list[Case] = [
    (C_M, "adaptive", {"reasoning_effort": "high"}, {"output_config": {"effort": "high"}}, []),
    (
        C_M,
        "adaptive",
        {"reasoning_effort": "minimal"},
        {"output_config": {"effort": "low"}},
        ["approximated:reasoning_effort"],
    ),
    (C_M, "adaptive", {"reasoning_effort": "none"}, {"thinking": {"type": "disabled"}}, []),
    (C_M, "adaptive", {}, {"thinking": ABSENT, "output_config": ABSENT}, []),
    (
        C_M,
        "budget",
        {"reasoning_effort": "medium"},
        {"thinking": {"type": "enabled", "budget_tokens": 8192}, "max_tokens": 32000},
        [],
    ),
    (
        R_M,
        "adaptive",
        {"reasoning": {"effort": "max"}},
        {"thinking": {"type": "adaptive", "display": "summarized"}, "output_config": {"effort": "max"}},
        [],
    ),
    (C_R, "a", {"reasoning_effort": "high"}, {"reasoning": {"effort": "high", "summary": "auto"}}, []),
    (R_C, "efforts", {"reasoning": {"effort": "high"}}, {"reasoning_effort": "high"}, []),
    (M_C, "efforts", {"output_config": {"effort": "max"}}, {"reasoning_effort": "max"}, []),
    (
        M_C,
        "efforts",
        {"max_tokens": 9000, "thinking": {"type": "enabled", "budget_tokens": 8000}},
        {"reasoning_effort": "medium"},
        ["approximated:thinking.budget_tokens"],
    ),
    (
        M_R,
        "a",
        {"thinking": {"type": "adaptive"}, "output_config": {"effort": "high"}},
        {"reasoning": {"effort": "high", "summary": "auto"}},
        [],
    ),
]
TABLES = {"limits": LIMITS, "sampling": SAMPLING, "others": OTHERS, "formats": FORMATS, "efforts": EFFORTS}


def _check(asked: Json, wanted: Json) -> None:
    for name, value in wanted.items():
        if value is ABSENT:
            assert name not in asked
        else:
            assert asked.get(name) == value


@pytest.mark.parametrize("table", TABLES)
async def test_b136_b149_what_each_parameter_becomes(crossing: Stage, table: str) -> None:
    async def becomes(pair: Pair, kind: str, members: Json, wanted: Json, warnings: list[str]) -> None:
        crossed = await cross(crossing, pair, kind=kind, members=members)
        assert crossed.heard.text == "Hello"
        _check(crossed.asked, wanted)
        assert crossed.warnings == warnings
        row = await crossed.played.row()
        assert [entry for entry in row["warnings"] if entry in warnings] == warnings

    await together(
        {
            f"{number} {pair.name} {members}": becomes(pair, kind, members, wanted, warnings)
            for number, (pair, kind, members, wanted, warnings) in enumerate(TABLES[table])
        }
    )


REFUSED: list[tuple[Pair, str, Json, str, str]] = [
    (C_R, "a", {"n": 2}, "n", "unsupported_parameter"),
    (C_M, "a", {"n": 2}, "n", "unsupported_parameter"),
    (C_R, "a", {"logit_bias": {"5": 1}}, "logit_bias", "unsupported_parameter"),
    (C_M, "a", {"logit_bias": {"5": 1}}, "logit_bias", "unsupported_parameter"),
    (C_M, "a", {"logprobs": True}, "logprobs", "unsupported_parameter"),
    (R_C, "a", {"background": True}, "background", "unsupported_parameter"),
    (R_M, "a", {"conversation": "conv_1"}, "conversation", "unsupported_parameter"),
    (R_M, "a", {"prompt": {"id": "p"}}, "prompt", "unsupported_parameter"),
    (M_C, "a", {"container": "c_1"}, "container", "unsupported_parameter"),
    (
        M_R,
        "a",
        {"mcp_servers": [{"type": "url", "url": "https://x", "name": "x"}]},
        "mcp_servers",
        "unsupported_parameter",
    ),
    (C_M, "a", {"modalities": ["text", "audio"], "audio": {"voice": "v", "format": "wav"}}, "modalities", ""),
]


async def test_b148_what_is_refused_is_named_before_any_call(crossing: Stage) -> None:
    async def refused(pair: Pair, kind: str, members: Json, param: str, code: str) -> None:
        for mode in ("stream", "whole"):
            crossed = await cross(crossing, pair, kind=kind, mode=mode, members=members)
            reply = crossed.played.reply
            assert reply.status == 400, reply.body
            error = reply.json()["error"]
            assert error["type"] == "invalid_request_error"
            if pair.client is MESSAGES:
                assert param in error["message"]
            else:
                assert error["param"].startswith(param)
                assert error["code"] == code or not code
            assert crossed.asked == {}

    await together({f"{case[0].name} {case[2]}": refused(*case) for case in REFUSED})


async def test_b148_what_is_refused_has_a_row(crossing: Stage) -> None:
    crossed = await cross(crossing, C_M, members={"n": 2})
    row = await crossed.played.row()
    assert (row["status"], row["outcome"], row["attempts"]) == (400, "rejected", [])


async def test_b149_a_channel_without_schemas_is_told_so(crossing: Stage) -> None:
    format_ = {"type": "json_schema", "name": "n", "schema": SCHEMA}
    crossed = await cross(crossing, R_C, kind="noschema", members={"text": {"format": format_}})
    assert crossed.played.reply.status == 400
    assert crossed.played.reply.json()["error"]["param"].startswith("text.format")


async def test_b149_json_object_on_a_messages_channel_is_an_instruction(crossing: Stage) -> None:
    members = {"response_format": {"type": "json_object"}}
    crossed = await cross(crossing, C_M, members=members)
    assert crossed.asked["system"][-1]["text"]
    assert crossed.warnings == ["approximated:response_format"]


THINKERS = [("adaptive", 500), ("budget", 500), ("budget", 3000), ("a", 500)]


@pytest.mark.parametrize(("kind", "limit"), THINKERS)
async def test_b121_thinking_with_a_forced_tool_and_temperature_is_legal(
    crossing: Stage, kind: str, limit: int
) -> None:
    members = {"reasoning_effort": "high", "temperature": 0.2, "max_tokens": limit}
    members |= {"tools": [chat_tool()], "tool_choice": "required"}
    asked = (await cross(crossing, C_M, kind=kind, members=members)).asked
    thinking = asked.get("thinking", {"type": "disabled"})
    if thinking["type"] == "enabled":
        assert 1024 <= thinking["budget_tokens"] < asked["max_tokens"]
        assert "temperature" not in asked
        assert asked["tool_choice"]["type"] == "auto"
    assert asked["max_tokens"] == limit


@pytest.mark.parametrize("pair", CROSS, ids=lambda pair: pair.name)
async def test_strict_keys_refuse_what_would_be_lost(crossing: Stage, pair: Pair) -> None:
    lenient = await cross(crossing, pair, members={"vendor_x": 1}, key=settings.KEY)
    assert lenient.played.reply.status == 200
    strict = await cross(crossing, pair, members={"vendor_x": 1}, key=settings.STRICT_KEY)
    assert strict.played.reply.status == 400
    assert "vendor_x" in str(strict.played.reply.json()["error"])
    assert strict.asked == {}
    plain = await cross(crossing, pair, key=settings.STRICT_KEY)
    assert plain.heard.text == "Hello"


@pytest.mark.parametrize("side", [CHAT, RESPONSES, MESSAGES], ids=lambda side: side.name)
async def test_warnings_are_many_and_bounded(crossing: Stage, side: Side) -> None:
    pair = next(pair for pair in CROSS if pair.client is side)
    members: dict[str, Any] = {f"vendor_{number:03}": 1 for number in range(100)}
    crossed = await cross(crossing, pair, members=members)
    assert crossed.warnings[0] == "dropped:vendor_000"
    assert crossed.warnings[-1] == "more:68"
    assert len(crossed.warnings) == 33
    assert len((await crossed.played.row())["warnings"]) == 100
