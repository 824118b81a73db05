"""Messages requests: what is refused, what is read, and which bytes go up."""

import json

import pytest

from tidegate.core.failure import Failure, Kind
from tidegate.protocols.base import Asked, Repair
from tidegate.protocols.messages.request import (
    prompt_texts,
    read_count_request,
    read_request,
    repair,
    write_repaired,
    write_request,
)

USER = {"role": "user", "content": "hi"}
THINKING = {"type": "thinking", "thinking": "hm", "signature": "EqQB=="}
REDACTED = {"type": "redacted_thinking", "data": "ENC"}
CARRIER = {"type": "thinking", "thinking": "", "signature": "tgr1.AAAA"}
CALL = {"type": "tool_use", "id": "t1", "name": "f", "input": {}}
RESULT = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "42"}]}
MANUAL = {"type": "enabled", "budget_tokens": 2048}
BAD_SIGNATURE = "messages.1.content.0: Invalid `signature` in `thinking` block"


def body(*messages: object, **members: object) -> bytes:
    return json.dumps(
        {"model": "m", "max_tokens": 9, "messages": list(messages or [USER]), **members}
    ).encode()


def said(*blocks: object) -> dict[str, object]:
    return {"role": "assistant", "content": list(blocks)}


def read(text: bytes) -> Asked:
    asked = read_request(text)
    assert isinstance(asked, Asked), asked
    return asked


def refusal(
    message: str,
    status: int = 400,
    code: str | None = None,
    param: str | None = None,
    detail: str | None = None,
) -> Failure:
    return Failure(
        kind=Kind.INVALID_REQUEST, status=status, message=message, code=code, param=param, detail=detail
    )


@pytest.mark.parametrize(
    ("text", "param"),
    [
        (b"[]", None),
        (b'{"max_tokens":1,"messages":[{}]}', "model"),
        (b'{"model":"m","max_tokens":1}', "messages"),
        (b'{"model":"m","max_tokens":1,"messages":[]}', "messages"),
        (b'{"model":"m","messages":[{}]}', "max_tokens"),
        (b'{"model":"m","max_tokens":null,"messages":[{}]}', "max_tokens"),
        (body(system=3), "system"),
        (body(tool_choice="auto"), "tool_choice"),
        (body(stream=1), "stream"),
    ],
)
def test_wrong_requests_are_refused_and_the_field_named(text: bytes, param: str | None) -> None:
    failure = read_request(text)
    assert isinstance(failure, Failure)
    assert (failure.kind, failure.param) == (Kind.INVALID_REQUEST, param)


def test_what_the_gateway_needs_is_read() -> None:
    asked = read(body(stream=True, context_management={"edits": []}, vendor_x=1))
    assert (asked.model, asked.stream, asked.choices, asked.wants_usage) == ("m", True, 1, True)


def test_counting_needs_no_output_limit() -> None:
    text = b'{"model":"m","messages":[{"role":"user","content":"hi"}]}'
    asked = read_count_request(text)
    assert isinstance(asked, Asked)
    assert write_request(asked, "m") == text
    assert isinstance(read_count_request(b"{}"), Failure)


def test_only_the_model_changes() -> None:
    text = (
        b'{ "max_tokens" : 9,"model":"m",\r\n"system":[{"type":"text","text":"S","cache_control":'
        b'{"type":"ephemeral","ttl":"1h"}}],"tool_choice":{"type":"auto","disable_parallel_tool_use":true},'
        b'"tools":[{"type":"web_search_20250305","name":"web_search","max_uses":5}],"messages":'
        b'[{"role":"user","content":"\\u00e9"},{"role":"assistant","content":[{"type":"thinking","thinking":"x",'
        b'"signature":"Eq+/=="},{"type":"redacted_thinking","data":"ENC"},{"type":"text","text":"t"}]}] }'
    )
    assert write_request(read(text), "m") == text
    assert write_request(read(text), "up") == text.replace(b'"m"', b'"up"', 1)


def test_own_carriers_are_taken_out_and_native_blocks_stay() -> None:
    own = {"type": "redacted_thinking", "data": "tgr1.BBBB"}
    text = body(
        USER,
        said(CARRIER, THINKING, CALL),
        RESULT,
        said(own, CARRIER),
        said(CALL, own),
        {"role": "user", "content": [CARRIER]},
        {"role": "assistant", "content": "tgr1."},
        thinking=MANUAL,
    )
    sent = json.loads(write_request(read(text), "m"))
    assert sent["messages"] == [
        USER,
        said(THINKING, CALL),
        RESULT,
        said(CALL),
        {"role": "user", "content": [CARRIER]},
        {"role": "assistant", "content": "tgr1."},
    ]
    assert sent["thinking"] == MANUAL


