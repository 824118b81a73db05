"""Counts of tokens where no upstream told them."""

import json
import threading
from typing import Any

import pytest
from msgspec import structs
from tests.unit.exchange.said import MESSAGES
from tests.unit.exchange.scene import Scene

from tidegate.core.conversation import Conversation
from tidegate.core.protocol import Protocol
from tidegate.core.usage import Usage
from tidegate.exchange.estimates import (
    IMAGE_TOKENS,
    INLINE_BODY,
    estimate,
    estimate_prompt,
    guess,
    guess_prompt,
)
from tidegate.exchange.story import Told
from tidegate.protocols.base import Asked
from tidegate.protocols.pairs import halves_of
from tidegate.protocols.registry import dialect_of

M = Protocol.MESSAGES


def asked(content: Any = "one two three") -> Asked:
    body = {**MESSAGES, "messages": [{"role": "user", "content": content}]}
    read = dialect_of(M).read_request(json.dumps(body).encode())
    assert isinstance(read, Asked)
    return read


async def test_a_prompt_is_estimated_by_words_and_images_and_never_at_nothing() -> None:
    scene, dialect = Scene(), dialect_of(M)
    image = {"type": "image", "source": {"type": "url", "url": "https://x/y.png"}}
    assert await estimate_prompt(dialect, asked(), scene.tokenizer) == 3
    assert await estimate_prompt(dialect, asked([image, image]), scene.tokenizer) == 2 * IMAGE_TOKENS
    assert await estimate_prompt(dialect, asked(" "), scene.tokenizer) == 1


@pytest.mark.parametrize(
    ("usage", "tokens"),
    [
        (None, 25 + 3),
        (Usage(cache_read=7), 25 + 7 + 3),
        (Usage(input=9), 9 + 3),
        (Usage(output=9), 25 + 9),
        (Usage(input=1, output=2), 3),
    ],
)
def test_a_quick_guess_goes_by_lengths_where_nothing_is_told(usage: Usage | None, tokens: int) -> None:
    assert guess(100, usage, "twelve chars") == tokens


@pytest.mark.parametrize(("size", "inline"), [(100, True), (2 * INLINE_BODY, False)])
async def test_a_long_prompt_is_not_read_on_the_event_loop(size: int, inline: bool) -> None:
    read_on: list[int] = []

    def images(request: Asked) -> int:
        read_on.append(threading.get_ident())
        return 1

    dialect = structs.replace(dialect_of(M), image_count=images)
    tokens = await estimate_prompt(dialect, asked("word " * (size // 5)), Scene().tokenizer)
    assert tokens == size // 5 + IMAGE_TOKENS
    assert (read_on == [threading.get_ident()]) is inline


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        (None, Usage(input=3, output=2)),
        (Usage(input=9), Usage(input=9, output=2)),
        (Usage(output=9), Usage(input=3, output=9)),
        (Usage(input=0, cache_read=4), Usage(input=0, cache_read=4, output=2)),
    ],
)
async def test_only_what_was_not_told_is_estimated(told: Usage | None, expected: Usage) -> None:
    found = await estimate(dialect_of(M), asked(), told, "hello there", Scene().tokenizer)
    assert found == Told(usage=expected, source="estimated")


def conversation(content: Any, **members: Any) -> Conversation:
    body = {**MESSAGES, "messages": [{"role": "user", "content": content}], **members}
    request = dialect_of(M).read_request(json.dumps(body).encode())
    assert isinstance(request, Asked)
    read = halves_of(M).read_conversation(request, lambda _: None)
    assert isinstance(read, Conversation)
    return read


SAID = "x" * 400
IMAGE = {"type": "image", "source": {"type": "url", "url": "https://x/y.png"}}


def result(content: Any) -> list[dict[str, Any]]:
    return [{"type": "tool_result", "tool_use_id": "toolu_1", "content": content}]


@pytest.mark.parametrize(
    ("content", "tokens"),
    [
        (SAID, 100),
        ("", 1),
        ([IMAGE, {"type": "text", "text": SAID}], IMAGE_TOKENS + 100),
        (result(SAID), 100),
        (result([{"type": "text", "text": SAID}, IMAGE]), IMAGE_TOKENS + 100),
        ([{"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": SAID}}], 100),
        ([{"type": "document", "source": {"type": "url", "url": "https://x/" + SAID}}], 1),
    ],
)
def test_a_guess_goes_by_what_a_turn_says(content: Any, tokens: int) -> None:
    assert guess_prompt(conversation(content)) == tokens


def test_a_guess_goes_by_system_calls_and_tools_too() -> None:
    call = {"type": "tool_use", "id": "toolu_1", "name": "f", "input": {"x": SAID}}
    turns = [{"role": "assistant", "content": [call]}, {"role": "user", "content": SAID}]
    assert 200 <= guess_prompt(conversation("", messages=turns)) <= 210
    assert guess_prompt(conversation(SAID, system=SAID)) == 200
    tool = {"name": "f", "description": SAID, "input_schema": {"type": "object", "description": SAID}}
    assert 300 <= guess_prompt(conversation(SAID, tools=[tool])) <= 325
