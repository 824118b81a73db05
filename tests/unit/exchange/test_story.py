"""What is noted of a request becomes its row."""

import pytest
from msgspec import structs
from tests.unit.exchange.scene import KEY, Scene, channel

from tidegate.core.failure import Failure, Kind
from tidegate.core.usage import Usage
from tidegate.exchange.story import MOST_SKIPPED, NOTHING, Story, Told
from tidegate.exchange.trying import Trying
from tidegate.routing.catalog import Candidate


async def test_a_request_of_which_nothing_is_known() -> None:
    story = Story(incoming=Scene().incoming())
    record = story.record(1002.5, NOTHING)
    assert (record.id, record.created_at, record.duration_ms) == ("req_1", 1e9 + 1000, 2500)
    assert (record.key, record.account, record.model, record.channel) == (None, None, None, None)
    assert (record.first_token_ms, record.finish_reason) == (None, None)
    assert (record.input_tokens, record.output_tokens, record.usage_source) == (0, 0, "none")
    assert (record.outcome, record.attempts, record.warnings) == ("rejected", (), ())


async def test_a_whole_story() -> None:
    story = Story(incoming=Scene().incoming(), key=KEY, model="m", stream=True, channel="a")
    story.first_useful_at = 1000.4125
    story.losses += ("dropped:x",)
    story.add_attempt(
        Trying(candidate=Candidate(channel(), "up"), reason="priority 0", started=1000, started_at=5.0),
        1000.25,
        outcome="failed",
        status=None,
        failure=Failure(kind=Kind.UPSTREAM, message="cut", detail="reset by peer"),
    )
    usage = Usage(input=1, cache_read=2, cache_write=3, output=4, reasoning=2)
    record = story.record(1003, Told(usage=usage, source="upstream"))
    assert (record.key, record.account, record.stream) == ("laptop", "acme", True)
    assert round(record.first_token_ms or 0, 6) == 412.5
    counts = record.input_tokens, record.cache_read_tokens, record.cache_write_tokens, record.output_tokens
    assert counts == (1, 2, 3, 4)
    [attempt] = record.attempts
    assert (attempt.channel, attempt.upstream_model, attempt.status) == ("a", "up", None)
    assert (attempt.error, attempt.started_at, attempt.duration_ms) == (
        "upstream: cut (reset by peer)",
        5.0,
        250,
    )
    assert record.warnings == ("dropped:x",)


async def test_the_channels_that_were_left_out_are_bounded() -> None:
    story = Story(incoming=Scene().incoming())
    for number in range(MOST_SKIPPED + 5):
        story.skip(f"c{number}", "up", "x" * 1000)
    record = story.record(1003, NOTHING)
    assert [skipped.channel for skipped in record.skipped] == [f"c{n}" for n in range(MOST_SKIPPED)]
    assert {len(skipped.why) for skipped in record.skipped} == {300}


@pytest.mark.parametrize(
    ("sent", "kept"),
    [
        (None, None),
        ("", None),
        ("OpenAI/Python 2.1.0", "OpenAI/Python 2.1.0"),
        ("a\x1b[2Jb\u202ec\x9b", "a\ufffd[2Jb\ufffdc\ufffd"),
        ("\udcff", "\ufffd"),
        ("é" * 300, "é" * 200),
    ],
)
async def test_what_a_program_calls_itself_is_cleaned(sent: str | None, kept: str | None) -> None:
    incoming = Scene().incoming()
    headers = {} if sent is None else {"user-agent": sent}
    story = Story(incoming=structs.replace(incoming, headers=headers))
    assert story.record(1003, NOTHING).user_agent == kept