@pytest.mark.parametrize(
    "failure",
    [
        refusal(BAD_SIGNATURE),
        refusal("Bad request", detail=json.dumps({"error": {"message": BAD_SIGNATURE}})),
        refusal(
            "messages.3.content.8: `thinking` or `redacted_thinking` blocks in the latest assistant message "
            "cannot be modified. These blocks must remain as they were in the original response."
        ),
        refusal(
            "messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`. "
            "When `thinking` is enabled, a final `assistant` message must start with a thinking block"
        ),
        refusal("messages.1.content.0: Invalid `data` in `redacted_thinking` block"),
        refusal("messages.1.content.0.thinking.signature: Field required"),
    ],
)
def test_refused_thinking_is_repaired_by_leaving_it_out(failure: Failure) -> None:
    text = body(
        USER, said(THINKING, {"type": "text", "text": "t"}), USER, said(REDACTED), USER, thinking=MANUAL
    )
    asked = read(text)
    assert repair(asked, failure) is Repair.THINKING
    sent = write_repaired(asked, "up", Repair.THINKING)
    assert json.loads(sent) == {
        "model": "up",
        "max_tokens": 9,
        "messages": [USER, said({"type": "text", "text": "t"}), USER, USER],
        "thinking": MANUAL,
    }


@pytest.mark.parametrize(
    "failure",
    [
        refusal("thinking.budget_tokens: Input should be greater than or equal to 1024"),
        refusal("max_tokens: must be greater than thinking.budget_tokens"),
        refusal(BAD_SIGNATURE, status=500),
        refusal("prompt is too long"),
    ],
)
def test_other_refusals_are_not_repaired(failure: Failure) -> None:
    assert repair(read(body(USER, said(THINKING, CALL), RESULT, thinking=MANUAL)), failure) is None


def test_nothing_is_repaired_where_the_history_has_no_thinking() -> None:
    assert repair(read(body(USER, said(CALL), RESULT, thinking=MANUAL)), refusal(BAD_SIGNATURE)) is None


@pytest.mark.parametrize("last", [[RESULT], [RESULT, {"role": "system", "content": "note"}]])
def test_manual_thinking_is_switched_off_where_tool_calls_go_on(last: list[object]) -> None:
    asked = read(body(USER, said(THINKING, CALL), *last, thinking=MANUAL))
    sent = json.loads(write_repaired(asked, "m", Repair.THINKING))
    assert sent["thinking"] == {"type": "disabled"}
    assert sent["messages"] == [USER, said(CALL), *last]


def test_edits_that_need_thinking_go_with_it() -> None:
    clear = {"type": "clear_thinking_20251015", "keep": "all"}
    other = {"type": "clear_tool_uses_20250919"}
    asked = read(
        body(
            USER,
            said(THINKING, CALL),
            RESULT,
            thinking=MANUAL,
            context_management={"edits": [clear, other], "x": 1},
        )
    )
    sent = json.loads(write_repaired(asked, "m", Repair.THINKING))
    assert sent["context_management"] == {"edits": [other], "x": 1}


@pytest.mark.parametrize(
    ("thinking", "messages"),
    [
        ({"type": "adaptive"}, [USER, said(THINKING, CALL), RESULT]),
        (MANUAL, [USER, said(THINKING, CALL), RESULT, said(THINKING, {"type": "text", "text": "t"}), USER]),
        (MANUAL, [USER, said(THINKING, {"type": "text", "text": "t"})]),
        (None, [USER, said(THINKING, CALL), RESULT]),
    ],
)
def test_thinking_stays_as_asked_otherwise(thinking: object, messages: list[object]) -> None:
    asked = read(body(*messages, thinking=thinking))
    assert json.loads(write_repaired(asked, "m", Repair.THINKING))["thinking"] == thinking


def test_only_system_messages_continue_nothing() -> None:
    asked = read(body({"role": "system", "content": "s"}, thinking=MANUAL))
    assert write_repaired(asked, "m", Repair.THINKING) == asked.body


@pytest.mark.parametrize("other", [Repair.STREAM_OPTIONS, Repair.REASONING])
def test_repairs_of_other_dialects_change_nothing(other: Repair) -> None:
    asked = read(body(USER, said(THINKING, CALL), RESULT))
    assert write_repaired(asked, "up", other) == write_request(asked, "up")


def test_odd_messages_are_left_for_the_upstream_to_judge() -> None:
    text = body(
        1, [], {"role": "assistant"}, {"content": [CARRIER]}, said(3, "x"), {"role": 5, "content": "tgr1."}
    )
    assert write_request(read(text), "m") == text


def test_the_prompt_is_system_messages_tools_and_schema() -> None:
    text = body(
        USER,
        said(THINKING, REDACTED, {"type": "text", "text": "t"}, {**CALL, "input": {"a": 1}}),
        RESULT,
        system=[{"type": "text", "text": "S", "cache_control": {"type": "ephemeral", "ttl": "1h"}}],
        tools=[{"name": "f", "input_schema": {"type": "object"}}],
        output_config={"effort": "high", "format": {"type": "json_schema", "schema": {"type": "null"}}},
    )
    assert list(prompt_texts(read(text))) == [
        *("S", "hi", "hm", "t", "f", '{"a":1}', "42"),
        '[{"name":"f","input_schema":{"type":"object"}}]',
        '{"type":"null"}',
    ]


def test_a_refusal_is_not_repaired_where_only_own_carriers_were_taken_out_already() -> None:
    asked = read(body(USER, said(CARRIER, CALL), RESULT))
    assert repair(asked, refusal(BAD_SIGNATURE)) is None
