"""`tidegate stream`: asks a model and shows the answer live."""

import asyncio
import json
import os
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, assert_never

import typer

from tidegate.cli.complaint import Complaint
from tidegate.cli.exit_codes import Exit
from tidegate.cli.stream.asking import BadUrl, Question, question
from tidegate.cli.stream.call import NoAnswer, NoStream, Outcome, Refused, Streamed, listen
from tidegate.cli.stream.refusal import no_answer, no_stream, refused
from tidegate.cli.stream.screen import MAX_EVENT_BYTES, PipedConsole, Screen
from tidegate.cli.stream.tally import Close
from tidegate.core.protocol import Protocol
from tidegate.core.secret import Secret
from tidegate.core.sse import Overflow
from tidegate.exchange.ports import UpstreamRequest
from tidegate.routing.catalog import Channel

if TYPE_CHECKING:
    from tidegate.upstream.client import HttpUpstream

DEFAULT_BASE_URL = "http://127.0.0.1:8080"


def stream(
    prompt: Annotated[str, typer.Argument(help="What to ask.")],
    protocol: Annotated[Protocol, typer.Option("--protocol", "-p", help="The protocol to speak.")],
    model: Annotated[str, typer.Option("--model", "-m", help="The model to ask for.")],
    base_url: Annotated[
        str,
        typer.Option(envvar="TIDEGATE_BASE_URL", help="The server to ask, with or without /v1."),
    ] = DEFAULT_BASE_URL,
    key: Annotated[
        str, typer.Option(envvar="TIDEGATE_KEY", help="The credential; better in the environment.")
    ] = "",
    raw: Annotated[
        bool, typer.Option("--raw", help="Show the lines of the stream, each with its time.")
    ] = False,
    no_reasoning: Annotated[
        bool, typer.Option("--no-reasoning", help="Leave out what the model thinks.")
    ] = False,
    extra: Annotated[
        str, typer.Option(help="More members of the request as a JSON object, e.g. '{\"tools\": [...]}'.")
    ] = "{}",
) -> None:
    """Ask a model, show the answer as it comes, and say whether it came whole."""
    try:
        asked = question(protocol, base_url, model, prompt, _object(extra))
    except BadUrl as error:
        raise Complaint(str(error), mend="correct --base-url or TIDEGATE_BASE_URL") from error
    screen = Screen(protocol, PipedConsole(soft_wrap=True), raw=raw, show_reasoning=not no_reasoning)
    channel = Channel(
        name="stream", protocol=protocol, base_url=asked.base_url, api_key=_credential(key), models={}
    )
    raise typer.Exit(converse(asked, channel, screen))


def _credential(text: str) -> Secret:
    if any(ord(char) < 0x20 or ord(char) == 0x7F for char in text):
        raise Complaint(
            "the credential holds a line break or another control character",
            mend="correct --key or TIDEGATE_KEY",
        )
    return Secret(text)


def _object(text: str) -> dict[str, object]:
    try:
        value = json.loads(text)
    except ValueError as error:
        raise Complaint(f"--extra is not JSON: {error}") from error
    if not isinstance(value, dict):
        raise Complaint("--extra must be a JSON object")
    return value


def converse(asked: Question, channel: Channel, screen: Screen) -> Exit:
    """Ask on a channel and show the stream; the result is the command's exit code."""
    from tidegate.upstream.client import HttpUpstream  # late for `--help`, early for the clock

    started = time.monotonic()

    def elapsed() -> float:
        return time.monotonic() - started

    try:
        outcome = asyncio.run(_ask(HttpUpstream, asked, channel, screen, elapsed))
    except KeyboardInterrupt:
        return screen.close(Close.INTERRUPTED, elapsed())
    except Overflow as error:
        message = f"an event of more than {MAX_EVENT_BYTES >> 20} MiB or 10,000 lines"
        raise Complaint(message, code=Exit.FAILED) from error
    return _close(outcome, asked, screen, elapsed())


async def _ask(
    connecting: "type[HttpUpstream]",
    asked: Question,
    channel: Channel,
    screen: Screen,
    elapsed: Callable[[], float],
) -> Outcome:
    upstream = connecting(os.environ)
    try:
        request = UpstreamRequest("POST", asked.path, asked.headers, asked.body)
        return await listen(upstream, channel, request, screen, elapsed)
    finally:
        await upstream.close()


def _close(outcome: Outcome, asked: Question, screen: Screen, at: float) -> Exit:
    url = asked.base_url + asked.path
    match outcome:
        case Streamed(close):
            return screen.close(close, at)
        case Refused():
            raise refused(url, outcome)
        case NoStream():
            raise no_stream(url, outcome)
        case NoAnswer():
            raise no_answer(url, outcome)
        case _ as never:
            assert_never(never)
