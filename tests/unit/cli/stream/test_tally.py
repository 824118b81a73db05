"""What the closing lines and the exit code say about a stream."""

import pytest

from tidegate.cli.exit_codes import Exit
from tidegate.cli.stream.said import (
    Counted,
    Ended,
    Failed,
    Piece,
    Reasoning,
    Stopped,
    Text,
    Unreadable,
)
from tidegate.cli.stream.tally import Close, Tally, figures, verdict
from tidegate.core.protocol import Protocol
from tidegate.core.usage import Usage


def tally(*pieces: Piece) -> Tally:
    result = Tally()
    for number, piece in enumerate(pieces, 1):
        result = result.with_piece(piece, number / 10)
    return result


def test_the_first_token_is_the_first_output_and_the_total_ends_at_the_mark() -> None:
    seen = tally(
        Counted(Usage(input=9, output=1)),
        Reasoning("hm"),
        Text("Hi"),
        Counted(Usage(output=30, reasoning=12, cache_read=4)),
        Ended("message_stop"),
    )
    assert figures(seen, 3.0).text == (
        "usage: 9 input, 4 cache read, 30 output (12 of it reasoning) · first token: 200 ms · total: 500 ms\n"
    )


def test_what_was_not_told_is_not_invented() -> None:
    assert figures(Tally(), 2.5).text == "usage: not told · first token: none · total: 2.50 s\n"


@pytest.mark.parametrize(
    ("pieces", "close", "code", "words"),
    [
        (
            [Stopped("stop"), Ended("[DONE]")],
            Close.IN_ORDER,
            Exit.OK,
            "whole: ended with its end mark [DONE]",
        ),
        ([Text("a")], Close.IN_ORDER, Exit.NO_END_MARK, "not whole: the stream was closed without"),
        ([Text("a")], Close.BROKEN, Exit.NO_END_MARK, "not whole: the connection broke without"),
        ([Text("a")], Close.INTERRUPTED, Exit.INTERRUPTED, "interrupted before"),
        ([Failed("x", "y")], Close.IN_ORDER, Exit.FAILED, "failed: ended by an error event, without"),
        (
            [Failed("x", "y"), Ended("response.failed")],
            Close.IN_ORDER,
            Exit.FAILED,
            "failed: ended with response",
        ),
        ([Unreadable("{"), Ended("[DONE]")], Close.IN_ORDER, Exit.FAILED, "failed: ended with [DONE], but 1"),
    ],
)
def test_verdict_and_exit_code_agree(pieces: list[Piece], close: Close, code: Exit, words: str) -> None:
    seen = tally(*pieces)
    assert seen.exit_code(close) is code
    assert verdict(seen, close, Protocol.CHAT).text.startswith(words)


def test_a_missing_end_mark_is_named_with_the_reason_that_did_come() -> None:
    line = verdict(tally(Stopped("stop")), Close.IN_ORDER, Protocol.CHAT).text
    assert line == "not whole: the stream was closed without the end mark [DONE], finish reason stop\n"
