"""Estimates how many tokens a text has, with a vocabulary that ships with the package."""

import asyncio
import importlib.util
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from importlib.machinery import PathFinder
from itertools import chain
from typing import Protocol

from msgspec import Struct

ENCODING = "o200k_base"

INLINE_CHARACTERS = 2_000
"""Texts up to here are counted at once, in some 30 µs: a thread would cost more."""

COUNTED_CHARACTERS = 4_000_000
"""Of longer texts an even sample of about this size is counted and the rest taken to be like it."""

_PIECE = 16_384
"""Characters counted in one call, some 0.25 ms: the tokenizer holds the interpreter's lock during a call."""

_PAUSE = 0.0001


class Vocabulary(Protocol):
    """A loaded tokenizer."""

    def count(self, text: str) -> int:
        """How many tokens `text` has; UnicodeEncodeError for a lone surrogate."""


def load_vocabulary() -> Vocabulary:
    """Takes 50 ms and 60 MB, half of it shared by workers: done for the first estimate."""
    # The compiled part alone: the package around it loads three vocabularies more, in Python, at its import.
    package = importlib.util.find_spec("bpe_openai")
    name = "bpe_openai._bindings"
    spec = package and PathFinder.find_spec(name, package.submodule_search_locations)
    if spec is None or spec.loader is None:
        raise ModuleNotFoundError("bpe-openai is not installed whole", name=name)
    compiled = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(compiled)
    vocabulary: Vocabulary = compiled.tokenizer_for_encoding(ENCODING)
    return vocabulary


class BpeTokenizer:
    """The tokenizer port. One thread: the lock of the interpreter would let no second one count."""

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(1, "tidegate-tokens")
        self._vocabulary: Vocabulary | None = None

    async def count(self, texts: Iterable[str]) -> int:
        """An estimate of the tokens in `texts` together; never raises for what a text holds."""
        rest = iter(texts)
        head: list[str] = []
        characters = 0
        for text in rest:
            head.append(text)
            characters += len(text)
            if characters > INLINE_CHARACTERS:
                break
        if self._vocabulary is not None and characters <= INLINE_CHARACTERS:
            return sum(count_piece(self._vocabulary, text) for text in head)
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._thread, self._count_slowly, chain(head, rest))

    def close(self) -> None:
        """End the thread; what still waits is not counted."""
        self._thread.shutdown(wait=False, cancel_futures=True)

    def _loaded(self) -> Vocabulary:
        if self._vocabulary is None:
            self._vocabulary = load_vocabulary()
        return self._vocabulary

    def _count_slowly(self, texts: Iterable[str]) -> int:
        vocabulary = self._loaded()
        pieces = [piece for text in texts for piece in cut(text)]
        characters = sum(piece.length for piece in pieces)
        counted = sampled = since_pause = 0
        for piece in pieces[:: max(1, -(-characters // COUNTED_CHARACTERS))]:
            counted += count_piece(vocabulary, piece.text[piece.start : piece.start + piece.length])
            sampled += piece.length
            since_pause += piece.length
            if since_pause >= _PIECE:
                time.sleep(_PAUSE)  # lets the event loop have the interpreter
                since_pause = 0
        return extrapolate(counted, sampled, characters)


class Piece(Struct, frozen=True):
    """A part of a text, not copied yet."""

    text: str
    start: int
    length: int


def cut(text: str) -> Iterator[Piece]:
    """The text in pieces of bounded length; a cut costs one token at most."""
    return (Piece(text, start, min(_PIECE, len(text) - start)) for start in range(0, len(text), _PIECE))


def count_piece(vocabulary: Vocabulary, text: str) -> int:
    """The tokens of one piece. A lone surrogate, which no UTF-8 can hold, counts as a question mark."""
    try:
        return vocabulary.count(text)
    except UnicodeEncodeError:
        return vocabulary.count(text.encode("utf-8", "replace").decode())


def extrapolate(counted: int, sampled: int, characters: int) -> int:
    """The tokens of `characters` when a sample of `sampled` characters has `counted`."""
    return counted if sampled == characters else round(counted * characters / sampled)
