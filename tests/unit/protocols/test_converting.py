"""An upstream stream said in the caller's protocol: what each event means, and how the answer ends."""

from collections.abc import Iterable
from functools import partial
from typing import Any

import pytest
from tests.harness import sse
from tests.property.stream_grammars import accumulated, check, check_failed
from tests.unit.protocols import upstreams as up
from tests.unit.protocols.encoding import BODIES, SEED, client_request, context
from tests.unit.protocols.frames import data, named
from tests.unit.protocols.speech import CHAT_USAGE, STOP, ended, spoken, text_of, usage_of

from tidegate.core.failure import Failure, Kind
from tidegate.core.protocol import Protocol
from tidegate.core.sse import Framer
from tidegate.core.usage import Usage
from tidegate.protocols.base import Said
from tidegate.protocols.cleaning import clean
from tidegate.protocols.converting import ConvertingWatcher
from tidegate.protocols.pairs import halves_of
from tidegate.protocols.registry import dialect_of

CHAT, RESPONSES, MESSAGES = Protocol.CHAT, Protocol.RESPONSES, Protocol.MESSAGES
SECRET = "credential-of-the-channel"
CLEAN = partial(clean, secrets=(SECRET,), hosts=("up.example.com",))
TOLD = Usage(input=7, output=2)


def watcher(
    client: Protocol,
    upstream: Protocol,
    *,
    stops: tuple[str, ...] = (),
    wants_usage: bool = True,
    body: dict[str, Any] | None = None,
) -> ConvertingWatcher:
    """As a request of `client` over a channel of `upstream` has it."""
    whole = {"model": "up", "stream": True, **BODIES[upstream], **(body or {})}
    if upstream is CHAT:
        whole["stream_options"] = {"include_usage": True}
    native = dialect_of(upstream).watcher(client_request(upstream, whole), CLEAN, SEED)
    told = context(client, upstream, wants_usage=wants_usage, input_estimate=4)
    encoder = halves_of(client).encoder(told)
    decoder = halves_of(upstream).decoder()
    return ConvertingWatcher(native, decoder, encoder, stops, CLEAN, wants_usage=wants_usage)


def heard(watching: ConvertingWatcher, events: Iterable[bytes]) -> tuple[list[Said], bytes]:
    """What each event meant, and what the caller got."""
    said, out = [], b""
    framer = Framer(1 << 20)
    for frame in framer.feed(b"".join(events)):
        said.append(watching.read(frame))
        silent = said[-1] in (Said.DROPPED, Said.BROKEN, Said.SPOILT)
        out += b"" if silent else watching.outgoing(frame)
    return said, out


CROSS = [(client, upstream) for client in Protocol for upstream in Protocol if client is not upstream]
every_cross_pair = pytest.mark.parametrize(("client", "upstream"), CROSS)
every_client_of = {
    upstream: pytest.mark.parametrize("client", [client for client in Protocol if client is not upstream])
    for upstream in Protocol
}
WORDS = {CHAT: "stop", RESPONSES: "completed", MESSAGES: "end_turn"}


@every_cross_pair
def test_an_answer_from_its_first_event_to_its_last(client: Protocol, upstream: Protocol) -> None:
    watching = watcher(client, upstream)
    said, out = heard(watching, [*spoken(upstream, "hello ", "there"), *ended(upstream, "hello there")])
    assert said[0] in (Said.OPENING, Said.NOISE)
    assert said.count(Said.END) == 1
    assert said[-1] is Said.END
    out += watching.closing(None)
    check(client, out)
    assert text_of(client, out) == "hello there"
    assert usage_of(client, out) == (7, 2)
    assert (watching.owes_usage, watching.text()) == (False, "hello there")
    assert (watching.finish_reason, watching.incomplete, watching.failure) == (WORDS[client], False, None)
    assert watching.ids == [], "what another protocol has stored, the caller cannot ask for"


@every_cross_pair
def test_the_end_is_only_told_when_the_answer_is_closed(client: Protocol, upstream: Protocol) -> None:
    watching = watcher(client, upstream)
    _, out = heard(watching, [*spoken(upstream, "hello"), *ended(upstream, "hello")])
    assert watching.finish_reason is None
    for mark in (b"[DONE]", b"message_stop", b"response.completed"):
        assert mark not in out
    check(client, out + watching.closing(None))
    assert watching.finish_reason == WORDS[client]


@every_client_of[CHAT]
def test_the_finish_of_chat_is_the_last_event_that_is_awaited(client: Protocol) -> None:
    watching = watcher(client, CHAT)
    said, out = heard(watching, [*spoken(CHAT, "hello"), STOP])
    assert said[-1] is Said.FINISH
    assert watching.owes_usage
    out += watching.closing(Usage(input=5, output=1))
    check(client, out)
    assert usage_of(client, out) == (5, 1)


