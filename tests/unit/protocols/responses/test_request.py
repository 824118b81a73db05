"""Responses requests: what is refused, what is read, and which bytes go up."""

import json

import pytest

from tidegate.core.failure import Failure, Kind
from tidegate.protocols.base import Asked, Repair
from tidegate.protocols.responses.request import (
    prompt_texts,
    read_request,
    repair,
    write_repaired,
    write_request,
)

REASONING = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gAAA"}
CARRIER = {"type": "reasoning", "summary": [], "encrypted_content": "tgr1.AAAA"}
CALL = {"type": "function_call", "id": "fc_1", "call_id": "c1", "name": "f", "arguments": "{}"}
USER = {"role": "user", "content": "hi"}


def body(**members: object) -> bytes:
    return json.dumps({"model": "m", **members}).encode()


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
    ("text", "kind", "param"),
    [
        (b"nonsense", Kind.INVALID_REQUEST, None),
        (b'{"input":"hi"}', Kind.INVALID_REQUEST, "model"),
        (body(input=7), Kind.INVALID_REQUEST, "input"),
        (body(previous_response_id=["x"]), Kind.INVALID_REQUEST, "previous_response_id"),
        (body(store="no"), Kind.INVALID_REQUEST, "store"),
        (body(conversation="conv_1"), Kind.UNSUPPORTED_PARAMETER, "conversation"),
        (body(conversation={"id": "conv_1"}), Kind.UNSUPPORTED_PARAMETER, "conversation"),
        (body(background=True), Kind.UNSUPPORTED_PARAMETER, "background"),
        (body(input=[{"id": "x", "role": "user"}, 3]), Kind.INVALID_REQUEST, "input[1]"),
        (body(input=[{"id": "x", "content": "\ud800"}, 3]), Kind.INVALID_REQUEST, "input[1]"),
    ],
)
def test_wrong_requests_are_refused_and_the_field_named(text: bytes, kind: Kind, param: str | None) -> None:
    failure = read_request(text)
    assert isinstance(failure, Failure)
    assert (failure.kind, failure.param) == (kind, param)


def test_what_may_be_absent_or_null() -> None:
    asked = read(
        body(input=None, conversation=None, background=False, previous_response_id=None, stream=None)
    )
    assert (asked.stream, asked.stores, asked.response_ids, asked.item_ids) == (False, True, (), ())
    assert asked.wants_usage


@pytest.mark.parametrize(("store", "stores"), [(None, True), (True, True), (False, False)])
def test_an_answer_is_stored_unless_the_caller_declines(store: object, stores: bool) -> None:
    assert read(body(store=store)).stores is stores


def test_a_stored_response_is_told() -> None:
    assert read(body(previous_response_id="resp_1")).response_ids == ("resp_1",)


@pytest.mark.parametrize(
    ("items", "found"),
    [
        ([USER, {"type": "item_reference", "id": "msg_1"}, {"id": "msg_2"}], ("msg_1", "msg_2")),
        ([{"type": None, "id": "msg_3"}], ("msg_3",)),
        ([{"id": "msg_4", "role": "user", "content": "x"}, REASONING, CALL], ()),
        ([{"type": "item_reference", "id": 5}, {"type": "message", "content": "item_reference"}], ()),
        ([], ()),
    ],
)
def test_references_to_stored_items_are_found(items: list[object], found: tuple[str, ...]) -> None:
    assert read(body(input=items)).item_ids == found
    assert read(body(input=[*items, {"role": "user", "content": "\ud800"}])).item_ids == found


def test_a_reference_cannot_hide_behind_escapes() -> None:
    text = b'{"model":"m","input":[{"\\u0074ype":"item_referenc\\u0065","\\u0069d":"msg_1"}]}'
    assert read(text).item_ids == ("msg_1",)


def test_only_the_model_changes() -> None:
    text = (
        b'{ "input" : "hi",\n"model": "m", "stream":true, "tools":[{"type":"web_search"}], "vendor_x":1.50 }'
    )
    assert write_request(read(text), "up") == text.replace(b'"m"', b'"up"')
    assert write_request(read(text), "m") == text


