"""Whatever the chunks and whatever happens: what a relay writes keeps the promises of the contract."""

import json
from collections.abc import Callable
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, composite

from tidegate.core.failure import Failure, Kind
from tidegate.core.protocol import Protocol
from tidegate.core.sse import Framer
from tidegate.engine.actions import AppendError, Complete, Failover, Keepalive, Open, Refuse, Wait
from tidegate.engine.relay import Relay, Terms, Wording
from tidegate.engine.signals import Limits, Phase, Progress
from tidegate.protocols.base import Asked, Clean, Seed, Watcher
from tidegate.protocols.chat.stream import ChatWatcher
from tidegate.protocols.messages.stream import MessagesWatcher
from tidegate.protocols.responses.stream import ResponsesWatcher

TERMS = Terms(Limits(1, 1, 4, 4), Wording("timed out", "failed"), 1 << 20)
WATCHERS: dict[Protocol, Callable[[Asked, Clean, Seed], Watcher]] = {
    Protocol.CHAT: ChatWatcher,
    Protocol.RESPONSES: ResponsesWatcher,
    Protocol.MESSAGES: MessagesWatcher,
}
Line = bytes


def asked(protocol: Protocol) -> Asked:
    return Asked(protocol=protocol, body=b"{}", members={}, model="public", stream=True, wants_usage=True)


def event(value: dict[str, Any] | str, protocol: Protocol) -> bytes:
    data = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    named = protocol is not Protocol.CHAT and isinstance(value, dict)
    name = f"event: {value['type']}\n" if named and isinstance(value, dict) else ""
    return f"{name}data: {data}\n\n".encode()


def chunk(delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return {"id": "c1", "created": 1, "model": "up", "choices": [choice], "usage": None}


def messages_delta(text: str) -> dict[str, Any]:
    return {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text}}


def responses_delta(text: str) -> dict[str, Any]:
    return {"type": "response.output_text.delta", "sequence_number": 2, "delta": text}


OPENINGS: dict[Protocol, list[dict[str, Any]]] = {
    Protocol.CHAT: [chunk({"role": "assistant", "content": ""})],
    Protocol.MESSAGES: [
        {"type": "message_start", "message": {"id": "m", "model": "up", "usage": {"input_tokens": 3}}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {"type": "ping"},
    ],
    Protocol.RESPONSES: [
        {"type": "response.created", "sequence_number": 0, "response": {"id": "r", "model": "up"}},
        {"type": "response.in_progress", "sequence_number": 1, "response": {"id": "r", "model": "up"}},
    ],
}
DELTAS = {
    Protocol.CHAT: lambda text: chunk({"content": text}),
    Protocol.MESSAGES: messages_delta,
    Protocol.RESPONSES: responses_delta,
}
ENDS: dict[Protocol, list[dict[str, Any] | str]] = {
    Protocol.CHAT: [
        chunk({}, "stop"),
        {"id": "c1", "choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 2}},
        "[DONE]",
    ],
    Protocol.MESSAGES: [
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 2}},
        {"type": "message_stop"},
    ],
    Protocol.RESPONSES: [
        {
            "type": "response.completed",
            "sequence_number": 9,
            "response": {"id": "r", "model": "up", "usage": {"input_tokens": 3, "output_tokens": 2}},
        }
    ],
}
NOISE = [b": comment\n\n", b"retry: 5\n\n", b"event: x\n\n", b"\n"]
texts = st.text(min_size=1, max_size=20)
protocols = st.sampled_from(Protocol)


@composite
def streams(draw: DrawFn) -> tuple[Protocol, list[bytes], int]:
    """A protocol, the events of a whole valid stream, and how many of them come before the first word."""
    protocol = draw(protocols)
    said = [DELTAS[protocol](text) for text in draw(st.lists(texts, min_size=1, max_size=6))]
    opening = OPENINGS[protocol]
    whole = [*opening, *said, *ENDS[protocol]]
    return protocol, [event(value, protocol) for value in whole], len(opening)


def relay_for(protocol: Protocol, phase: Phase = Phase.SILENT) -> tuple[Relay, Progress]:
    progress = Progress(accepted_at=0, attempt_at=0, heard_at=0, wrote_at=0, phase=phase)
    watcher = WATCHERS[protocol](asked(protocol), str, Seed("x" * 24, 1))
    return Relay(watcher, progress, TERMS, lambda body: body), progress


def run(protocol: Protocol, pieces: list[bytes]) -> tuple[bytes, Relay]:
    relay, _ = relay_for(protocol)
    out = b"".join(relay.feed(piece, 0.5) for piece in pieces)
    out += relay.end(0.5)
    if isinstance(relay.ended, Complete):
        out += relay.watcher.closing(None)
    return out, relay