@every_client_of[CHAT]
@pytest.mark.parametrize(
    "late",
    [
        data({"error": {"message": "too late", "type": "server_error"}}),
        data("nonsense"),
        up.chunk({}, "error"),
    ],
)
def test_what_goes_wrong_after_the_finish_of_chat_takes_nothing_back(client: Protocol, late: bytes) -> None:
    watching = watcher(client, CHAT)
    _, out = heard(watching, [*spoken(CHAT, "hello"), STOP])
    framer = Framer(1 << 20)
    [frame] = framer.feed(late)
    assert watching.read(frame) in (Said.ERROR, Said.BROKEN)
    out += watching.closing(TOLD)
    check(client, out)
    assert (text_of(client, out), watching.finish_reason) == ("hello", WORDS[client])


@every_cross_pair
def test_an_answer_that_has_no_end_is_closed_by_an_error(client: Protocol, upstream: Protocol) -> None:
    watching = watcher(client, upstream)
    _, out = heard(watching, spoken(upstream, "hello"))
    out += watching.closing(TOLD)
    check_failed(client, out)
    assert watching.finish_reason is None


HOSTED = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {}}
SEARCH = {"id": "ws_1", "type": "web_search_call", "status": "in_progress"}
ANNOTATION = {"type": "url_citation", "url_citation": {"url": "https://x/y", "title": "t"}}


@pytest.mark.parametrize(
    ("client", "upstream", "opening", "silent"),
    [
        (CHAT, MESSAGES, up.message({"input_tokens": 7}), up.begin(0, HOSTED)),
        (CHAT, RESPONSES, up.created(), up.added(0, SEARCH)),
        (MESSAGES, RESPONSES, up.created(), up.added(0, SEARCH)),
        (MESSAGES, CHAT, up.chunk({"role": "assistant"}), up.chunk({"annotations": [ANNOTATION]})),
        (MESSAGES, CHAT, b"", up.chunk({"annotations": [ANNOTATION]})),
        (RESPONSES, CHAT, b"", up.chunk({"role": "assistant", "annotations": [ANNOTATION]})),
    ],
)
def test_what_the_caller_s_protocol_cannot_say_is_progress(
    client: Protocol, upstream: Protocol, opening: bytes, silent: bytes
) -> None:
    watching = watcher(client, upstream)
    said, _ = heard(watching, [opening, silent])
    assert said[-1] is Said.PROGRESS
    assert Said.OUTPUT not in said


def test_reasoning_is_said_where_there_is_a_form_for_it() -> None:
    thinking = [up.message(), up.begin(0, {"type": "thinking", "thinking": "", "signature": ""})]
    said, out = heard(watcher(CHAT, MESSAGES), [*thinking, up.grow(0, thinking="hm")])
    assert said == [Said.OPENING, Said.REASONING, Said.OUTPUT]
    assert b'"reasoning_content":"hm"' in out


@every_cross_pair
def test_a_stop_string_ends_the_answer(client: Protocol, upstream: Protocol) -> None:
    watching = watcher(client, upstream, stops=("END",))
    said, out = heard(watching, spoken(upstream, "one E", "ND two", " three"))
    assert said.index(Said.END) == len(said) - 2, "the event that completes it"
    assert watching.owes_usage, "nobody knows what the upstream would have counted"
    out += watching.closing(Usage(input=3, output=2))
    check(client, out)
    assert text_of(client, out) == "one "
    assert usage_of(client, out) == (3, 2)
    assert watching.finish_reason == {**WORDS, MESSAGES: "stop_sequence"}[client]
    if client is MESSAGES:
        assert accumulated(client, out)["stop_sequence"] == "END"


def test_text_that_is_held_back_for_a_stop_string_is_progress() -> None:
    watching = watcher(MESSAGES, CHAT, stops=("END",))
    said, out = heard(watching, spoken(CHAT, "E", "N", "x"))
    assert said[1:] == [Said.PROGRESS, Said.PROGRESS, Said.OUTPUT]
    said, more = heard(watching, [up.chunk({}, "stop"), up.DONE])
    assert text_of(MESSAGES, out + more + watching.closing(TOLD)) == "ENx"


@every_client_of[CHAT]
def test_an_answer_that_ends_at_a_stop_string_is_not_cut_by_a_limit(client: Protocol) -> None:
    watching = watcher(client, CHAT, stops=("END",))
    said, _ = heard(watching, [up.chunk({"content": "one END two"}, "length")])
    assert said == [Said.END]
    assert not watching.incomplete
    cut = watcher(client, CHAT, stops=("END",))
    heard(cut, [up.chunk({"content": "one"}, "length")])
    assert cut.incomplete


@pytest.mark.parametrize(
    ("told", "wants", "owed"),
    [
        (None, True, True),
        ({"prompt_tokens": 7}, True, True),
        ({"completion_tokens": 2}, True, True),
        ({"prompt_tokens": 7, "completion_tokens": 2}, True, False),
        (None, False, False),
    ],
)
def test_usage_is_owed_to_who_is_told_it_until_all_of_it_came(told: Any, wants: bool, owed: bool) -> None:
    watching = watcher(MESSAGES, CHAT, wants_usage=wants)
    heard(watching, [*spoken(CHAT, "hello"), STOP, data({"choices": [], "usage": told})])
    assert watching.owes_usage is owed


