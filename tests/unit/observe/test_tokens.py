import asyncio
import threading
from collections.abc import AsyncIterator, Iterator

import pytest
import pytest_asyncio

from tidegate.exchange.ports import Tokenizer
from tidegate.observe import tokens
from tidegate.observe.tokens import BpeTokenizer, count_piece, cut, extrapolate

SENTENCE = "The quick brown fox jumps over the lazy dog. "


@pytest_asyncio.fixture
async def tokenizer() -> AsyncIterator[BpeTokenizer]:
    loaded = BpeTokenizer()
    await loaded.count(["loads the vocabulary"])
    yield loaded
    loaded.close()


async def test_texts_are_counted_together(tokenizer: BpeTokenizer) -> None:
    port: Tokenizer = tokenizer
    assert await port.count(["hello world"]) == 2
    assert await port.count(["hello world", "", "hello world"]) == 4
    assert await port.count([]) == 0


async def test_the_vocabulary_comes_by_itself_when_it_is_needed() -> None:
    cold = BpeTokenizer()
    assert await cold.count(["hello world"]) == 2
    cold.close()


async def test_a_long_text_counts_like_its_parts(tokenizer: BpeTokenizer) -> None:
    some = await tokenizer.count([SENTENCE * 100])
    many = await tokenizer.count([SENTENCE * 4_000])
    assert many == pytest.approx(40 * some, rel=0.01)


async def test_beyond_the_bound_a_sample_speaks_for_the_whole(
    tokenizer: BpeTokenizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = [SENTENCE * 3_000, "你好，世界。" * 10_000, "\n" * 50_000]
    exact = await tokenizer.count(texts)
    monkeypatch.setattr(tokens, "COUNTED_CHARACTERS", 80_000)
    assert await tokenizer.count(texts) == pytest.approx(exact, rel=0.25)


FAMILY = "\N{MAN}\N{ZERO WIDTH JOINER}\N{WOMAN}\N{ZERO WIDTH JOINER}\N{GIRL}"


@pytest.mark.parametrize("text", ["\ud800", "a\udfffb" * 5_000, "\0", "<|endoftext|>", FAMILY * 999])
async def test_no_text_is_an_error(tokenizer: BpeTokenizer, text: str) -> None:
    assert await tokenizer.count([text]) > 0


async def test_short_texts_are_counted_on_the_spot_and_long_ones_elsewhere() -> None:
    threads: list[threading.Thread] = []

    class Words:
        def count(self, text: str) -> int:
            threads.append(threading.current_thread())
            return text.count(" ")

    tokenizer = BpeTokenizer()
    tokenizer._vocabulary = Words()
    await tokenizer.count(["a short text"] * 3)
    assert set(threads) == {threading.current_thread()}
    threads.clear()
    assert await tokenizer.count([SENTENCE] * 1_000) == 9_000
    assert threading.current_thread() not in threads
    tokenizer.close()


async def test_the_texts_of_a_long_prompt_are_made_off_the_loop() -> None:
    """Reading a big body's texts is work too: only as much as tells that it is long is done on the loop."""
    makers: list[threading.Thread] = []

    def texts() -> Iterator[str]:
        for _ in range(10):
            makers.append(threading.current_thread())
            yield "x " * 1_000

    tokenizer = BpeTokenizer()
    await tokenizer.count(texts())
    assert makers.count(threading.current_thread()) == 2
    assert len(makers) == 10
    tokenizer.close()


async def test_many_counts_at_once(tokenizer: BpeTokenizer) -> None:
    counts = await asyncio.gather(*(tokenizer.count([SENTENCE * 100]) for _ in range(20)))
    assert len(set(counts)) == 1


def test_a_text_is_cut_without_a_gap() -> None:
    text = "".join(chr(65 + number % 26) for number in range(40_000))
    pieces = list(cut(text))
    assert "".join(piece.text[piece.start : piece.start + piece.length] for piece in pieces) == text
    assert list(cut("")) == []


def test_a_sample_is_scaled_to_the_whole() -> None:
    assert extrapolate(10, 100, 100) == 10
    assert extrapolate(10, 100, 250) == 25
    assert extrapolate(0, 0, 0) == 0


def test_a_lone_surrogate_counts_as_a_question_mark() -> None:
    class Letters:
        def count(self, text: str) -> int:
            return len(text.encode())

    assert count_piece(Letters(), "a\ud800b") == 3