def test_own_carriers_are_taken_out_and_native_reasoning_stays() -> None:
    text = body(input=[USER, CARRIER, REASONING, CALL, {"role": "user", "content": "tgr1."}])
    sent = json.loads(write_request(read(text), "m"))
    assert sent["input"] == [USER, REASONING, CALL, {"role": "user", "content": "tgr1."}]


@pytest.mark.parametrize(
    "failure",
    [
        refusal("The encrypted content gAAA...c90= could not be verified.", code="invalid_encrypted_content"),
        refusal("Encrypted content could not be decrypted or parsed."),
        refusal(
            "Item 'rs_1' of type 'reasoning' was provided without its required following item.", param="input"
        ),
        refusal("Item with id 'rs_1' not found. Items are not persisted when `store` is false.", status=404),
        refusal("bad request", detail='{"error":{"code":"invalid_encrypted_content"}}'),
        refusal("A reasoning item is missing: rs_1"),
    ],
)
def test_lost_reasoning_is_repaired_by_leaving_it_out(failure: Failure) -> None:
    reference = {"type": "item_reference", "id": "rs_9"}
    asked = read(body(input=[USER, REASONING, CALL, reference, CARRIER], stream=True))
    assert repair(asked, failure) is Repair.REASONING
    sent = write_repaired(asked, "up", Repair.REASONING)
    assert json.loads(sent) == {"model": "up", "input": [USER, CALL], "stream": True}
    assert json.dumps(CALL).encode() in sent


@pytest.mark.parametrize(
    "failure",
    [
        refusal("Unsupported value: 'reasoning.effort' does not support 'max'."),
        refusal("Item with id 'msg_1' not found."),
        refusal("invalid_encrypted_content", status=500),
    ],
)
def test_other_refusals_are_not_repaired(failure: Failure) -> None:
    assert repair(read(body(input=[USER, REASONING])), failure) is None


def test_nothing_is_repaired_where_the_input_has_no_reasoning() -> None:
    lost = refusal("lost", code="invalid_encrypted_content")
    assert repair(read(body(input=[USER, CALL])), lost) is None
    assert repair(read(body(input="rs_1")), lost) is None
    assert repair(read(body()), lost) is None


def test_refused_stream_options_are_left_out() -> None:
    asked = read(body(input=[CARRIER, USER], stream=True, stream_options={"include_obfuscation": False}))
    failure = refusal("Unknown parameter: 'stream_options'.")
    assert repair(asked, failure) is Repair.STREAM_OPTIONS
    sent = json.loads(write_repaired(asked, "m", Repair.STREAM_OPTIONS))
    assert sent == {"model": "m", "input": [USER], "stream": True}
    assert repair(read(body(input="hi", stream=True)), failure) is None


def test_the_repair_of_another_dialect_changes_nothing() -> None:
    asked = read(body(input=[USER, REASONING]))
    assert write_repaired(asked, "up", Repair.THINKING) == write_request(asked, "up")


def test_the_prompt_is_instructions_input_tools_and_schema() -> None:
    text = body(
        instructions="be brief",
        input=[
            {
                "type": "message",
                "id": "msg_1",
                "role": "user",
                "content": [{"type": "input_text", "text": "hi"}],
            },
            CALL,
            {"type": "function_call_output", "call_id": "c1", "output": "42"},
            {"type": "additional_tools", "role": "developer", "tools": [{"name": "exec"}]},
            REASONING,
        ],
        text={
            "format": {"type": "json_schema", "name": "s", "schema": {"type": "string"}},
            "verbosity": "low",
        },
    )
    assert list(prompt_texts(read(text))) == [
        *("be brief", "hi", "f", "{}", "42", '[{"name":"exec"}]', "s", '{"type":"string"}')
    ]
    assert list(prompt_texts(read(body(input="just this")))) == ["just this"]


def test_a_refusal_is_not_repaired_where_only_own_carriers_were_taken_out_already() -> None:
    assert repair(read(body(input=[CARRIER, USER])), refusal("x", code="invalid_encrypted_content")) is None
