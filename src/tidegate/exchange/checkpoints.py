"""Notes now and then what open streams have used, so that a killed process loses a second of it at most."""

import asyncio
from typing import NoReturn

from msgspec import Struct, structs

from tidegate.core.usage import Usage
from tidegate.engine.signals import Phase
from tidegate.exchange.estimates import BYTES_A_TOKEN, INLINE_BODY, estimate_prompt
from tidegate.exchange.ports import Books, RequestRecord, Tokenizer
from tidegate.exchange.story import NOTHING, Told
from tidegate.exchange.streaming import Stream

PERIOD = 0.7
"""Seconds between two looks; with the writing it stays below one second."""
AT_ONCE = 50
"""Streams looked at before other work gets its turn."""


class _Counted(Struct):
    """How far the output of a stream has been counted."""

    watcher: object = None
    """Whose output: a stream that changed channel begins anew."""
    spoken: int = 0
    """Bytes."""
    tokens: int = 0
    input: int | None = None


class Checkpoints:
    """The open streams of this process. Output is counted by its new part only, off the event loop."""

    def __init__(self, books: Books, tokenizer: Tokenizer) -> None:
        self._books = books
        self._tokenizer = tokenizer
        self._open: dict[str, tuple[Stream, _Counted]] = {}

    def __len__(self) -> int:
        """How many streams are open."""
        return len(self._open)

    def add(self, stream: Stream) -> None:
        """Begin to look at a stream."""
        self._open[_id(stream)] = (stream, _Counted())

    def remove(self, stream: Stream) -> None:
        """Its row is being written: look at it no more."""
        self._open.pop(_id(stream), None)

    async def run(self) -> NoReturn:
        """Look until cancelled."""
        while True:
            await asyncio.sleep(PERIOD)
            await self.look()

    async def look(self) -> None:
        """Note what the streams have used that were accepted, or said something, since the last look."""
        noted: list[RequestRecord] = []
        for number, (stream, counted) in enumerate(list(self._open.values()), 1):
            if number % AT_ONCE == 0:
                await asyncio.sleep(0)
            if self._has_news(stream, counted):
                usage = await self._used(stream, counted)
                if _id(stream) in self._open:
                    noted.append(_record(stream, usage))
        if noted:
            self._books.checkpoint(noted)

    def _has_news(self, stream: Stream, counted: _Counted) -> bool:
        watcher = stream.watcher
        if watcher is None or not stream.accepted:
            return counted.watcher is not None  # the attempt that was noted has failed: it is free
        return counted.watcher is not watcher or counted.spoken != watcher.spoken

    async def _used(self, stream: Stream, counted: _Counted) -> Told:
        """The upstream's counts where it told them, else the tokenizer's; before a word the prompt's."""
        watcher = stream.watcher
        if watcher is None or not stream.accepted:
            counted.watcher = None
            return NOTHING
        if counted.watcher is not watcher:
            counted.watcher, counted.spoken, counted.tokens = watcher, 0, 0
        said, counted.spoken = watcher.text(counted.spoken), watcher.spoken
        counted.tokens += await self._tokenizer.count((said,))
        told = stream.usage or Usage()
        if told.input is None and counted.input is None:
            counted.input = await self._prompt(stream)
        if told.input is not None and told.output is not None:
            return Told(usage=told, source="upstream")
        known = told.merged(Usage(output=counted.tokens if told.output is None else None))
        if known.input is None:
            known = known.merged(Usage(input=counted.input))
        return Told(usage=known, source="estimated")

    async def _prompt(self, stream: Stream) -> int:
        """The tokens of the prompt; a long one is only guessed, as its true count comes with the end."""
        asked = stream.request.asked
        if len(asked.body) > INLINE_BODY:
            return len(asked.body) // BYTES_A_TOKEN
        return await estimate_prompt(stream.request.dialect, asked, self._tokenizer)


def _id(stream: Stream) -> str:
    return stream.request.story.incoming.id


def _record(stream: Stream, told: Told) -> RequestRecord:
    story = stream.request.story
    story.first_useful_at = stream.progress.first_useful_at
    if story.trying is not None:
        story.trying.marks.first_event_at = stream.progress.useful_at
    watcher = stream.watcher
    record = story.interrupted(
        stream.request.world.clock(), told, produced=lambda: 0 if watcher is None else watcher.spoken
    )
    return structs.replace(record, status=500) if stream.progress.phase is Phase.SILENT else record
