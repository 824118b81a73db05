"""What every worker counts, in memory that they share."""

import logging
import mmap
from zlib import crc32

import msgspec

from tidegate.observe.counts import Counts, counted

log = logging.getLogger(__name__)

ROOM = 4 * 1024 * 1024
"""Bytes for what one worker counts; only what is written takes memory."""

_WORD = 8
_ALIVE, _TURN, _DEATHS, _WORDS = 0, 1, 2, 4
"""Each worker's part begins with whether it lives, how often it has written, and how many died before it."""
_HEAD = 2 * _WORD
"""Each of its two pages begins with length and checksum."""
_TRIES = 50

_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(Counts).decode


class CountsBoard:
    """A part for each worker, made before the fork. Each writes its own and reads all.

    A part has two pages that are written in turn. So a reader always finds a whole one, also when the
    writer was killed while it wrote.
    """

    def __init__(self, workers: int, room: int = ROOM) -> None:
        self._workers = workers
        self._room = room
        self._page = _HEAD + room
        self._part = _WORDS * _WORD + 2 * self._page
        self._memory = memoryview(mmap.mmap(-1, workers * self._part))
        self._words = self._memory.cast("Q")
        self._seen: dict[int, Counts] = {}
        self._full = False

    def post(self, number: int, counts: Counts) -> None:
        """Write what a worker counts, if there is room for it."""
        text = _packed(counts)
        if len(text) > self._room:
            if not self._full:
                log.error("metrics: %d bytes of labels are more than there is room for", len(text))
            self._full = True
            return
        word = number * self._part // _WORD
        turn = self._words[word + _TURN] + 1
        begin = self._begin(number, turn)
        self._words[begin // _WORD] = len(text)
        self._words[begin // _WORD + 1] = crc32(text)
        self._memory[begin + _HEAD : begin + _HEAD + len(text)] = text
        self._words[word + _TURN] = turn
        self._words[word + _ALIVE] = 1

    def leave(self, number: int) -> None:
        """A worker is gone: only what it has counted stays."""
        self._words[number * self._part // _WORD + _ALIVE] = 0

    def bury(self, number: int) -> None:
        """A worker has ended; it has died if it had not left before."""
        word = number * self._part // _WORD
        self._words[word + _DEATHS] += self._words[word + _ALIVE]
        self.leave(number)

    def deaths(self, number: int) -> int:
        """How many workers of this number have died."""
        return self._words[number * self._part // _WORD + _DEATHS]

    def inherited(self, number: int) -> Counts:
        """What earlier workers of this number have counted."""
        return counted(self._read(number))

    def all(self) -> list[Counts]:
        """What each worker counts; of those that are gone what never goes down."""
        return [
            self._read(number) if self._is_alive(number) else counted(self._read(number))
            for number in range(self._workers)
        ]

    def _is_alive(self, number: int) -> bool:
        return bool(self._words[number * self._part // _WORD + _ALIVE])

    def _begin(self, number: int, turn: int) -> int:
        return number * self._part + _WORDS * _WORD + (turn & 1) * self._page

    def _read(self, number: int) -> Counts:
        """The newest page; one that is being written over while it is read is left for the next."""
        for _ in range(_TRIES):
            turn = self._words[number * self._part // _WORD + _TURN]
            if turn == 0:
                return {}
            begin = self._begin(number, turn)
            length, checksum = self._words[begin // _WORD], self._words[begin // _WORD + 1]
            text = bytes(self._memory[begin + _HEAD : begin + _HEAD + min(length, self._room)])
            if len(text) == length and crc32(text) == checksum:
                self._seen[number] = counts = _decode(text)
                return counts
        return self._seen.get(number, {})


def _packed(counts: Counts) -> bytes:
    """Sums may grow beyond what the form has whole numbers for: upstreams report any count of tokens."""
    try:
        return _encode(counts)
    except OverflowError:
        return _encode(
            {
                name: {labels: [float(number) for number in cell] for labels, cell in cells.items()}
                for name, cells in counts.items()
            }
        )
