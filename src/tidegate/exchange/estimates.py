"""Counts tokens by the tokenizer where an upstream told none."""

import asyncio

from msgspec import structs

from tidegate.core.conversation import (
    Block,
    Call,
    Conversation,
    File,
    Hosted,
    Image,
    Refused,
    Result,
    Text,
    Thought,
)
from tidegate.core.usage import Usage
from tidegate.exchange.ports import Tokenizer
from tidegate.exchange.story import Told
from tidegate.protocols.base import Asked, Dialect

IMAGE_TOKENS = 1_000
"""What one image counts in an estimate: near what providers charge for a middling picture."""
INLINE_BODY = 32_768
"""Bytes of a request that are looked through at once, in about 1 ms: a thread would cost more."""
BYTES_A_TOKEN = 4
"""Of usual text."""
_CHARACTERS_A_TOKEN = 4


async def estimate(
    dialect: Dialect, asked: Asked, usage: Usage | None, text: str, tokenizer: Tokenizer
) -> Told:
    """The counts of an accepted request: the upstream's where told, the tokenizer's for the rest."""
    known = usage or Usage()
    if known.input is None:
        known = structs.replace(known, input=await estimate_prompt(dialect, asked, tokenizer))
    if known.output is None:
        known = structs.replace(known, output=await tokenizer.count((text,)))
    return Told(usage=known, source="estimated")


def guess(prompt_bound: int, usage: Usage | None, text: str) -> int:
    """A quick guess of all tokens by what is told and by lengths, where nobody can wait for the tokenizer."""
    known = usage or Usage()
    prompt = prompt_bound // BYTES_A_TOKEN if known.input is None else 0
    output = len(text) // _CHARACTERS_A_TOKEN if known.output is None else 0
    return known.total + prompt + output


async def estimate_prompt(dialect: Dialect, asked: Asked, tokenizer: Tokenizer) -> int:
    """The tokens of the prompt by the tokenizer, at least one. A long one is not read on the event loop."""
    if len(asked.body) > INLINE_BODY:
        texts, images = await asyncio.to_thread(_read_prompt, dialect, asked)
    else:
        texts, images = _read_prompt(dialect, asked)
    return max(1, await tokenizer.count(texts) + IMAGE_TOKENS * images)


def _read_prompt(dialect: Dialect, asked: Asked) -> tuple[list[str], int]:
    return list(dialect.prompt_texts(asked)), dialect.image_count(asked)


def guess_prompt(conversation: Conversation) -> int:
    """A quick guess of the prompt's tokens by its length, for a stream that tells them at its start."""
    characters = sum(len(text.text) for text in conversation.system)
    images = 0
    for turn in conversation.turns:
        for block in turn.blocks:
            characters += _length(block)
            images += isinstance(block, Image)
            if isinstance(block, Result):
                images += sum(isinstance(part, Image) for part in block.content)
    for tool in conversation.tools:
        characters += len(tool.name) + len(tool.description or "") + len(str(tool.schema or ""))
    return max(1, characters // _CHARACTERS_A_TOKEN + images * IMAGE_TOKENS)


def _length(block: Block) -> int:
    """Characters of a block that the model reads as text; the rest weighs little, or is no text."""
    match block:
        case Text(text=text) | Refused(text=text) | Call(input=text) | Result(content=str(text)):
            return len(text)
        case Result(content=tuple(parts)):
            return sum(_length(part) for part in parts)
        case File(text=text):
            return len(text or "")
        case Image() | Thought() | Hosted() | Result():
            return 0
