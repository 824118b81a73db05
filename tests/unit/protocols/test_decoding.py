"""What every decoder does alike, and the recorded streams in all three."""

import pytest
from msgspec.structs import replace
from tests.unit.protocols.answers import asked
from tests.unit.protocols.decoded import PAIRS, Said, decode, told
from tests.unit.protocols.frames import data, frame

from tidegate.core.events import Closed, Event, Failed, Finished, Started, Stop, TextDelta, UsageTold
from tidegate.core.failure import Kind
from tidegate.core.protocol import Protocol
from tidegate.core.sse import Form, Frame
from tidegate.core.usage import Usage
from tidegate.protocols.blocks import TEXT, Broken, TextBlock
from tidegate.protocols.decoding import StreamDecoder
from tidegate.protocols.registry import dialect_of


class Parrot(StreamDecoder):
    """Says what it is told."""

    def _read(self, frame: Frame) -> None:
        match frame.data:
            case b"end":
                self._end(Finished(Stop.END), cut=False)
            case b"broken":
                self._blocks.tell(Started())
                raise Broken("why")
            case b"deep":
                raise RecursionError
            case words:
                block = TextBlock(TEXT)
                self._blocks.begin(block)
                block.add(words.decode())


def test_it_ends_once() -> None:
    reader = Parrot()
    assert reader.decode(frame(data("a"))) == (TEXT, TextDelta("a"))
    assert reader.decode(frame(data("end"))) == (Closed(), Finished(Stop.END))
    assert reader.decode(frame(data("b"))) == ()
    assert reader.finish() == ()


@pytest.mark.parametrize(
    ("words", "detail"), [("broken", "why"), ("deep", "an event of the upstream has too many levels")]
)
def test_what_cannot_be_meant_is_a_failure_after_what_was_said(words: str, detail: str) -> None:
    reader = Parrot()
    last = reader.decode(frame(data(words)))[-1]
    assert isinstance(last, Failed)
    assert (last.failure.kind, last.failure.detail) == (Kind.UPSTREAM, detail)
    assert reader.decode(frame(data("a"))) == ()


@pytest.mark.parametrize("words", [b"", b" \n"])
def test_events_without_data_say_nothing(words: bytes) -> None:
    assert Parrot().decode(Frame(b"", words, None, None, Form.PLAIN)) == ()


STREAMS = [
    pytest.param(Protocol(path.name.split(".")[1]), path.parent.name, id=f"{path.parent.name}-{path.name}")
    for path in sorted(PAIRS.glob("*/upstream.*.sse"))
]


def stream(protocol: Protocol, scenario: str, suffix: str = "sse") -> bytes:
    return (PAIRS / scenario / f"upstream.{protocol.value}.{suffix}").read_bytes()


@pytest.mark.parametrize(("protocol", "scenario"), STREAMS)
def test_recorded_streams_say_the_same_in_any_chunks(protocol: Protocol, scenario: str) -> None:
    raw = stream(protocol, scenario)
    whole = decode(protocol, raw)
    assert whole
    for size in (1, 2, 7, 64, 1000):
        assert decode(protocol, raw, size) == whole


