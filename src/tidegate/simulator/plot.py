"""What the model says to a request, block by block, before any protocol gives it a form."""

from collections.abc import Iterable
from enum import Enum
from itertools import cycle, islice, pairwise
from typing import TypeAlias

import msgspec
from msgspec import Struct

from tidegate.core.protocol import Protocol
from tidegate.simulator.ask import Ask, Auto, Forced, Never, Thinking, Tool, ToolForm
from tidegate.simulator.parameters import Parameters
from tidegate.simulator.schema_sample import sample

CREATED = 1_767_225_600
"""The time of every answer, in Unix seconds: 2026-01-01T00:00:00Z."""
CARRIER = "sim_"
"""What opaque reasoning of this provider begins with."""
SOURCE = {"url": "https://example.com/tides", "title": "Tides"}
QUERY = "high tide today"
BAD_BYTE = "\ue000"
"""Stands in the text for a byte that is no UTF-8."""

_STORY = (
    "This is the simulated provider. Every word of this answer was written beforehand, "
    "a café in 北京 and 😀 among them, so that nothing can get lost unseen."
)
_REFUSAL = "I'm sorry, I can't help with that."
_THOUGHT = "The request is simple, so a short answer is enough. I only count the words."
_PATCH = "*** Begin Patch\n*** Add File: tidegate-sim.txt\n+Written by the simulated provider.\n*** End Patch"
_JSON_PIECE = 8
_SEEN_OF_RESULT = 120
_LONG_PROMPT = 1024
_CACHE_STEP = 64


class Reasoning(Struct, frozen=True):
    """`carrier` is the signature or the encrypted content; `redacted` adds a block without text."""

    pieces: tuple[str, ...]
    carrier: str
    shown: bool
    raw: bool = False
    redacted: bool = False


class Text(Struct, frozen=True):
    """`cited`: the text refers to the source that the search before it found."""

    pieces: tuple[str, ...]
    cited: bool = False


class Refused(Struct, frozen=True):
    """Text in place of an answer."""

    pieces: tuple[str, ...]


class Call(Struct, frozen=True):
    """A call of the client's tool; the pieces make up the JSON text of its arguments, or its free text."""

    id: str
    tool: Tool
    pieces: tuple[str, ...]
    complete: bool = True


class Search(Struct, frozen=True):
    """A web search that the provider ran itself."""

    id: str


Block: TypeAlias = Reasoning | Text | Refused | Call | Search


class Stop(Enum):
    """Why the answer ends."""

    END = "end"
    LIMIT = "limit"
    TOOLS = "tools"
    SEQUENCE = "sequence"
    REFUSAL = "refusal"


class Tokens(Struct, frozen=True):
    """Counts that do not overlap, except that `reasoning` is a part of `output`."""

    fresh: int
    cache_read: int
    cache_write: int
    cache_write_1h: int
    output: int
    reasoning: int
    searches: int

    @property
    def prompt(self) -> int:
        """The whole prompt, cached or not."""
        return self.fresh + self.cache_read + self.cache_write + self.cache_write_1h


class Plot(Struct, frozen=True, kw_only=True):
    """A whole answer. `stem` is what its ids are made of, `finish` a stop reason to be said word for word."""

    stem: str
    model: str
    blocks: tuple[Block, ...]
    stop: Stop
    stop_sequence: str | None
    tokens: Tokens
    finish: str | None
    tells_usage: bool


def plot(ask: Ask, parameters: Parameters) -> Plot:
    """The same answer for the same request, always."""
    reasoning = _reasoning(ask, parameters)
    calls = _calls(ask, parameters)
    spoken, stopped_at = _spoken(ask, parameters, calling=bool(calls))
    searches = tuple(Search(f"{ask.digest}{nth}") for nth in range(parameters.web_search))
    blocks, cut = _within(ask.limit, (*reasoning, *searches, *spoken, *calls))
    return Plot(
        stem=ask.digest,
        model=parameters.base + ("-2026-01-01" if parameters.dated else ""),
        blocks=tuple(_grouped(block, parameters.events) for block in blocks),
        stop=_stop(parameters, cut=cut, calling=bool(calls), stopped_at=stopped_at),
        stop_sequence=None if cut else stopped_at,
        tokens=_tokens(ask, parameters, blocks),
        finish=parameters.finish,
        tells_usage=not parameters.no_usage,
    )


def _stop(parameters: Parameters, *, cut: bool, calling: bool, stopped_at: str | None) -> Stop:
    if cut:
        return Stop.LIMIT
    if parameters.refusal:
        return Stop.REFUSAL
    if calling:
        return Stop.TOOLS
    return Stop.SEQUENCE if stopped_at is not None else Stop.END


def _reasoning(ask: Ask, parameters: Parameters) -> tuple[Reasoning, ...]:
    count = parameters.reasoning
    if count == 0 or (count is None and ask.thinking is Thinking.OFF):
        return ()
    shown = ask.thinking is Thinking.SHOWN or (count is not None and ask.thinking is Thinking.OFF)
    pieces = _words(_THOUGHT, count)
    return (Reasoning(pieces, CARRIER + ask.digest, shown, parameters.raw_reasoning, parameters.redacted),)


