"""Counts what a request used and closes its row, also when the client has gone."""

import asyncio
from collections.abc import Callable, Coroutine, Iterable

from msgspec import json

from tidegate.core.failure import Failure, Kind
from tidegate.core.usage import Usage
from tidegate.engine.actions import AppendError, Complete, Failover, Refuse
from tidegate.engine.signals import Phase
from tidegate.exchange.attempt import Ended
from tidegate.exchange.estimates import estimate, guess
from tidegate.exchange.ports import Journal, Limits, Ownership, RequestRecord
from tidegate.exchange.request import Request
from tidegate.exchange.story import NOTHING, Story, Told, nothing_produced
from tidegate.exchange.streaming import Stream
from tidegate.exchange.tally import Tally
from tidegate.exchange.traced import Spans
from tidegate.exchange.whole import WholeExchange
from tidegate.protocols.base import Dialect, Whole

CLIENT_CLOSED = 499
"""The row's status when the client left before anything was sent (nginx's number)."""
NOT_ACCEPTED = ("timeout_error", "client_timeout", "the client accepted no byte for too long")
"""Type, code and message in the row of a stream whose client was given up."""


class Settlement:
    """Turns finished stories into rows. Estimates run in tasks of the application, not of the request."""

    def __init__(
        self,
        journal: Journal,
        ownership: Ownership,
        limits: Limits,
        clock: Callable[[], float],
        tell: Callable[[RequestRecord, Kind | None], None],
        tally: Tally,
        spans: Spans | None = None,
    ) -> None:
        """`tell` gets each row, and why the request failed if it did; without `spans` nothing is traced."""
        self._journal = journal
        self._limits = limits
        self._ownership = ownership
        self._clock = clock
        self._tell = tell
        self._tally = tally
        self.spans = spans
        self._tasks: set[asyncio.Task[None]] = set()

    async def settled(self) -> None:
        """Wait for what runs on after its request."""
        while self._tasks:
            await asyncio.wait(set(self._tasks))

    def close(
        self,
        story: Story,
        told: Told = NOTHING,
        ended_at: float | None = None,
        produced: Callable[[], int] = nothing_produced,
    ) -> None:
        """Charge and write the row of an answer that ended at `ended_at` (monotonic), or now.

        With it the request's hold and its place in the limits are free.
        """
        record = story.record(self._clock() if ended_at is None else ended_at, told, produced)
        self._journal.write(record)
        self._free_place(story, told.usage.total)
        if story.tab is not None and story.tab.held is not None:
            self._tally.free(story.tab.held)
            story.tab.held = None
        self._tell(record, story.failure_kind)
        trace = story.incoming.trace
        if trace is not None and trace.sampled and self.spans is not None:
            self.spans.take(story.traced(trace, record))

    def refused(self, story: Story, dialect: Dialect, failure: Failure, status: int, outcome: str) -> None:
        """Nothing useful was sent."""
        story.status, story.outcome = status, outcome
        _note_failure(story, dialect, failure)
        self.close(story)

    def stream_ended(self, stream: Stream, ended: Ended) -> None:
        """The client has its last byte of a stream, whatever it was."""
        story, dialect = stream.request.story, stream.request.dialect
        story.note_progress(stream.progress, stream.imprint)
        story.status = 200
        match ended:
            case Complete():
                self._note_answer(stream)
                if stream.estimated is not None:  # it is counted once only
                    self.close(story, stream.estimated, produced=lambda: stream.produced)
                else:
                    self._settle(stream.request, stream.usage, stream.text)
            case AppendError(failure, told):
                story.outcome = "interrupted"
                _note_failure(story, dialect, told or failure)
                story.failure_kind = failure.kind
                self._settle(stream.request, stream.usage, stream.text)
            case Failover(failure) | Refuse(failure):
                opened = stream.progress.phase is not Phase.SILENT
                status = 200 if opened else dialect.error_answer(failure, story.incoming.id)[0]
                self.refused(story, dialect, failure, status, "failed" if story.attempts else "rejected")

    def stream_left(self, stream: Stream) -> None:
        """The client went in the middle of a stream; what an upstream had accepted is counted."""
        story = stream.request.story
        story.note_progress(stream.progress, stream.imprint)
        story.outcome = "client_closed"
        if stream.pipe.given_up:
            story.error_type, story.error_code, story.error_message = NOT_ACCEPTED
        story.status = CLIENT_CLOSED if stream.progress.phase is Phase.SILENT else 200
        if stream.accepted:
            self._settle(stream.request, stream.usage, stream.text)
        else:
            self.close(story)

    async def usage_owed(self, stream: Stream) -> Usage:
        """The estimate for a caller who asked for usage that the upstream did not tell."""
        stream.estimated = await _estimate(stream.request, stream.usage, stream.text())
        return stream.estimated.usage

    def whole_ended(self, exchange: WholeExchange, whole: Whole) -> None:
        """The client has a whole answer."""
        story = exchange.request.story
        story.status = 200
        story.outcome = "incomplete" if whole.incomplete else "completed"
        story.finish_reason = whole.finish_reason
        story.imprint = whole.imprint
        self.remember(exchange.request, whole.ids)
        self._settle(exchange.request, whole.usage, lambda: whole.text)

    def whole_left(self, exchange: WholeExchange) -> None:
        """The client went before the whole answer came."""
        story = exchange.request.story
        story.outcome, story.status = "client_closed", CLIENT_CLOSED
        if exchange.accepted:
            self._after(self._settle_left(exchange))
        else:
            self.close(story)

    def remember(self, request: Request, ids: Iterable[str]) -> None:
        """Note which account and channel group the answer's ids belong to."""
        channel = request.snapshot.catalog.channel(request.story.channel or "")
        if channel is not None and request.asked.stores:
            self._ownership.remember(ids, request.account, channel.group or channel.name)

    def _note_answer(self, stream: Stream) -> None:
        story, watcher = stream.request.story, stream.watcher
        if watcher is not None:
            story.outcome = "incomplete" if watcher.incomplete else "completed"
            story.finish_reason = watcher.finish_reason
            self.remember(stream.request, watcher.ids)

    def _settle(self, request: Request, usage: Usage | None, text: Callable[[], str]) -> None:
        if usage is not None and usage.input is not None and usage.output is not None:
            told = Told(usage=usage, source="upstream")
            self.close(request.story, told, produced=lambda: len(text().encode("utf-8", "replace")))
        else:
            said = text()
            if request.story.tab is not None:
                # The next request of this client may come before the tokenizer is done.
                self._free_place(request.story, guess(request.story.tab.bounds.input, usage, said))
            self._after(self._settle_estimated(request, usage, said, self._clock()))

    def _free_place(self, story: Story, used: int) -> None:
        """Give back the place in the limits, once; `used` tokens replace the estimate of the start."""
        tab = story.tab
        if tab is not None and tab.scopes:
            self._limits.finish(story.incoming.id, tab.scopes, tab.estimated, used)
            tab.scopes = ()

    async def _settle_estimated(
        self, request: Request, usage: Usage | None, text: str, ended_at: float
    ) -> None:
        """Whatever becomes of the estimate, there is a row."""
        told = NOTHING
        try:
            told = await _estimate(request, usage, text)
        finally:
            self.close(request.story, told, ended_at, produced=lambda: len(text.encode("utf-8", "replace")))

    async def _settle_left(self, exchange: WholeExchange) -> None:
        """What had come is paid, though nobody got it; it is read on a thread, as it may be long."""
        usage, text = None, ""
        try:
            usage, text = await asyncio.to_thread(exchange.heard)
        finally:
            self._settle(exchange.request, usage, lambda: text)

    def _after(self, work: Coroutine[None, None, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


async def _estimate(request: Request, usage: Usage | None, text: str) -> Told:
    return await estimate(request.dialect, request.asked, usage, text, request.world.tokenizer)


def _note_failure(story: Story, dialect: Dialect, failure: Failure) -> None:
    """Type and code as the caller was told them."""
    _, body = dialect.error_answer(failure, story.incoming.id)
    told = json.decode(body)["error"]
    story.error_type, story.error_code = told["type"], told.get("code")
    story.error_message = failure.message
    story.failure_kind = failure.kind
