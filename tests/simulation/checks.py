"""What must hold after every run, whatever was played."""

import re
from dataclasses import dataclass
from itertools import pairwise

from tests.simulation.client import PlayedClient
from tests.simulation.heard import Heard, hear
from tests.simulation.plays import LATE
from tests.simulation.scenario import COMMIT_AFTER, FIRST_EVENT, KEEPALIVE, Ask, Errand
from tests.simulation.speech import Speech
from tests.simulation.speech import Told as ToldUsage
from tests.simulation.upstream import PlayedCall

from tidegate.exchange.ports import RequestRecord

_TAG = re.compile(rb"(q\d+a\d+)\.")
_WORD = re.compile(rb"delta[^\n]*?(q\d+a\d+\.[twc])")
_SLACK = 0.3
"""Seconds that a sign of life may be late: the heartbeat looks a few times a second."""
_ANSWERED = ("completed", "incomplete")


@dataclass(frozen=True)
class Told:
    """One request: what was asked, what the client got, the upstream calls, the row that remains."""

    ask: Ask
    client: PlayedClient
    calls: list[PlayedCall]
    row: RequestRecord | None
    reloaded_at: float | None


def check_client(told: Told) -> Heard:
    """A whole answer in the form of its protocol; what it says."""
    client = told.client
    heard = hear(told.ask.protocol, client)
    check_one_answer(told, heard)
    if client.left_at is None and told.ask.errand is not Errand.COUNT:
        assert heard.ended or heard.error is not None, "the answer has no end"
        assert client.ended
    _check_signs(client, told.calls)
    return heard


def words_in(text: bytes) -> int:
    """How many words of upstreams are in what a client got."""
    return len(_WORD.findall(text))


def check_one_answer(told: Told, heard: Heard) -> None:
    """The words of one attempt, in order and no more."""
    client, calls = told.client, told.calls
    assert LATE.encode() not in client.written, "words from after the end mark"
    tags = {tag.decode() for tag in _TAG.findall(client.written)}
    assert len(tags) <= 1, f"words of {len(tags)} attempts in one answer: {sorted(tags)}"
    if tags:
        (tag,) = tags
        (call,) = [call for call in calls if call.tag == tag]
        assert call.accepted
        _check_words(heard, call.play.speech)


def _check_words(heard: Heard, speech: Speech) -> None:
    for said, meant in (
        (heard.text, speech.text),
        (heard.thought, speech.thought),
        (heard.call, speech.call),
    ):
        assert meant.startswith(said), f"{said!r} is no beginning of {meant!r}"
    if heard.ended:
        assert heard.text == speech.text, "the text of a whole answer is not whole"
        assert heard.call == speech.call, "the call of a whole answer is not whole"
        assert heard.thought in ("", speech.thought)


def _check_signs(client: PlayedClient, calls: list[PlayedCall]) -> None:
    """An open stream is never silent for longer than was promised, unless its client is behind.

    The first sign is due from the first call on: before it, limits and money decide on the status.
    """
    if not client.streamed or client.fell_behind:
        return
    first, *_ = times = [time for time, _ in client.writes]
    began = calls[0].opened_at if calls else client.asked_at
    assert first <= began + COMMIT_AFTER + _SLACK, "the first sign of life is late"
    gaps = [later - earlier for earlier, later in pairwise(times)]
    assert all(gap <= KEEPALIVE + _SLACK for gap in gaps), f"silence of {max(gaps)} s in an open stream"


def check_patience(calls: list[PlayedCall]) -> None:
    """An upstream that answers well and in time is heard to its end."""
    for call in calls:
        if call.play.kind in ("good", "late") and call.play.duration < FIRST_EVENT:
            assert call.ended_by != "cancel", f"{call.tag} was given up although it was good and in time"


def check_calls(told: Told) -> None:
    """No upstream call outlives what it is for."""
    client, calls = told.client, told.calls
    for call in calls:
        assert call.ended_at is not None, f"{call.tag} is still open"
        if client.left_at is not None:
            assert call.ended_at <= client.left_at + 1, f"{call.tag} was left open when the client had gone"
    for earlier, later in pairwise(calls):
        assert (earlier.ended_at or 0) <= later.opened_at, f"{earlier.tag} and {later.tag} at one time"


def check_row(told: Told, heard: Heard, row: RequestRecord) -> None:
    """The row tells what the client has seen."""
    ask, client, calls = told.ask, told.client, told.calls
    assert [attempt.channel for attempt in row.attempts] == [call.channel.name for call in calls]
    assert row.duration_ms >= 0
    assert row.first_token_ms is None or 0 <= row.first_token_ms <= row.duration_ms + 1e-6
    if client.left_at is None:
        assert row.status == client.status
        assert row.outcome != "client_closed"
        if ask.errand is not Errand.COUNT:
            _check_outcome(client, heard, row)
    elif row.outcome == "client_closed":
        # What was written while it was leaving counts as sent.
        assert row.status == 200 or (row.status == 499 and client.status is None)
    if client.status in (429, 503, 529):
        assert float(client.headers["retry-after"]) >= 0
    _check_usage(heard, calls, row)


def _check_outcome(client: PlayedClient, heard: Heard, row: RequestRecord) -> None:
    if heard.ended:
        assert row.outcome in _ANSWERED, f"{row.outcome}, but the client has a whole answer"
        assert [attempt.outcome for attempt in row.attempts][-1] == "served"
        return
    assert row.error_message is not None
    if heard.text or heard.thought or heard.call:
        assert row.outcome == "interrupted"
    elif not row.attempts:
        assert row.outcome == "rejected"
    else:
        assert row.outcome in ("failed", "interrupted")
    if not client.streamed:
        assert row.outcome in ("failed", "rejected")


def _check_usage(heard: Heard, calls: list[PlayedCall], row: RequestRecord) -> None:
    counts = (row.input_tokens, row.cache_read_tokens, row.cache_write_tokens, row.output_tokens)
    assert all(type(count) is int and 0 <= count < 10**18 for count in counts), f"counts {counts}"
    if row.outcome in ("rejected", "failed"):
        assert counts == (0, 0, 0, 0)
        assert row.usage_source == "none"
        return
    if row.outcome in _ANSWERED and row.usage_source == "upstream":
        speech = calls[-1].play.speech
        if speech.told is ToldUsage.TRUE and speech.tokens is not None:
            tokens = speech.tokens
            assert counts == (tokens.fresh, tokens.read, tokens.write, tokens.output)
    missing = bool(calls) and calls[-1].play.speech.told is ToldUsage.MISSING
    assert not (missing and row.usage_source == "upstream"), "the upstream told no usage"
    if calls and calls[-1].play.speech.told in (ToldUsage.TRUE, ToldUsage.MISSING):
        words = len(_TAG.findall(f"{heard.text}{heard.thought}{heard.call}".encode()))
        assert row.output_tokens >= words, f"{words} words were heard, {row.output_tokens} tokens are told"