PARIS = '{"city":"Paris"}'
WINDS = "Autumn wind rises, 落叶黄 🍂."
THOUGHT = "17*23 is 17*20+17*3."
SAYS: dict[str, list[Said]] = {
    "01-text": [("text", WINDS), (Stop.END,)],
    "02-tool-call": [("text", "Let me check."), ("get_weather", PARIS), (Stop.TOOL_CALLS,)],
    "03-parallel-tools": [("get_weather", PARIS), ("get_time", "{}"), (Stop.TOOL_CALLS,)],
    "04-reasoning-text": [("reasoning", THOUGHT), ("text", "391"), (Stop.END,)],
    "05-reasoning-tool": [
        ("reasoning", "Need the weather tool."),
        ("get_weather", PARIS),
        (Stop.TOOL_CALLS,),
    ],
    "06-refusal": [("refusal", "I'm sorry, I can't help with that."), (Stop.REFUSAL,)],
    "07-max-tokens": [("text", "Once upon a time, in", "cut"), (Stop.LENGTH,)],
    "08-cache-hit": [("text", "Done."), (Stop.END,)],
    "09-mid-stream-error": [("text", "Autumn wind rises")],
    "10-upstream-cut": [("text", "Autumn wind rises")],
    "11-reasoning-raw-text": [("reasoning", THOUGHT), ("text", "391"), (Stop.END,)],
    "20-quirk-chat-no-done": [("text", "Hello"), (Stop.END,)],
    "21-quirk-chat-interleaved-tools": [
        ("get_weather", PARIS),
        ("get_weather", '{"city":"Rome"}'),
        (Stop.TOOL_CALLS,),
    ],
    "22-quirk-chat-sloppy-tools": [
        ("reasoning", "Think."),
        ("get_weather", PARIS),
        ("get_time", ""),
        (Stop.TOOL_CALLS,),
    ],
    "23-quirk-chat-error-chunk": [("text", "Par")],
    "24-quirk-responses-sparse": [("text", "Hello"), ("get_weather", PARIS), (Stop.TOOL_CALLS,)],
    "25-quirk-responses-nested-error": [("text", "Hel")],
    "26-quirk-messages-sparse": [("text", "Hello"), ("get_weather", PARIS), (Stop.TOOL_CALLS,)],
}
DIFFERENT: dict[tuple[str, Protocol], list[Said]] = {
    ("03-parallel-tools", Protocol.MESSAGES): [("get_weather", PARIS), ("get_time", ""), (Stop.TOOL_CALLS,)],
    ("06-refusal", Protocol.MESSAGES): [("text", "Well, "), (Stop.REFUSAL,)],
    ("05-reasoning-tool", Protocol.RESPONSES): [("reasoning", ""), *SAYS["05-reasoning-tool"][1:]],
    ("04-reasoning-text", Protocol.MESSAGES): [
        ("reasoning", THOUGHT),
        ("reasoning", ""),
        ("text", "391"),
        (Stop.END,),
    ],
}
FAILS = {
    ("09-mid-stream-error", Protocol.CHAT): Kind.UPSTREAM,
    ("09-mid-stream-error", Protocol.MESSAGES): Kind.OVERLOADED,
    ("09-mid-stream-error", Protocol.RESPONSES): Kind.RATE_LIMIT,
    ("23-quirk-chat-error-chunk", Protocol.CHAT): Kind.UPSTREAM,
    ("25-quirk-responses-nested-error", Protocol.RESPONSES): Kind.CONTEXT_LENGTH,
}


@pytest.mark.parametrize(("protocol", "scenario"), STREAMS)
def test_recorded_streams_say_what_they_should(protocol: Protocol, scenario: str) -> None:
    said = [
        each[2:] if len(each) > 3 else each for each in told(decode(protocol, stream(protocol, scenario)))
    ]
    failure = FAILS.get((scenario, protocol))
    expected = DIFFERENT.get((scenario, protocol), SAYS[scenario])
    assert said == [*expected, *([] if failure is None else [(failure,)])]


def test_every_recorded_stream_is_expected() -> None:
    assert {each.values[1] for each in STREAMS} == SAYS.keys()


@pytest.mark.parametrize(("protocol", "scenario"), STREAMS)
def test_whole_answers_say_what_their_streams_say(protocol: Protocol, scenario: str) -> None:
    if not (PAIRS / scenario / f"upstream.{protocol.value}.json").exists():
        return
    replayed = dialect_of(protocol).replay(asked(protocol), stream(protocol, scenario, "json"))
    streamed, whole = decode(protocol, stream(protocol, scenario)), decode(protocol, replayed)
    assert told(whole) == told(streamed)
    assert opaques(whole) == opaques(streamed)
    assert last_counts(whole) == last_counts(streamed)


def opaques(events: list[Event]) -> list[object]:
    return [event.opaque for event in events if isinstance(event, Closed) and event.opaque is not None]


def last_counts(events: list[Event]) -> Usage | None:
    """Without the service tier, which the recorded streams tell and the recorded answers do not."""
    told = (event.usage for event in reversed(events) if isinstance(event, UsageTold))
    return next((replace(usage, service_tier=None) for usage in told), None)


@pytest.mark.parametrize("protocol", Protocol)
def test_cache_arithmetic_is_alike(protocol: Protocol) -> None:
    used = last_counts(decode(protocol, stream(protocol, "08-cache-hit")))
    assert used is not None
    assert (used.input, used.cache_read, used.cache_write, used.output) == (76, 1024, 100, 20)
