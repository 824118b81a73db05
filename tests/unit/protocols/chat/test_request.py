"""Chat requests: what is refused, what is read, and which bytes go up."""

import json

import pytest
from msgspec import structs

from tidegate.core.failure import Failure, Kind
from tidegate.protocols.base import Asked, Repair
from tidegate.protocols.chat.request import prompt_texts, read_request, repair, write_repaired, write_request

MESSAGES = b'"messages":[{"role":"user","content":"hi"}]'


def body(rest: bytes = b"") -> bytes:
    return b'{"model":"m",' + MESSAGES + rest + b"}"


def read(text: bytes) -> Asked:
    asked = read_request(text)
    assert isinstance(asked, Asked), asked
    return asked


def refused(text: bytes) -> Failure:
    failure = read_request(text)
    assert isinstance(failure, Failure), text
    return failure


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
        (b"", None),
        (b"{" + MESSAGES + b"}", "model"),
        (b'{"model":"m"}', "messages"),
        (b'{"model":"m","messages":"hi"}', "messages"),
        (b'{"model":"m","messages":[]}', "messages"),
        (body(b',"temperature":1,"temperature":2'), "temperature"),
        (body(b',"stream":"yes"'), "stream"),
        (body(b',"tools":{}'), "tools"),
        (body(b',"stop":4'), "stop"),
        (body(b',"n":0'), "n"),
        (body(b',"n":129'), "n"),
        (body(b',"n":1.5'), "n"),
        (body(b',"n":' + b"9" * 5000), "n"),
        (body(b',"stream_options":{"include_usage":true}'), "stream_options"),
        (body(b',"stream":false,"stream_options":{}'), "stream_options"),
        (body(b',"stream":true,"stream_options":[]'), "stream_options"),
        (body(b',"stream":true,"stream_options":{"include_usage":1}'), "stream_options.include_usage"),
        (
            body(b',"stream":true,"stream_options":{"include_usage":true,"include_usage":false}'),
            "stream_options.include_usage",
        ),
    ],
)
def test_wrong_requests_are_refused_and_the_field_named(text: bytes, param: str | None) -> None:
    failure = refused(text)
    assert (failure.kind, failure.param) == (Kind.INVALID_REQUEST, param)
    assert failure.message


def test_a_member_twice_is_named_in_the_message() -> None:
    assert "`temperature`" in refused(body(b',"temperature":0,"temperature":1')).message


@pytest.mark.parametrize(
    ("rest", "stream", "choices", "wants_usage"),
    [
        (b"", False, 1, False),
        (b',"stream":null,"n":null,"stream_options":null', False, 1, False),
        (b',"stream":true,"n":3', True, 3, False),
        (b',"stream":true,"stream_options":{"include_usage":true}', True, 1, True),
        (b',"stream":true,"stream_options":{"include_usage":null}', True, 1, False),
        (b',"stream":false,"n":128', False, 128, False),
    ],
)
def test_what_the_gateway_needs_is_read(rest: bytes, stream: bool, choices: int, wants_usage: bool) -> None:
    asked = read(body(rest))
    assert (asked.model, asked.stream, asked.choices, asked.wants_usage) == (
        "m",
        stream,
        choices,
        wants_usage,
    )


def test_ranges_and_vendor_members_are_left_to_the_upstream() -> None:
    text = body(b',"temperature":99,"vendor_x":[1],"top_k":5,"max_tokens":-1')
    assert write_request(read(text), "m") == text


def test_only_the_model_changes_without_a_stream() -> None:
    text = b'{ "seed":1 ,\n "model" :"m" , ' + MESSAGES + b', "x":"\\ud800\\u0041", "big":1e999 }'
    assert write_request(read(text), "up") == text.replace(b'"m"', b'"up"', 1)


def test_a_byte_order_mark_does_not_go_up() -> None:
    assert write_request(read(b"\xef\xbb\xbf" + body()), "m") == body()


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b',"stream":true,"z":1', b',"stream":true,"stream_options":{"include_usage":true},"z":1'),
        (b',"stream":true,"stream_options":null', b',"stream":true,"stream_options":{"include_usage":true}'),
        (
            b',"stream_options": { },"stream":true',
            b',"stream_options": {"include_usage":true },"stream":true',
        ),
        (
            b',"stream_options":{ "include_obfuscation" : false },"stream":true',
            b',"stream_options":{"include_usage":true, "include_obfuscation" : false },"stream":true',
        ),
        (
            b',"stream":true,"stream_options":{"a":1, "include_usage" : false, "b":2}',
            b',"stream":true,"stream_options":{"a":1, "include_usage" : true, "b":2}',
        ),
        (
            b',"stream":true,"stream_options":{"include_usage":null}',
            b',"stream":true,"stream_options":{"include_usage":true}',
        ),
        (
            b',"stream":true,"stream_options":{"include_usage": true}',
            b',"stream":true,"stream_options":{"include_usage": true}',
        ),
        (b',"stream":false,"stream_options":null', b',"stream":false,"stream_options":null'),
    ],
)
def test_streams_ask_for_usage_and_keep_other_options(before: bytes, after: bytes) -> None:
    assert write_request(read(body(before)), "m") == body(after)


