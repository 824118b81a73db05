"""What one admitted request needs, gathered from the channel and the caller."""

import json
from typing import Any

import pytest
from tests.unit.exchange.said import ASK
from tests.unit.exchange.scene import KEY, Pipe, Scene, channel

from tidegate.core.failure import Failure, Kind
from tidegate.core.protocol import Protocol
from tidegate.engine.actions import AppendError, Complete, Failover, Refuse
from tidegate.exchange.prepared import Prepared, Preparer
from tidegate.exchange.request import Request
from tidegate.exchange.story import Story
from tidegate.protocols.base import Asked
from tidegate.protocols.converting import ConvertingWatcher
from tidegate.protocols.registry import dialect_of
from tidegate.routing.catalog import Candidate

SECRET_WORDS = "key credential-of-channel-a at https://a.example.com:8443/v1, or a.example.com"
CANDIDATE = Candidate(channel(), "up")
ACROSS = Candidate(channel("b", Protocol.MESSAGES, forward_headers=("x-codex",)), "up")


def request(scene: Scene, protocol: Protocol = Protocol.CHAT, **headers: str) -> Request:
    dialect = dialect_of(protocol)
    asked = dialect.read_request(json.dumps({**ASK, "max_tokens": 5, "stream": True}).encode())
    assert isinstance(asked, Asked)
    return Request(
        world=scene.world,
        snapshot=scene.exchange.snapshot,
        dialect=dialect,
        asked=asked,
        key=KEY,
        story=Story(incoming=scene.incoming(protocol, **headers)),
        accepted_at=1000.0,
        preparer=Preparer(dialect, asked, KEY, scene.exchange.snapshot.catalog, b"own"),
    )


def prepared(one: Request, candidate: Candidate = CANDIDATE) -> Prepared:
    found = one.preparer.prepare(candidate)
    assert isinstance(found, Prepared)
    return found


async def test_a_call_carries_the_allowed_headers_and_the_body() -> None:
    scene = Scene()
    sink: Any = object()
    one = request(scene, user_agent="sdk", cookie="c")
    ready = prepared(one)
    one.open(ready, sink)
    sent = scene.call.request
    assert (sent.method, sent.path, sent.body) == ("POST", "/chat/completions", ready.body)
    assert dict(sent.headers) == {
        "content-type": "application/json",
        "accept": "text/event-stream",
        "user-agent": "sdk",
    }
    assert scene.call.sink is sink


async def test_words_are_cleaned_of_the_channel_and_without_one_of_what_looks_like_a_key() -> None:
    one = request(Scene())
    assert one.cleaner(CANDIDATE)(SECRET_WORDS) == "key [redacted] at [redacted], or [redacted]"
    assert "sk-abcdefgh12345678" not in one.cleaner(None)("key sk-abcdefgh12345678 here")


@pytest.mark.parametrize("ends", [AppendError, Failover, Refuse])
async def test_an_end_is_told_without_the_channel_s_credential(ends: Any) -> None:
    failure = Failure(
        kind=Kind.UPSTREAM, message=SECRET_WORDS, detail=SECRET_WORDS, code="credential-of-channel-a"
    )
    found = request(Scene()).cleaned(ends(failure), CANDIDATE)
    assert isinstance(found, ends)
    assert "credential" not in repr(found)
    assert "example" not in repr(found)


async def test_a_good_end_stays_as_it_is() -> None:
    assert request(Scene()).cleaned(Complete(), CANDIDATE) == Complete()


async def test_a_refusal_is_answered_in_the_caller_s_form() -> None:
    failure = Failure(kind=Kind.RATE_LIMIT, message="slow", retry_after=3.2, should_retry="true")
    pipe = Pipe()
    assert request(Scene(), Protocol.MESSAGES).refuse(pipe, failure) == 429
    assert pipe.headers == {"retry-after": "4", "x-should-retry": "true"}
    assert json.loads(pipe.written)["request_id"] == "req_1"


async def test_a_refusal_of_an_upstream_is_read_in_its_protocol() -> None:
    one = request(Scene())
    refusal = one.refusal(prepared(one, ACROSS))
    refusal.begin(529, {"retry-after": "5"}, 0)
    refusal.collect(b'{"type":"error","error":{"type":"overloaded_error","message":"busy"}}')
    found = refusal.failure()
    assert (found.kind, found.message, found.retry_after) == (Kind.OVERLOADED, "busy", 5)


async def test_a_watcher_without_a_channel_writes_the_caller_s_errors() -> None:
    failure = Failure(kind=Kind.NO_CHANNEL, message="none")
    assert b'"code":"no_available_channel"' in request(Scene()).watcher(None).error_event(failure)
    one = request(Scene())
    assert one.watcher(prepared(one)).ids == []


async def test_a_call_across_goes_to_the_channel_s_route_with_none_of_the_caller_s_headers() -> None:
    scene = Scene()
    sink: Any = object()
    one = request(scene, user_agent="sdk", openai_beta="b", idempotency_key="k", x_codex="lite")
    one.open(prepared(one, ACROSS), sink)
    sent = scene.call.request
    assert sent.path == "/v1/messages"
    assert dict(sent.headers) == {"content-type": "application/json", "accept": "text/event-stream"}


async def test_only_a_converted_stream_is_read_by_a_converting_watcher() -> None:
    one = request(Scene())
    assert isinstance(one.watcher(prepared(one, ACROSS)), ConvertingWatcher)
    assert not isinstance(one.watcher(prepared(one)), ConvertingWatcher)
