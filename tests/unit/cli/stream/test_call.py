"""What each kind of answer becomes, heard through a port that a test plays."""

import asyncio
import io
from collections.abc import Callable

import pytest

from tidegate.cli.exit_codes import Exit
from tidegate.cli.stream.call import NoAnswer, NoStream, Outcome, Refused, Streamed, listen
from tidegate.cli.stream.screen import PipedConsole, Screen
from tidegate.cli.stream.tally import Close
from tidegate.core.failure import Failure, Kind
from tidegate.core.protocol import Protocol
from tidegate.core.secret import Secret
from tidegate.exchange.ports import Sink, UpstreamRequest
from tidegate.routing.catalog import Channel

CHANNEL = Channel(name="c", protocol=Protocol.MESSAGES, base_url="http://h", api_key=Secret(""), models={})
SSE = {"content-type": "text/event-stream; charset=utf-8"}
TEXT = b'data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hi"}}\n\n'
STOP = b'data: {"type":"message_stop"}\n\n'
CUT = Failure(kind=Kind.UPSTREAM, message="connection lost")


class Played:
    """An upstream whose answer is a function of the sink; it is also the call."""

    def __init__(self, answer: Callable[[Sink], None]) -> None:
        self._answer = answer
        self.cancelled = 0

    def open(self, channel: Channel, request: UpstreamRequest, sink: Sink) -> "Played":
        asyncio.get_running_loop().call_soon(self._answer, sink)
        return self

    def cancel(self) -> None:
        self.cancelled += 1

    finish = pause = resume = cancel


def screen(*, raw: bool = False, show_reasoning: bool = True) -> tuple[Screen, io.StringIO]:
    output = io.StringIO()
    console = PipedConsole(file=output, soft_wrap=True)
    return Screen(Protocol.MESSAGES, console, raw=raw, show_reasoning=show_reasoning), output


def heard(answer: Callable[[Sink], None], shown: Screen) -> Outcome:
    played = Played(answer)
    request = UpstreamRequest("POST", "/v1/messages", (), b"{}")

    async def run() -> Outcome:
        return await asyncio.wait_for(listen(played, CHANNEL, request, shown, lambda: 0.25), 60)

    outcome = asyncio.run(run())
    assert played.cancelled == 1
    return outcome


def streaming(*chunks: bytes) -> Callable[[Sink], None]:
    def answer(sink: Sink) -> None:
        sink.on_head(200, SSE)
        for chunk in chunks:
            sink.on_body(chunk)
        sink.on_end()

    return answer


def test_a_whole_stream_is_shown_and_judged_whole() -> None:
    shown, output = screen()
    assert heard(streaming(TEXT[:20], TEXT[20:] + STOP), shown) == Streamed(Close.IN_ORDER)
    assert shown.close(Close.IN_ORDER, 0.3) is Exit.OK
    assert output.getvalue() == (
        "Hi\nwhole: ended with its end mark message_stop\n"
        "usage: not told · first token: 250 ms · total: 250 ms\n"
    )


def test_a_last_event_without_its_blank_line_counts_at_the_end() -> None:
    shown, _ = screen()
    heard(streaming(TEXT, STOP[:-2]), shown)
    assert shown.close(Close.IN_ORDER, 0.3) is Exit.OK


def test_a_server_that_stays_open_after_the_end_mark_is_not_waited_for() -> None:
    def answer(sink: Sink) -> None:
        sink.on_head(200, SSE)
        sink.on_body(STOP)

    shown, _ = screen()
    assert heard(answer, shown) == Streamed(Close.IN_ORDER)


def test_a_broken_connection_is_told_from_an_orderly_close() -> None:
    def answer(sink: Sink) -> None:
        sink.on_head(200, SSE)
        sink.on_body(TEXT)
        sink.on_failure(CUT)

    shown, output = screen()
    assert heard(answer, shown) == Streamed(Close.BROKEN, CUT)
    assert shown.close(Close.BROKEN, 0.3) is Exit.NO_END_MARK
    assert "the connection broke without the end mark message_stop" in output.getvalue()


def test_refusals_and_other_answers_keep_their_body() -> None:
    def refuse(sink: Sink) -> None:
        sink.on_head(529, {"content-type": "application/json"})
        sink.on_body(b"x" * 100_000)
        sink.on_end()

    def page(sink: Sink) -> None:
        sink.on_head(200, {"content-type": "text/html"})
        sink.on_body(b"<html>")
        sink.on_end()

    assert heard(refuse, screen()[0]) == Refused(529, {"content-type": "application/json"}, b"x" * 65536)
    assert heard(page, screen()[0]) == NoStream("text/html", b"<html>")


def test_no_connection_is_no_answer() -> None:
    assert heard(lambda sink: sink.on_failure(CUT), screen()[0]) == NoAnswer(CUT)


def test_what_showing_raises_ends_the_call() -> None:
    class Gone(io.StringIO):
        def write(self, text: str) -> int:
            raise BrokenPipeError

    shown = Screen(Protocol.MESSAGES, PipedConsole(file=Gone()), raw=False, show_reasoning=True)
    with pytest.raises(BrokenPipeError):
        heard(streaming(TEXT, STOP), shown)


def test_reasoning_can_be_left_out_but_still_is_the_first_token() -> None:
    thought = TEXT.replace(b"text_delta", b"thinking_delta").replace(b'"text"', b'"thinking"')
    shown, output = screen(show_reasoning=False)
    heard(streaming(thought, STOP), shown)
    assert output.getvalue() == ""
    assert shown.tally.first_token == 0.25


def test_raw_shows_lines_and_comments_with_their_time() -> None:
    shown, output = screen(raw=True)
    heard(streaming(b": keepalive\n", STOP), shown)
    assert output.getvalue() == f"   0.250  : keepalive\n   0.250  {STOP.decode()}"
