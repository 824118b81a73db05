"""What may be read of an upstream's words, and what never."""

import time

import pytest

from tidegate.core.failure import Failure, Kind
from tidegate.protocols.cleaning import MAX_LENGTH, clean, cleaned_failure, cleaner

ORDINARY = [
    "The model `gpt-4.1-mini` does not exist",
    "messages.0.content: Input should be a valid string",
    "messages.12.content.0.id: Field required",
    "tools.0.custom.input_schema.type: Field required",
    "input[0].content[1].image_url must be a URL",
    "claude-3-5-sonnet-20241022: temperature 0.75 is above 0.5 in config.json, see README.md",
    "at least one message is required",
    "Bearer token is missing",
    "This key may not use model meta-llama-3.1-8b-instruct.",
    "max_tokens: 4096 > 2048, which is the maximum allowed number of output tokens",
    "prompt is too long: 210000 tokens > 200000 maximum",
    "Rate limit reached: 3.5 requests a second. Please try again in 20s.",
    "Item 'rs_68af4030baa48193b0b43b4c2a176a1a0e6967589f080e77' was provided without its following item.",
    "`n` must be 1 at 12:30:45 (v1.2.3)",
    "std::bad_alloc",
    "metadata.user.name: at most 64 characters",
    "Unknown key 'response_format_2025' in body",
    "Ungültige Anfrage: 温度 must be a number 🙂",
]


@pytest.mark.parametrize("message", ORDINARY)
def test_ordinary_text_stays_as_it_is(message: str) -> None:
    assert clean(message) == message


@pytest.mark.parametrize(
    ("message", "gone"),
    [
        ("Incorrect API key provided: sk-abc***. Find it at https://platform.vendor.com/keys.", "sk-abc"),
        ("Incorrect API key provided: sk-abc***. Find it at https://platform.vendor.com/keys.", "vendor"),
        ("bad key sk-ant-api03-Ab_c-9 given", "Ab_c"),
        ("key sk-proj…wxyz is wrong", "wxyz"),
        ("header authorization: Bearer abc.def-123", "abc.def-123"),
        ("Bearer abc123def was refused", "abc123def"),
        ("authorization: Basic dXNlcjpwYXNz", "dXNlcjpwYXNz"),
        ("api key: 0123456789abcdef0123456789abcdef", "0123456789abcdef"),
        ("key=AbCdEfGhIjKlMnOp1234", "AbCdEfGh"),
        ("The token `AbCdEfGhIjKlMnOp1234` is invalid", "AbCdEfGh"),
        ("abcdef0123456789abcdef is not a valid API key", "abcdef0123456789"),
        ("your key ends in wx9z", "wx9z"),
        ("key AIzaSyA-1234567890abcdef", "SyA-1234"),
        ("token eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln", "eyJzdWIi"),
        ("limit for organization org-AbCdEf123456 reached", "AbCdEf123456"),
        ("gsk_abcdefghij1234567890 refused", "abcdefghij"),
        ("dial tcp 10.1.2.3:443: connect: connection refused", "10.1.2.3"),
        ("connect to 192.168.0.7 failed", "192.168"),
        ("no such host: api.acme.internal:8443", "acme"),
        ("HTTPConnectionPool(host='vllm', port=8000): Max retries exceeded", "vllm"),
        ("dial tcp: lookup backend on 10.0.0.2:53: no such host", "backend"),
        ("getaddrinfo ENOTFOUND backend", "backend"),
        ("[::1]:80 refused", "::1"),
        ("fe80::1234:5678 refused", "fe80"),
        ("2001:db8:0:0:0:0:0:1 refused", "2001:db8"),
        ("localhost:8000 is down", "localhost"),
        ("upstream vllm-worker-0:8000 is down", "vllm-worker"),
        ("mail ops@acme.example.de please", "acme"),
    ],
)
def test_keys_and_addresses_go(message: str, gone: str) -> None:
    cleaned = clean(message)
    assert gone not in cleaned
    assert "[redacted]" in cleaned