def test_a_stream_that_is_told_its_usage_anyway_asks_for_it_whatever_the_caller_said() -> None:
    told = structs.replace(
        read(body(b',"stream":true,"stream_options":{"include_usage":false}')), wants_usage=True
    )
    assert write_request(told, "m") == body(b',"stream":true,"stream_options":{"include_usage":true}')


def with_history(*messages: object) -> bytes:
    return json.dumps({"model": "m", "messages": [{"role": "user", "content": "q"}, *messages]}).encode()


def test_own_carriers_are_taken_out_and_foreign_details_stay() -> None:
    own = {"type": "reasoning.encrypted", "index": 0, "data": "tgr1.AAAA"}
    foreign = {"type": "reasoning.encrypted", "index": 1, "data": "gAAAA"}
    text = with_history(
        {"role": "assistant", "content": "a", "reasoning_details": [own, foreign]},
        {"role": "assistant", "content": "b", "reasoning_details": [own]},
        {"role": "assistant", "content": None, "reasoning_details": [own]},
        {"role": "assistant", "reasoning_content": "r", "reasoning_details": [own]},
        {"role": "user", "content": "why tgr1. here?"},
    )
    sent = json.loads(write_request(read(text), "m"))
    assert sent["messages"][1:] == [
        {"role": "assistant", "content": "a", "reasoning_details": [foreign]},
        {"role": "assistant", "content": "b"},
        {"role": "assistant", "reasoning_content": "r"},
        {"role": "user", "content": "why tgr1. here?"},
    ]


def test_reasoning_content_and_foreign_details_pass_as_they_are() -> None:
    text = with_history({"role": "assistant", "content": "a", "reasoning_content": "r", "tool_calls": []})
    assert write_request(read(text), "m") == text


def test_the_word_of_a_carrier_in_a_text_changes_nothing() -> None:
    text = with_history({"role": "assistant", "content": "tgr1.x"}, {"role": "user", "content": "tgr1."}, 7)
    assert write_request(read(text), "m") == text


@pytest.mark.parametrize(
    "failure",
    [
        refusal("Unknown parameter: 'stream_options'."),
        refusal("Extra inputs are not permitted", param="stream_options.include_usage"),
        refusal("bad request", status=404, detail='{"loc":["body","stream_options"]}'),
    ],
)
def test_a_refusal_of_stream_options_is_repaired_by_leaving_them_out(failure: Failure) -> None:
    asked = read(body(b',"stream":true,"stream_options":{"include_usage":true},"z":1'))
    assert repair(asked, failure) is Repair.STREAM_OPTIONS
    assert write_repaired(asked, "up", Repair.STREAM_OPTIONS) == body(b',"stream":true,"z":1').replace(
        b'"m"', b'"up"', 1
    )
    bare = read(body(b',"stream":true'))
    assert repair(bare, failure) is Repair.STREAM_OPTIONS
    assert write_repaired(bare, "m", Repair.STREAM_OPTIONS) == bare.body


@pytest.mark.parametrize(
    "failure",
    [
        refusal("temperature is wrong"),
        refusal("stream_options", status=422),
        refusal("stream_options", status=500),
    ],
)
def test_other_refusals_are_not_repaired(failure: Failure) -> None:
    assert repair(read(body(b',"stream":true')), failure) is None


def test_nothing_is_repaired_where_no_options_were_sent() -> None:
    assert repair(read(body()), refusal("stream_options is unknown")) is None


@pytest.mark.parametrize("other", [Repair.THINKING, Repair.REASONING])
def test_repairs_of_other_dialects_change_nothing(other: Repair) -> None:
    asked = read(body(b',"stream":true'))
    assert write_repaired(asked, "up", other) == write_request(asked, "up")


def test_the_prompt_is_messages_tools_and_schema() -> None:
    text = body(
        b',"tools":[{"type":"function","function":{"name":"f","parameters":{"type":"object"}}}]'
        b',"response_format":{"type":"json_schema","json_schema":{"name":"s","schema":{"type":"string"}}}'
        b',"user":"u","stop":"x"'
    )
    assert list(prompt_texts(read(text))) == [
        "hi",
        '[{"type":"function","function":{"name":"f","parameters":{"type":"object"}}}]',
        "s",
        '{"type":"string"}',
    ]