@composite
def cut_up(draw: DrawFn, wire: bytes) -> list[bytes]:
    cuts = sorted(draw(st.lists(st.integers(0, len(wire)), max_size=12)))
    return [wire[start:end] for start, end in zip([0, *cuts], [*cuts, len(wire)], strict=True) if start < end]


@given(streams(), st.data())
def test_any_chunking_of_a_valid_stream_gives_the_same_client_bytes(
    stream: tuple[Protocol, list[bytes], int], data: st.DataObject
) -> None:
    protocol, events, _ = stream
    clean = b"".join(events).replace(b'"model": "up"', b'"model":"public"')
    noisy = b"".join(data.draw(st.sampled_from([b"", *NOISE])) + each for each in events)
    once, relay = run(protocol, [b"".join(events)])
    pieces = data.draw(cut_up(noisy))
    again, _ = run(protocol, pieces)
    assert isinstance(relay.ended, Complete)
    assert once == again
    assert normal(once) == normal(clean)
    assert normal(run(protocol, [bytes([byte]) for byte in noisy])[0]) == normal(clean)


@given(streams(), st.sampled_from([b"\r\n", b"\r"]), st.data())
def test_other_line_ends_change_no_event(
    stream: tuple[Protocol, list[bytes], int], end: bytes, data: st.DataObject
) -> None:
    protocol, events, _ = stream
    wire = b"".join(events).replace(b"\n", end)
    out, relay = run(protocol, data.draw(cut_up(wire)))
    assert isinstance(relay.ended, Complete)
    expected, _ = run(protocol, [b"".join(events)])
    assert normal(out) == normal(expected)


def normal(wire: bytes) -> list[Any]:
    """The events of a stream as values, the model's place aside."""
    values = []
    for frame in Framer(1 << 20).feed(wire):
        values.append((frame.event, frame.data if frame.data == b"[DONE]" else json.loads(frame.data)))
    return values


feeds = st.integers(0, 40)


@settings(max_examples=200)
@given(streams(), st.data())
def test_in_any_order_of_signals_the_promises_hold(
    stream: tuple[Protocol, list[bytes], int], data: st.DataObject
) -> None:
    protocol, events, opening = stream
    relay, progress = relay_for(protocol)
    wire = b"".join(events)
    at, now, out = 0, 0.0, b""
    ended_with = None
    for _ in range(data.draw(st.integers(1, 12))):
        now += data.draw(st.sampled_from([0.01, 0.9, 3.0]))
        match data.draw(st.sampled_from(["feed", "quiet", "end", "broke"])):
            case "feed":
                size = data.draw(st.integers(1, 80))
                got = relay.feed(wire[at : at + size], now)
                at += size
            case "quiet":
                action, got = relay.quiet(now)
                match action:
                    case Open() | Keepalive():
                        got = b": comment\n"
                        progress.phase = Phase.OPENED if progress.phase is Phase.SILENT else progress.phase
                        progress.wrote_at = now
                    case Wait() | Complete() | Failover() | Refuse() | AppendError():
                        pass
            case "end":
                got = relay.end(now)
            case _:
                got = relay.broke(Failure(kind=Kind.UPSTREAM, message="x"), now)
        if got:
            progress.wrote_at = now
        assert not (ended_with and got), "nothing follows an end"
        out += got
        ended_with = relay.ended
        if ended_with:
            break
    check(protocol, relay, progress, out, b"".join(events[:opening]))


def check(protocol: Protocol, relay: Relay, progress: Progress, out: bytes, opening: bytes) -> None:
    del opening
    whole = out.replace(b": comment\n", b"")
    frames = Framer(1 << 20).feed(whole)
    assert b"".join(frame.raw for frame in frames) == whole, "only whole events are written"
    match relay.ended:
        case Failover() | Refuse():
            assert frames == [], "nothing of an attempt that failed before its first word"
            assert progress.phase is not Phase.SPOKEN
        case AppendError():
            assert is_error(protocol, frames[-1].data)
            assert not any(is_error(protocol, frame.data) or is_end(frame.data) for frame in frames[:-1])
        case Complete():
            assert not any(is_error(protocol, frame.data) for frame in frames)
        case None:
            assert not any(is_error(protocol, frame.data) or is_end(frame.data) for frame in frames)


def is_error(protocol: Protocol, data: bytes) -> bool:
    value = json.loads(data)
    return "error" in value if protocol is Protocol.CHAT else value["type"] in ("error", "response.failed")


def is_end(data: bytes) -> bool:
    return json.loads(data).get("type") in ("message_stop", "response.completed")


@given(protocols, st.lists(st.binary(max_size=60), max_size=8))
def test_no_bytes_of_an_upstream_crash_it_or_pass_for_success(
    protocol: Protocol, pieces: list[bytes]
) -> None:
    out, relay = run(protocol, pieces)
    assert relay.ended is not None
    assert not isinstance(relay.ended, Complete)
    assert b"\0" not in out or relay.ended is not None
