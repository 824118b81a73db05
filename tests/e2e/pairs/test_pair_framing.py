"""What an upstream does to the bytes of its events does not reach a caller of another protocol."""

import gzip
import json
import zlib

import brotli
import pytest
import zstandard
from tests.harness import notation as n
from tests.harness.crossing import Crossed, cross
from tests.harness.dialects import CHAT, MESSAGES, RESPONSES, UPSTREAM, Side, check_refusal
from tests.harness.pairs import CROSS, NINE, Pair
from tests.harness.script import EOF, JSON, Answer, Framing, Gate, Pause, body, pieces, stream
from tests.harness.stage import Stage
from tests.harness.together import together

every_cross_pair = pytest.mark.parametrize("pair", CROSS, ids=lambda pair: pair.name)
every_pair = pytest.mark.parametrize("pair", NINE, ids=lambda pair: pair.name)
UTF8 = "北京 😀"


async def _says(stage: Stage, pair: Pair, answer: Answer, text: str = "Hello") -> None:
    """The answer reads as usual: its text, its usage, its end."""
    model = stage.model(pair.channel)
    played = await stage.play(pair.client, answer, channel=pair.channel, model=model)
    heard = Crossed(played, {}).heard
    assert heard.text == text
    assert heard.counts is not None
    assert (heard.counts.fresh, heard.counts.read, heard.counts.output) == (10, 3, 7)
    row = await played.row()
    assert (row["outcome"], row["usage_source"]) == ("completed", "upstream")


@every_cross_pair
async def test_b001_characters_split_over_reads(crossing: Stage, pair: Pair) -> None:
    whole = pair.channel.script(pieces=(UTF8[:2], UTF8[2:])).bytes()
    first = whole.index("北".encode())
    last = whole.index("😀".encode()) + 4
    cuts = [at for at in range(first, last) if whole[at] & 0xC0 == 0x80]
    assert len(cuts) == 7
    scenarios = {
        f"cut at {at}": _says(crossing, pair, stream([whole[:at], Pause(0.02), whole[at:]]), UTF8)
        for at in cuts
    }
    scenarios["all cut"] = _says(crossing, pair, Answer(pieces(whole, 1)), UTF8)
    await together(scenarios)


@every_cross_pair
async def test_characters_cut_at_their_escaped_units(crossing: Stage, pair: Pair) -> None:
    """Half of the character in one delta, half in the next: no half reaches the caller."""
    told = pair.channel.script(pieces=("tide <1>", "<2> and <1>", "<2>")).all
    cut = [step.replace(b"<1>", b"\\ud83d").replace(b"<2>", b"\\ude00") for step in told]
    for mode in ("stream", "gathered"):
        crossed = await cross(crossing, pair, cut, mode=mode)
        assert crossed.heard.text == "tide 😀 and 😀"


def _without_spaces(events: bytes) -> bytes:
    return events.replace(b"data: ", b"data:").replace(b"event: ", b"event:")


def _on_several_lines(events: bytes) -> bytes:
    """A line end after the first comma of every event's JSON."""
    lines = events.split(b"\n")
    return b"\n".join(
        line.replace(b",", b",\ndata: ", 1) if line.startswith(b"data: {") else line for line in lines
    )


def _with_noise(events: bytes) -> bytes:
    """Comments, a retry line, an event without data, a line of a field that nobody knows."""
    head = b"\xef\xbb\xbf: OPENROUTER PROCESSING\n\nretry: 3000\n\nevent: keepalive\n\n"
    return head + events.replace(b"\n\n", b"\nfoo: bar\n: x\n\n: y\n\n")


def _with_ids(events: bytes) -> bytes:
    parts = events.split(b"\n\n")[:-1]
    return b"".join(b"id: %d\n%b\n\n" % (number, part) for number, part in enumerate(parts))


@every_cross_pair
async def test_b003_b005_b006_b008_s011_events_in_every_legal_form(crossing: Stage, pair: Pair) -> None:
    plain = pair.channel.script().bytes()
    assert b"data: {" in _on_several_lines(plain)
    forms = {
        "no space": _without_spaces(plain),
        "several data lines": _on_several_lines(plain),
        "CR LF": plain.replace(b"\n", b"\r\n"),
        "CR": plain.replace(b"\n", b"\r"),
        "noise": _with_noise(plain),
        "ids": _with_ids(plain),
        "no last blank line": plain.removesuffix(b"\n"),
        "DONE at the end": plain + n.DONE,
        "event names": plain if pair.channel is not CHAT else plain.replace(b"data:", b"event: chunk\ndata:"),
        "no event names": b"\n".join(line for line in plain.split(b"\n") if not line.startswith(b"event:")),
    }
    await together(
        {
            f"{name}, {size}": _says(crossing, pair, Answer(pieces(form, size or len(form))))
            for name, form in forms.items()
            for size in (0, 5)
        }
    )


@every_cross_pair
async def test_b003_errors_are_seen_without_the_space_too(crossing: Stage, pair: Pair) -> None:
    script = pair.channel.script()
    events = [*script.opening, script.deltas[0], pair.channel.error_event("boom")]
    answer = stream(_without_spaces(b"".join(events)), EOF)
    played = await crossing.play(pair.client, answer, channel=pair.channel)
    error = pair.client.error_of(played.stream.events[-1])
    assert error is not None
    assert error["message"] == "boom"


