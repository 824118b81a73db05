"""What must not be kept is taken out, and no text makes that take long or stops the others."""

import threading
import time

import pytest
from tests.unit.observe.test_redaction import KEY

from tidegate.core.secret import Secret
from tidegate.observe.content_redaction import ContentRedactor, pattern_fault
from tidegate.observe.redaction import MARK, Redactor

EVIL = r"(?:a|aa)+[bc]$"
LONG = "a" * 60 + "d"


def test_known_secrets_and_the_shapes_of_credentials_go() -> None:
    known = Redactor()
    known.register(Secret("correct horse battery"))
    text = ContentRedactor(known, ())(f'{{"a":"correct horse battery","b":"{KEY}","x-api-key":"0123456789"}}')
    assert text == f'{{"a":"{MARK}","b":"{MARK}","x-api-key":"{MARK}"}}'


@pytest.mark.parametrize(
    ("pattern", "text", "kept"),
    [
        (r"\b\d{13,19}\b", "card 4111111111111111, order 12", f"card {MARK}, order 12"),
        (r"(?i)[\w.+-]+@[\w-]+\.[\w.]+", "mail Ada.L@Example.org!", f"mail {MARK}!"),
        (r"(?<=ssn )\d{3}-\d{2}", "ssn 123-45-6789", f"ssn {MARK}-6789"),
        ("Müller|王", "Herr Müller und 王", f"Herr {MARK} und {MARK}"),
        (r"(?s)<secret>.*?</secret>", "a<secret>\nb\n</secret>c", f"a{MARK}c"),
    ],
)
def test_what_the_operator_s_patterns_match_goes(pattern: str, text: str, kept: str) -> None:
    assert pattern_fault(pattern) is None
    assert ContentRedactor(Redactor(), (pattern,))(text) == kept


def test_it_takes_out_what_the_redaction_of_the_log_takes_out() -> None:
    text = (
        f"Authorization: Bearer abc.DEF_123~x {KEY} postgresql://tide:pass@db/x eyJhbGciOiJI.eyJzdWIiOiIx.S"
    )
    assert ContentRedactor(Redactor(), ())(text) == Redactor()(text)


@pytest.mark.parametrize("pattern", ["(", "[a-", "*", "(?P<n>a", "a{2,1}", "(?z)a", "\\"])
def test_what_is_no_pattern_is_told(pattern: str) -> None:
    assert "no regular expression" in (pattern_fault(pattern) or "")


@pytest.mark.parametrize("pattern", ["a*", "", "(x)?", "^", r"\b|y"])
def test_a_pattern_that_matches_everywhere_is_told(pattern: str) -> None:
    fault = pattern_fault(pattern)
    assert fault is None or "empty" in fault
    assert (fault is None) == (pattern == r"\b|y")


def test_a_text_made_to_take_for_ever_is_given_up_and_the_others_run_on() -> None:
    redact = ContentRedactor(Redactor(), (EVIL,), patience=0.3)
    answers: list[str | None] = []
    thread = threading.Thread(target=lambda: answers.append(redact(LONG)))
    began = time.monotonic()
    thread.start()
    turns = 0
    while thread.is_alive():
        turns += 1
        time.sleep(0.001)
    assert answers == [None]
    assert time.monotonic() - began < 60
    assert turns > 5, "the engine let nobody else run"


def test_the_time_is_that_of_all_patterns_together() -> None:
    times = iter([0.0, 0.1, 0.2, 0.6])
    redact = ContentRedactor(Redactor(), ("b",), patience=0.5, clock=lambda: next(times))
    assert redact("a b") is None


@pytest.mark.parametrize(
    "text",
    ["-eyJaaaaaaaaaaaa" * 4096, "://" * 20_000, "sk-" * 20_000, 'api_key "' * 7_000, "bearer " * 9_000],
)
def test_the_shapes_of_credentials_are_found_in_a_time_that_grows_with_the_text(text: str) -> None:
    assert ContentRedactor(Redactor(), (), patience=5.0)(text) is not None
