"""Whatever an upstream says in an error, reading it does not fail and shows no secret."""

import json
import string
from collections.abc import Mapping

from hypothesis import assume, example, given
from hypothesis import strategies as st

from tidegate.core.failure import Failure, Fault, Kind, fault
from tidegate.core.protocol import Protocol
from tidegate.engine.verdict import merge_failures, rank
from tidegate.protocols.chat import errors as chat
from tidegate.protocols.cleaning import MAX_LENGTH, clean, cleaned_failure, cleaner
from tidegate.protocols.failures import error_headers
from tidegate.protocols.messages import errors as messages
from tidegate.protocols.refusals import read_error_event, read_refusal
from tidegate.protocols.responses import errors as responses

keys = st.text(string.ascii_letters + string.digits + "-_.+/=", min_size=8, max_size=60).filter(
    lambda key: key not in "[redacted]" and not set(key) <= set("-_.+/=")
)
hosts = st.builds(
    lambda labels, port: ".".join(labels) + port,
    st.lists(st.text(string.ascii_lowercase + string.digits, min_size=2, max_size=8), min_size=2, max_size=4),
    st.sampled_from(["", ":443", ":8000"]),
)
noise = st.text(max_size=30)
surroundings = st.sampled_from(
    [
        "{}",
        "key {}",
        "Bearer {}",
        "https://{}/v1",
        "'{}'",
        "x{}y",
        "{}{}",
        "a\u200b{}",
        "sk-{}",
        "<{}>",
        "\\n{}",
    ]
)

members = st.sampled_from(
    ["error", "message", "type", "code", "param", "detail", "loc", "msg", "object", "response", "errors"]
)
words = st.sampled_from(["error", "model", "429", "insufficient_quota", "not_found_error"])
leaves = st.none() | st.booleans() | st.integers() | st.text(max_size=12) | words
payloads = st.recursive(
    leaves,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(members, inner, max_size=4),
    max_leaves=12,
)
bodies = st.binary(max_size=60) | payloads.map(lambda value: json.dumps(value).encode())
headers = st.dictionaries(
    st.sampled_from(["retry-after", "retry-after-ms", "x-should-retry"]), st.text(max_size=12) | st.just("17")
)


@given(st.lists(st.tuples(surroundings, noise), min_size=1, max_size=4), keys, hosts)
@example([("{}", ".")], "a.b.c.d.e", "aa.bb")
def test_no_message_leaks_a_key_or_a_host(places: list[tuple[str, str]], key: str, host: str) -> None:
    name = host.partition(":")[0]
    message = " ".join(around.format(key, key) + said + around.format(host, host) for around, said in places)
    cleaned = clean(message, [key], [host], fallback="It failed.")
    assume(key not in "It failed." and name not in "It failed.")
    assert key not in cleaned
    assert name not in cleaned.lower().replace("[redacted]", "")
    assert 0 < len(cleaned) <= MAX_LENGTH
    assert not any(ord(letter) < 32 or 0x7F <= ord(letter) < 0xA0 for letter in cleaned)


@given(noise, keys, hosts)
def test_cleaning_twice_is_cleaning_once(said: str, key: str, host: str) -> None:
    once = clean(f"{said} {key} {host} {said}", [key], [host])
    assert clean(once, [key], [host]) == once


@given(st.sampled_from(Protocol), st.integers(0, 999), headers, bodies)
def test_no_refusal_raises_and_every_one_can_be_told(
    channel: Protocol, status: int, told: Mapping[str, str], body: bytes
) -> None:
    failure = read_refusal(channel, status, told, body, 1_700_000_000)
    assert failure.message
    if fault(failure.kind) is Fault.CLIENT:
        assert failure.status in (400, 404, 413, 422)
    check_told(failure)


@given(st.sampled_from(Protocol), payloads)
def test_no_error_event_raises_and_every_one_can_be_told(channel: Protocol, payload: object) -> None:
    check_told(read_error_event(channel, payload))


def check_told(failure: Failure) -> None:
    """Every dialect writes it as JSON with a status that means an error, and as an event."""
    failure = cleaned_failure(failure, cleaner())
    for dialect in (chat, messages, responses):
        status, body = dialect.error_answer(failure, "req_1")
        assert 400 <= status < 600
        assert json.loads(body)["error"]["message"]
    for name, value in error_headers(failure):
        assert value.isascii()
        assert "\n" not in value, name
    event = responses.failed_event(
        failure, sequence_number=1, response_id="r", model="m", created_at=1, opened=False
    )
    for written in (chat.error_event(failure), messages.error_event(failure), event):
        for each in written.split(b"\n\n")[:-1]:
            json.loads(each.rpartition(b"\ndata: ")[2].removeprefix(b"data: "))


failures = st.builds(
    Failure,
    kind=st.sampled_from(Kind),
    message=st.just("m"),
    retry_after=st.none() | st.floats(0, 1000),
)


@given(st.lists(failures, min_size=1, max_size=5))
def test_the_answer_is_the_first_reason_that_applies(attempts: list[Failure]) -> None:
    merged = merge_failures(attempts)
    assert rank(merged) == min(map(rank, attempts))
    waits = [failure.retry_after for failure in attempts if failure.retry_after is not None]
    if fault(merged.kind) is not Fault.CLIENT:
        assert merged.retry_after == min(waits, default=None)
