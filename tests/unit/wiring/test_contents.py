"""Contents are kept as the config in force says."""

from tidegate.config.settings import Capture, Config
from tidegate.core.secret import Secret
from tidegate.observe.logs import known_secrets
from tidegate.wiring.contents import keeping_of


def test_the_rules_are_those_of_the_section() -> None:
    capture = Capture(max_bytes=10, redact=(r"\d{4}",), retention=5.0)
    keeping = keeping_of(Config(capture=capture))
    assert (keeping.max_bytes, keeping.retention) == (10, 5.0)
    assert keeping.redact("pin 1234") == "pin [redacted]"
    assert keeping.redact("pin 5678") == "pin [redacted]"


def test_what_becomes_a_secret_later_is_taken_out_too() -> None:
    keeping = keeping_of(Config())
    text = "the word is swordfish-and-chips"
    assert keeping.redact(text) == text
    known_secrets().register(Secret("swordfish-and-chips"))
    assert keeping.redact(text) == "the word is [redacted]"
