import json

import pytest

from tidegate.core.secret import Secret
from tidegate.observe.redaction import MARK, Redactor

KEY = "sk-ant-api03-Ab_9-xyzXYZ012345"


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        (f"refused: {KEY}", KEY),
        (f"refused:{KEY}.", KEY),
        ("sk-proj-0123456789abcdef", "sk-proj-0123456789abcdef"),
        ("sk-tg-0123456789abcdef", "sk-tg-0123456789abcdef"),
        ("Authorization: Bearer abc.DEF_123~x", "abc.DEF_123~x"),
        ("authorization=bearer abcdef123", "abcdef123"),
        ("Authorization: Basic dXNlcjpwYXNz", "dXNlcjpwYXNz"),
        ("x-api-key: 0123456789", "0123456789"),
        ("X-Api-Key=0123456789", "0123456789"),
        ("{'x-api-key': 'abc-0123'}", "abc-0123"),
        ("[('x-api-key', 'abc-0123')]", "abc-0123"),
        ("[(b'X-API-Key', b'abc-0123')]", "abc-0123"),
        ('{"api_key":"abc-0123"}', "abc-0123"),
        (json.dumps('{"api_key": "abc-0123"}'), "abc-0123"),
        ("apikey=abc-0123&x=1", "abc-0123"),
        ("key AIzaSyA-0123456789_abcdefghijklmnopqrs", "AIzaSyA-0123456789_abcdefghijklmnopqrs"),
        ("AKIAIOSFODNN7EXAMPLE", "AKIAIOSFODNN7EXAMPLE"),
        ("gsk_0123456789abcdefghij", "gsk_0123456789abcdefghij"),
        ("xai-0123456789abcdefghij", "xai-0123456789abcdefghij"),
        ("eyJhbGciOiJI.eyJzdWIiOiIx.SflKxwRJSMeKKF2QT4", "SflKxwRJSMeKKF2QT4"),
        ("postgresql://tide:pass-word@db:5432/x", "pass-word"),
        ("http://proxy:pa%40ss@10.0.0.1:3128", "pa%40ss"),
        ("cookie: session=0123456789", "0123456789"),
    ],
)
def test_the_shapes_of_credentials_are_taken_out(text: str, secret: str) -> None:
    redacted = Redactor()(text)
    assert secret not in redacted
    assert MARK in redacted


@pytest.mark.parametrize(
    "text",
    [
        "request completed key=laptop account=acme",
        "risk-assessment of a task-oriented disk-controller",
        "type=api_error code=upstream_error",
        "http://127.0.0.1:8080/v1/models",
        "listening on https://gateway.example:8443",
        "the api key is missing",
        "invalid_api_key",
        "",
    ],
)
def test_ordinary_lines_stay_as_they_are(text: str) -> None:
    assert Redactor()(text) == text


def test_a_known_secret_is_found_whatever_its_shape() -> None:
    redact = Redactor()
    redact.register(Secret('pass "word"/ü'))
    plain = 'the pass "word"/ü leaked'
    assert redact(plain) == f"the {MARK} leaked"
    assert redact(json.dumps({"x": plain})) == json.dumps({"x": f"the {MARK} leaked"})
    assert redact("?key=pass%20%22word%22%2F%C3%BC&x") == f"?key={MARK}&x"


def test_a_known_secret_that_holds_another_goes_whole() -> None:
    redact = Redactor()
    redact.register(Secret("token-abc"))
    redact.register(Secret("token-abc-and-more"))
    assert redact("token-abc-and-more") == MARK


def test_a_short_secret_does_not_blank_out_words() -> None:
    redact = Redactor()
    redact.register(Secret("key"))
    redact.register(Secret(""))
    assert redact("key=laptop") == "key=laptop"


def test_redacting_twice_changes_nothing() -> None:
    once = Redactor()(f"Authorization: Bearer {KEY}; x-api-key: {KEY}")
    assert Redactor()(once) == once