@pytest.mark.parametrize(
    ("message", "left"),
    [
        ('boom\nTraceback (most recent call last):\n  File "/app/x.py", line 3, in f', "boom"),
        ("TypeError: x is no y\n    at foo (/app/x.js:1:2)\n    at bar (/y.js:3:4)", "TypeError: x is no y"),
        ("java.lang.Error: no\n\tat com.acme.Main.run(Main.java:12)\n\t... 3 more", "java.lang.Error: no"),
        ("panic: nil\n\ngoroutine 1 [running]:\nmain.main()", "panic: nil"),
        (r"Error: no\n    at foo (x.js:1:2)", "Error: no"),
        ("Error: boom at Object.<anonymous> (/app/server.js:10:5)", "Error: boom"),
        ("two\r\nlines\twith\x07 bells\x85", "two lines with  bells"),
        ("zero\u200bwidth and \u202ebidi", "zerowidth and bidi"),
        ("half a \ud83d pair", "half a \ufffd pair"),
    ],
)  # fmt: skip
def test_traces_and_control_characters_go(message: str, left: str) -> None:
    assert clean(message) == left


@pytest.mark.parametrize("message", ["", "  ", "\x00\x01", "<html><body>502</body></html>", "https://a.b/c"])
def test_where_nothing_is_left_the_standard_words_stand(message: str) -> None:
    assert clean(message, fallback="It failed.") == "It failed."


def test_the_channels_own_secret_and_host_go_in_every_form() -> None:
    secret = "abcd1234efgh5678zz"
    message = f"{secret} abcd1234*** abcd1234 ...78zz"
    message += " API.Up.Example.org:44 x.api.up.example.org. upshost upshost:80"
    cleaned = clean(message, [secret], ["api.up.example.org:443", "upshost"])
    for trace in ("abcd", "78zz", "example", "Example", "upshost"):
        assert trace not in cleaned


def test_a_single_word_host_goes_only_where_it_stands_alone() -> None:
    assert clean("ups at upsilon", hosts=["ups"]) == "[redacted] at upsilon"


def test_a_secret_that_only_appears_when_unseen_characters_are_gone_goes_too() -> None:
    assert "s3cr3tvalue" not in clean("the s3cr3t\u200bvalue is", ["s3cr3tvalue"])


def test_a_long_message_is_cut() -> None:
    assert clean("word " * 1000)[-1] == "…"
    assert len(clean("word " * 1000)) == MAX_LENGTH
    assert len(clean("x" * 100_000, fallback="long")) <= MAX_LENGTH


@pytest.mark.parametrize(
    "unit",
    ["a.", "a-", "key ", ":", "x", "abcd:", "*", " at ", "http", "é", "sk-", "[:", " ", "\n", "token aB1"],
)
def test_no_message_takes_long(unit: str) -> None:
    started = time.process_time()
    clean(unit * (1_000_000 // len(unit)), ["s3cr3t-s3cr3t-s3cr3t"], ["api.example.org"])
    assert time.process_time() - started < 10  # what grows with the square takes minutes


def test_a_cleaned_failure_has_neither_key_nor_host_anywhere() -> None:
    failure = Failure(
        kind=Kind.INVALID_REQUEST,
        message="see https://x.example/a",
        type="invalid_request_error",
        code="sk-abc123",
        param="messages.0.content",
        detail="key sk-abc123",
    )
    cleaned = cleaned_failure(failure, cleaner())
    assert cleaned.message == "see [redacted]"
    assert (cleaned.type, cleaned.code, cleaned.param) == (
        "invalid_request_error",
        None,
        "messages.0.content",
    )
    assert cleaned.detail == "key [redacted]"


def test_a_failure_without_readable_words_gets_those_of_its_kind() -> None:
    failure = Failure(kind=Kind.OVERLOADED, message="<html></html>")
    assert cleaned_failure(failure, cleaner()).message == "Overloaded"
    assert cleaned_failure(Failure(kind=Kind.OVERLOADED, message=""), cleaner()).message == "Overloaded"


def test_a_host_that_is_not_told_takes_nothing_away() -> None:
    assert clean("a plain sentence", ["", "abc"], ["", ":443"]) == "a plain sentence"
    assert (
        clean("id 550e8400-e29b and token aaaaaaaaaaaaaaaa") == "id 550e8400-e29b and token aaaaaaaaaaaaaaaa"
    )


def test_a_secret_that_begins_like_a_word_takes_no_other_words_away() -> None:
    assert (
        clean("upstream failed for upstream00000000", ["upstream00000000"])
        == "upstream failed for [redacted]"
    )