def _spoken(ask: Ask, parameters: Parameters, *, calling: bool) -> tuple[tuple[Block, ...], str | None]:
    """The text block, if there is one, and the stop sequence that ended it."""
    asked_for = parameters.text is not None or parameters.words is not None or parameters.big > 0
    if calling and not asked_for:
        return (), None
    if parameters.refusal and ask.protocol is not Protocol.MESSAGES:
        return (Refused(_words(_REFUSAL, None)),), None
    if ask.schema is not None and not calling:
        return (Text(_json_pieces(_fitting(ask.schema))),), None
    text, stopped_at = _until_stop("".join(_words(_text(ask, parameters), parameters.words)), ask.stops)
    if parameters.bad_utf8:
        text = BAD_BYTE + text
    big = ("x" * parameters.big,) if parameters.big else ()
    return (Text((*big, *_words(text, None)), cited=parameters.web_search > 0),), stopped_at


def _text(ask: Ask, parameters: Parameters) -> str:
    if parameters.text is not None:
        return parameters.text
    if ask.tool_result is not None:
        return f"The tool answered: {ask.tool_result[:_SEEN_OF_RESULT]}"
    return _STORY


def _fitting(schema: dict[str, object]) -> str:
    value = sample(schema) if schema else {"answer": "text"}
    return msgspec.json.encode(value).decode()


def _until_stop(text: str, stops: Iterable[str]) -> tuple[str, str | None]:
    found = [(place, stop) for stop in stops if stop and (place := text.find(stop)) >= 0]
    if not found:
        return text, None
    place, stop = min(found)
    return text[:place], stop


def _calls(ask: Ask, parameters: Parameters) -> tuple[Call, ...]:
    tools = _called(ask, parameters)
    return tuple(
        Call(f"{ask.digest}{nth}", tool, _json_pieces(_argument(tool, parameters)))
        for nth, tool in enumerate(tools)
    )


def _called(ask: Ask, parameters: Parameters) -> tuple[Tool, ...]:
    count = 1 if parameters.tools is None else parameters.tools
    if not ask.parallel:
        count = min(count, 1)
    name = parameters.tool
    match ask.choice:
        case Never():
            return ()
        case Auto():
            count = 0 if ask.tool_result is not None or parameters.refusal else count
        case Forced():
            name = ask.choice.name or name
    fitting = [tool for tool in ask.tools if name in (None, tool.name)]
    return tuple(islice(cycle(fitting), count)) if fitting else ()


def _argument(tool: Tool, parameters: Parameters) -> str:
    if parameters.tool_input is not None:
        return parameters.tool_input
    match tool.form:
        case ToolForm.FUNCTION:
            value = sample(tool.schema) if tool.schema else {}
            return msgspec.json.encode(value).decode()
        case ToolForm.CUSTOM:
            return _PATCH if tool.name == "apply_patch" else 'text("hello")'


def _words(text: str, count: int | None) -> tuple[str, ...]:
    """Words with the blank after them, the last without; `count` of them, over and over, if told."""
    words = text.split(" ") if text else []
    if count is not None:
        words = list(islice(cycle(words), count))
    return tuple(word + " " for word in words[:-1]) + tuple(words[-1:])


def _json_pieces(text: str) -> tuple[str, ...]:
    return tuple(text[i : i + _JSON_PIECE] for i in range(0, len(text), _JSON_PIECE))


def _within(limit: int | None, blocks: tuple[Block, ...]) -> tuple[tuple[Block, ...], bool]:
    """The blocks as far as `limit` pieces go, and whether anything was lost. A piece is a token."""
    if limit is None:
        return blocks, False
    kept: list[Block] = []
    left = limit
    for block in blocks:
        if isinstance(block, Search):
            kept.append(block)
            continue
        if len(block.pieces) > left:
            shorter = msgspec.structs.replace(block, pieces=block.pieces[:left])
            if isinstance(shorter, Call):
                shorter = msgspec.structs.replace(shorter, complete=False)
            return (*kept, shorter) if left else tuple(kept), True
        kept.append(block)
        left -= len(block.pieces)
    return tuple(kept), False


def _grouped(block: Block, events: int | None) -> Block:
    """A text in `events` deltas instead of one a word."""
    if events is None or not isinstance(block, Text) or not block.pieces:
        return block
    pieces, total = block.pieces, len(block.pieces)
    count = min(events, total)
    cuts = [nth * total // count for nth in range(count + 1)]
    groups = pairwise(cuts)
    return msgspec.structs.replace(block, pieces=tuple("".join(pieces[a:b]) for a, b in groups))


def _tokens(ask: Ask, parameters: Parameters, blocks: tuple[Block, ...]) -> Tokens:
    """Of a long prompt three quarters are read from the cache and an eighth is written to it."""
    prompt = ask.prompt_tokens
    read, write = (_stepped(prompt * 3 // 4), _stepped(prompt // 8)) if prompt >= _LONG_PROMPT else (0, 0)
    read = read if parameters.cache_read is None else parameters.cache_read
    write = write if parameters.cache_write is None else parameters.cache_write
    fresh = max(0, prompt - read - write) if parameters.input is None else parameters.input
    pieces = sum(0 if isinstance(block, Search) else len(block.pieces) for block in blocks)
    thought = sum(len(block.pieces) for block in blocks if isinstance(block, Reasoning))
    output = pieces * ask.choices if parameters.output is None else parameters.output
    return Tokens(
        fresh=fresh,
        cache_read=read,
        cache_write=write,
        cache_write_1h=parameters.cache_write_1h,
        output=output,
        reasoning=min(thought * ask.choices, output),
        searches=parameters.web_search,
    )


def _stepped(count: int) -> int:
    return count - count % _CACHE_STEP
