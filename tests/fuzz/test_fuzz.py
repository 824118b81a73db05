"""The fuzzing itself: it draws the same cases for the same seed, and finds what is broken on purpose."""

import json
from itertools import islice, permutations

import pytest
from tests.fuzz.__main__ import Fuzzer
from tests.fuzz.cases import Answer, Request, WholeAnswer, read_back, written_down

from tidegate.core.protocol import Protocol
from tidegate.protocols.chat.encoder import ChatEncoder
from tidegate.protocols.converting import ConvertingWatcher


def drawn(seed: int, count: int) -> list[bytes]:
    fuzzer = Fuzzer(seed)
    found = []
    for _ in range(count):
        case = fuzzer.draw()
        fuzzer.note(case, case.run())
        found.append(written_down(case))
    return found


def test_a_seed_decides_every_case() -> None:
    assert drawn(7, 60) == drawn(7, 60)
    assert drawn(7, 60) != drawn(8, 60)


def test_a_case_can_be_written_down_and_tried_again() -> None:
    for text in drawn(3, 40):
        case = read_back(text)
        assert written_down(case) == text
        assert case.run()


def test_the_corpus_has_answers_and_requests_for_every_pair() -> None:
    first = Fuzzer(1).first()
    pairs = list(permutations(Protocol, 2))
    for kind in (Answer, WholeAnswer):
        found = {(case.client, case.upstream) for case in first if isinstance(case, kind)}
        assert found == set(pairs)
    assert {case.client for case in first if isinstance(case, Request)} == set(Protocol)


def test_a_planted_fault_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ChatEncoder, "finish", lambda self, finished, usage: b"data: [DONE]\n\n")
    whole = next(
        case
        for case in islice(Fuzzer(1).first(), 500)
        if isinstance(case, Answer) and case.client is Protocol.CHAT and b"message_stop" in case.body
    )
    with pytest.raises((AssertionError, RuntimeError, ValueError)):
        whole.run()


def test_a_cut_that_passes_for_an_end_is_a_find(monkeypatch: pytest.MonkeyPatch) -> None:
    body = b'data: {"choices":[{"index":0,"delta":{"content":"Hel"}}]}\n\n'
    request = json.dumps({"model": "m", "stream": True, "input": "hi"})
    cut = Answer(Protocol.RESPONSES, Protocol.CHAT, request.encode(), body)
    assert cut.run()
    monkeypatch.setattr(ConvertingWatcher, "may_end", True)
    with pytest.raises(AssertionError):
        cut.run()