def test_a_chat_caller_who_did_not_ask_is_told_no_usage() -> None:
    watching = watcher(CHAT, MESSAGES, wants_usage=False)
    _, out = heard(watching, [*spoken(MESSAGES, "hello"), *ended(MESSAGES)])
    assert b"usage" not in out + watching.closing(None)
    assert watching.usage == TOLD


def test_the_counts_that_came_last_hold() -> None:
    counted = data({"choices": [], "usage": {"prompt_tokens": 9, "completion_tokens": 3}})
    watching = watcher(MESSAGES, CHAT)
    _, out = heard(watching, [*spoken(CHAT, "hello"), STOP, CHAT_USAGE, counted, up.DONE])
    assert usage_of(MESSAGES, out + watching.closing(None)) == (9, 3)


ERRORS = {
    CHAT: data({"error": {"message": f"busy: {SECRET}", "type": "overloaded_error", "code": "overloaded"}}),
    RESPONSES: named(
        {"type": "error", "code": "server_is_overloaded", "message": f"busy: {SECRET}", "param": None}
    ),
    MESSAGES: named({"type": "error", "error": {"type": "overloaded_error", "message": f"busy: {SECRET}"}}),
}


@every_cross_pair
def test_an_error_of_the_upstream_is_told_in_the_caller_s_form(client: Protocol, upstream: Protocol) -> None:
    watching = watcher(client, upstream)
    said, out = heard(watching, [*spoken(upstream, "hello"), ERRORS[upstream]])
    assert said[-1] is Said.ERROR
    assert watching.failure is not None
    assert watching.failure.kind is Kind.OVERLOADED
    check_failed(client, out)
    assert SECRET.encode() not in out
    last = sse.read(out).json()[-1]
    error = last["response"]["error"] if client is RESPONSES else last["error"]
    assert error["message"] == "busy: [redacted]"
    if client is RESPONSES:
        assert error["code"] == "server_error"
        assert last["response"]["output"][0]["content"][0]["text"] == "hello"
    else:
        assert error["type"] == "overloaded_error"


@every_cross_pair
def test_what_cannot_be_meant_is_broken_and_not_said(client: Protocol, upstream: Protocol) -> None:
    watching = watcher(client, upstream)
    said, _ = heard(watching, [*spoken(upstream, "hello"), data("nonsense")])
    assert said[-1] is Said.BROKEN
    assert watching.failure is not None
    assert watching.failure.kind is Kind.UPSTREAM


@pytest.mark.parametrize("client", [CHAT, RESPONSES])
def test_what_only_the_decoder_finds_is_spoilt(client: Protocol) -> None:
    """The watcher of the same protocol leaves it to its caller to count the blocks."""
    watching = watcher(client, MESSAGES)
    ending = [up.ending("end_turn"), up.MESSAGE_STOP]
    said, _ = heard(watching, [*spoken(MESSAGES, "hello"), *ending])
    assert said[-1] is Said.SPOILT
    assert watching.failure is not None
    assert watching.failure.kind is Kind.UPSTREAM


@pytest.mark.parametrize("client", [RESPONSES, MESSAGES])
def test_a_call_that_goes_on_after_its_finish_is_spoilt(client: Protocol) -> None:
    begun = up.calls(up.call(0, "call_1", "f", '{"a":1}'), up.call(1, "call_2", "f", ""))
    late = up.calls(up.call(0, None, None, ',"b":2}'))
    said, _ = heard(watcher(client, CHAT), [begun, up.chunk({}, "tool_calls"), late])
    assert said[1:] == [Said.FINISH, Said.SPOILT]


def test_what_stands_beside_a_break_does_not_count_as_said() -> None:
    watching = watcher(RESPONSES, CHAT)
    begun = up.calls(up.call(0, "call_1", "f", '{"a":1}'), up.call(1, "call_2", "f", ""))
    deltas = [{"tool_calls": [up.call(index, None, None, "{}")]} for index in (1, 0)]
    both = data({"choices": [{"index": 0, "delta": delta} for delta in deltas]})
    said, out = heard(watching, [begun, both])
    assert said[-1] is Said.SPOILT
    check_failed(RESPONSES, out + watching.error_event(Failure(kind=Kind.INTERRUPTED, message="failed")))


@every_cross_pair
def test_a_break_is_told_in_the_caller_s_form(client: Protocol, upstream: Protocol) -> None:
    failure = Failure(kind=Kind.INTERRUPTED, message="failed")
    watching = watcher(client, upstream)
    _, out = heard(watching, spoken(upstream, "hello"))
    check_failed(client, out + watching.error_event(failure))


@every_cross_pair
@pytest.mark.parametrize("noise", [b": a comment\n\n", b"data: \n\n", b"event: ping\ndata: {}\n\n"])
def test_noise_says_nothing(client: Protocol, upstream: Protocol, noise: bytes) -> None:
    watching = watcher(client, upstream)
    said, out = heard(watching, [noise])
    assert out == b""
    assert set(said) <= {Said.NOISE, Said.DROPPED}
