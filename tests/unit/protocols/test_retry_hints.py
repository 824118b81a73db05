"""When an upstream says to try again."""

import pytest

from tidegate.protocols.retry_hints import RetryHints, read_retry_hints

NOW = 1_445_412_470.0  # Wed, 21 Oct 2015 07:27:50 GMT


@pytest.mark.parametrize(
    ("headers", "hints"),
    [
        ({}, RetryHints()),
        ({"retry-after": "17"}, RetryHints(17)),
        ({"retry-after": " 0.5 "}, RetryHints(0.5)),
        ({"retry-after": "0"}, RetryHints(0)),
        ({"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}, RetryHints(10)),
        ({"retry-after": "Wed, 21 Oct 2015 07:27:00 GMT"}, RetryHints()),
        ({"retry-after": "Wed, 99 Okt 2015 07:28:00 GMT"}, RetryHints()),
        ({"retry-after": "-3"}, RetryHints()),
        ({"retry-after": "soon"}, RetryHints()),
        ({"retry-after": "1e400"}, RetryHints()),
        ({"retry-after": "nan"}, RetryHints()),
        ({"retry-after": "٣"}, RetryHints()),
        ({"retry-after-ms": "1500"}, RetryHints(1.5, "1500")),
        ({"retry-after-ms": "-1"}, RetryHints()),
        ({"retry-after": "17", "retry-after-ms": "17000"}, RetryHints(17, "17000")),
        ({"retry-after": "x", "retry-after-ms": "250"}, RetryHints(0.25, "250")),
        ({"x-should-retry": "False"}, RetryHints(should_retry="false")),
        ({"x-should-retry": "perhaps"}, RetryHints()),
    ],
)
def test_hints(headers: dict[str, str], hints: RetryHints) -> None:
    assert read_retry_hints(headers, NOW) == hints
