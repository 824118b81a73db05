"""Log probabilities for both OpenAI protocols."""

from typing import Any

import pytest
from openai.types.chat import ChatCompletionTokenLogprob
from openai.types.responses.response_output_text import Logprob

from tidegate.protocols.logprobs import logprob_entries

CHAT = {
    "token": "é",
    "logprob": -0.5,
    "bytes": None,
    "top_logprobs": [{"token": "e", "logprob": -1, "bytes": [101]}, {"token": "?"}],
}
RESPONSES = {"token": "é", "logprob": -0.5, "top_logprobs": None}


@pytest.mark.parametrize("entry", [CHAT, RESPONSES])
def test_either_protocols_entries_are_taken_by_both(entry: Any) -> None:
    [written] = logprob_entries((entry,))
    assert written["bytes"] == [195, 169]
    ChatCompletionTokenLogprob.model_validate(written)
    Logprob.model_validate(written)


def test_bytes_that_are_told_stay() -> None:
    assert logprob_entries(({"token": "h", "logprob": 0, "bytes": [1]},)) == [
        {"token": "h", "logprob": 0, "bytes": [1], "top_logprobs": []}
    ]


@pytest.mark.parametrize("odd", [None, 1, [], {}, {"token": 1, "logprob": 1}, {"token": "a", "logprob": "b"}])
def test_what_is_no_entry_is_left_out(odd: object) -> None:
    assert logprob_entries((odd,)) == []