@every_pair
async def test_b013_json_where_a_stream_was_asked(crossing: Stage, pair: Pair) -> None:
    """And a stream where none was asked."""
    content = json.dumps(pair.channel.whole()).encode()

    async def gathered() -> None:
        mode = await cross(crossing, pair, mode="gathered")
        assert mode.heard.text == "Hello"

    async def labelled(headers: tuple[tuple[str, str], ...]) -> None:
        first, *rest = pair.channel.script().all
        steps = (Pause(0.02), b": ping\n\n", first[:2], Pause(0.02), first[2:], rest)
        answer = stream(*steps, headers=headers)
        await _says(crossing, pair, answer)

    await together(
        {
            "JSON": _says(crossing, pair, body(content)),
            "SSE": gathered(),
            "SSE called JSON": labelled(JSON),
            "SSE called nothing": labelled(()),
        }
    )


@every_pair
async def test_b015_an_empty_stream_is_a_failure(crossing: Stage, pair: Pair) -> None:
    async def empty(*steps: bytes, streamed: bool) -> None:
        played = await crossing.play(pair.client, stream(steps), channel=pair.channel, stream=streamed)
        check_refusal(pair.client, played.reply, UPSTREAM)
        row = await played.row()
        assert (row["outcome"], row["output_tokens"]) == ("failed", 0)

    nothings = {"nothing": (), "comments": (b": a\n\n", b": b\n\n"), "DONE": (n.DONE,)}
    await together(
        {
            f"{name}, stream {streamed}": empty(*steps, streamed=streamed)
            for name, steps in nothings.items()
            for streamed in (True, False)
        }
    )


def _compressed(coding: str, parts: list[bytes]) -> list[bytes]:
    """Each part flushed, as it would be for a stream."""
    match coding:
        case "gzip":
            packer = zlib.compressobj(wbits=31)
            flushed = [packer.compress(part) + packer.flush(zlib.Z_SYNC_FLUSH) for part in parts]
            return [*flushed, packer.flush()]
        case "br":
            brotlied = brotli.Compressor()
            flushed = [brotlied.process(part) + brotlied.flush() for part in parts]
            return [*flushed, brotlied.finish()]
        case _:
            zstd = zstandard.ZstdCompressor().compressobj()
            flush = zstandard.COMPRESSOBJ_FLUSH_BLOCK
            return [*(zstd.compress(part) + zstd.flush(flush) for part in parts), zstd.flush()]


async def test_b016_compressed_upstreams(crossing: Stage) -> None:
    """Each event reaches the caller when it was written, in the clear."""

    async def flushed(pair: Pair, coding: str) -> None:
        model = crossing.model(pair.channel)
        parts = _compressed(coding, pair.channel.script(model).all)
        headers = (("content-type", "text/event-stream"), ("content-encoding", coding))
        before_end = len(parts) - len(pair.channel.script().closing) - 1
        first, last = parts[:before_end], parts[before_end:]
        gate = Gate()
        crossing.script(pair.channel, model, [stream(first, gate, last, headers=headers)])
        accepts = [("accept-encoding", "gzip, br, zstd")]
        async with crossing.gateway.open(pair.client, pair.client.request(model), extra=accepts) as reply:
            await reply.until(b'"lo"')
            gate.open()
            await reply.finish()
        assert reply.header("content-encoding") is None
        assert reply.header("content-length") is None

    await together(
        {
            f"{pair.name}, {coding}": flushed(pair, coding)
            for pair in CROSS
            for coding in ("gzip", "br", "zstd")
        }
    )


@pytest.mark.parametrize("pair", [Pair(MESSAGES, CHAT), Pair(CHAT, MESSAGES)], ids=lambda pair: pair.name)
async def test_b016_compressed_whole_answers(crossing: Stage, pair: Pair) -> None:
    content = gzip.compress(json.dumps(pair.channel.whole()).encode())
    answer = Answer((content,), headers=[*JSON, ("content-encoding", "gzip")], framing=Framing.LENGTH)
    played = await crossing.play(pair.client, answer, channel=pair.channel, stream=False)
    assert pair.client.whole_text(played.reply.json()) == "Hello"
    assert played.reply.header("content-encoding") is None


async def test_b188_each_event_is_passed_on_when_it_was_written(crossing: Stage) -> None:
    words = ("one", "two", "three")

    async def paced(pair: Pair) -> None:
        model = crossing.model(pair.channel)
        script = pair.channel.script(model, words)
        gates = [Gate() for _ in words]
        told = [step for both in zip(script.deltas, gates, strict=True) for step in both]
        crossing.script(pair.channel, model, [stream(script.opening, told, script.closing)])
        async with crossing.gateway.open(pair.client, pair.client.request(model)) as reply:
            for word, gate in zip(words, gates, strict=True):
                await reply.until(f'"{word}"'.encode())
                gate.open()  # the upstream says no more before
            await reply.finish()
        assert "no-cache" in (reply.header("cache-control") or "")
        assert reply.header("x-accel-buffering") == "no"

    await together({pair.name: paced(pair) for pair in CROSS})


@pytest.mark.parametrize("channel", [RESPONSES, MESSAGES], ids=lambda side: side.name)
async def test_b187_ids_stay_the_same_in_a_stream(crossing: Stage, channel: Side) -> None:
    """And are the gateway's own, another for each answer."""
    seen = set()
    for _ in range(2):
        chunks = (await cross(crossing, Pair(CHAT, channel))).played.stream.json()
        ((identifier, created, _),) = {(one["id"], one["created"], one["model"]) for one in chunks}
        assert identifier.startswith("chatcmpl-")
        assert created > 1_700_000_000
        seen.add(identifier)
    assert len(seen) == 2
