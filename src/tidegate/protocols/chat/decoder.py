"""Reads a Chat Completions stream as the events of an answer."""

from collections.abc import Iterator

from tidegate.core.events import (
    Cited,
    Closed,
    Finished,
    Opaque,
    ReasoningDelta,
    ReasoningOpened,
    RefusalOpened,
    Started,
    Stop,
    TextOpened,
    UsageTold,
)
from tidegate.core.protocol import Protocol
from tidegate.core.sse import Frame
from tidegate.core.usage import Usage
from tidegate.protocols.blocks import REFUSAL, TEXT, Block, Broken, Stage, TextBlock
from tidegate.protocols.chat import errors, heard
from tidegate.protocols.chat.answer import tells_failure
from tidegate.protocols.chat.calls import ChatCall, ChatCalls, Fragment
from tidegate.protocols.chat.usage import read_usage
from tidegate.protocols.citations import web_citation
from tidegate.protocols.decoding import NOT_JSON, StreamDecoder
from tidegate.protocols.endings import CUTS
from tidegate.protocols.loose import listing, mapping, mappings
from tidegate.protocols.reading import load
from tidegate.protocols.service_tier import tier_in, with_tier
from tidegate.protocols.transcript import Transcript
from tidegate.protocols.whole_answers import texts_of

_FOREIGN_ERRORS = frozenset({"error", "response.failed"})
_STOPS = {
    "length": Stop.LENGTH,
    "max_tokens": Stop.LENGTH,
    "model_length": Stop.LENGTH,
    "tool_calls": Stop.TOOL_CALLS,
    "function_call": Stop.TOOL_CALLS,
    "content_filter": Stop.CONTENT_FILTER,
}
"""Every other word is a natural end: `stop`, `eos`, an empty one, and what servers make up."""


class ReasoningBlock(Block):
    """Reasoning; its whole text is what the upstream may want back."""

    __slots__ = ("_said",)

    def __init__(self) -> None:
        super().__init__()
        self.ended = True
        self._said = Transcript()

    def add(self, text: str) -> None:
        """Grow by a text that is not empty."""
        if self.stage is not Stage.OPEN:
            self.stage = Stage.OPEN
            self.events.append(ReasoningOpened())
        self._said.add(text)
        self.events.append(ReasoningDelta(text))

    def close(self, *, cut: bool = False) -> None:
        """As for any block, with the text once more in one piece."""
        if self.stage is Stage.OPEN:
            self.events.append(Closed(Opaque(Protocol.CHAT, self._said.text()), cut))
        self.stage = Stage.CLOSED


class ChatDecoder(StreamDecoder):
    """Reads chunks; only the first choice, since more than one never crosses to another protocol."""

    def __init__(self) -> None:
        super().__init__()
        self._calls = ChatCalls()
        self._started = False
        self._reason: str | None = None
        self._usage: Usage | None = None
        self._reasons_plainly = False
        self._refused = False
        self._citations: list[Cited] = []
        self._length = 0
        self._begun_at = 0

    @property
    def finished(self) -> bool:
        """Whether a finish reason came: only usage and the end mark are awaited, and a cut is no loss."""
        return bool(self._reason)

    def _read(self, frame: Frame) -> None:
        data = frame.data
        if data.startswith(b"[DONE]"):
            self._close_answer()
            return
        chunk = heard.parse(data)
        if chunk is None:
            raise Broken(NOT_JSON)
        if frame.event == b"error" or _is_error(chunk, data):
            self._fail(errors.read_error_event(load(data)))
            return
        self._read_chunk(chunk, data)

    def _read_chunk(self, chunk: heard.Chunk, data: bytes) -> None:
        if chunk.choices or chunk.usage is not None or chunk.x_groq is not None:
            self._start(chunk)
        for choice in chunk.choices or ():
            if choice.index == 0:
                self._read_choice(choice, data)
        if chunk.usage is not None:
            self._tell_usage(chunk.usage, data)
        elif chunk.x_groq is not None:
            self._tell_usage(mapping(chunk.x_groq).get("usage"), data)

    def _start(self, chunk: heard.Chunk) -> None:
        if not self._started:
            self._started = True
            self._calls.ids.answer = chunk.id or ""
            self._blocks.tell(Started(chunk.id or None, chunk.service_tier))

    def _read_choice(self, choice: heard.Choice, data: bytes) -> None:
        delta = heard.as_delta(choice.message) if choice.delta is None else choice.delta
        if delta is not None:
            self._hear(delta, choice.logprobs, data)
        reason = choice.finish_reason
        if reason is not None:
            if tells_failure(reason):
                raise Broken(f"the upstream gave up: finish reason {reason!r}"[:200])
            if not self._reason or _stop_of(reason) is not Stop.END:
                self._reason = reason
            self._tell_usage(choice.usage, data)
        if self._reason:
            self._release(cut=_stop_of(self._reason) in CUTS)

    def _release(self, *, cut: bool) -> None:
        """A finish came: content may still follow, but no call is waited for, nor its name."""
        self._blocks.release(cut=cut)
        last = self._blocks.last
        if isinstance(last, ChatCall) and not cut:
            last.require_name()

    def _hear(self, delta: heard.Delta, logprobs: heard.Logprobs | None, data: bytes) -> None:
        if delta.reasoning_content or delta.reasoning or delta.reasoning_details:
            self._think(delta)
        content = delta.content
        if content:
            entries = () if logprobs is None else tuple(logprobs.content or ())
            if isinstance(content, str):
                self._say(TEXT, content, entries)
            else:
                self._hear_parts(content, entries)
        if delta.refusal:
            self._say(REFUSAL, delta.refusal, () if logprobs is None else tuple(logprobs.refusal or ()))
        if delta.annotations:
            self._cite(delta.annotations)
        if delta.tool_calls:
            self._call(delta.tool_calls, data)
        if delta.function_call is not None:
            self._call_function(delta.function_call, data)

    def _think(self, delta: heard.Delta) -> None:
        """Servers tell one reasoning under several names; `reasoning_details` counts if it is told alone."""
        text = _text_of(delta.reasoning_content) or _text_of(delta.reasoning)
        if text:
            self._reasons_plainly = True
        elif not self._reasons_plainly:
            text = "".join(_details_text(delta.reasoning_details))
        self._reason_on(text)

    def _reason_on(self, text: str) -> None:
        if not text:
            return
        block = self._blocks.last
        if not isinstance(block, ReasoningBlock):
            block = ReasoningBlock()
            self._blocks.begin(block)
        block.add(text)

    def _say(self, opening: TextOpened | RefusalOpened, text: str, logprobs: tuple[object, ...] = ()) -> None:
        block = self._blocks.last
        if not isinstance(block, TextBlock) or block.opening is not opening:
            block = TextBlock(opening)
            block.ended = True
            self._blocks.begin(block)
            self._refused = self._refused or opening is REFUSAL
            self._begun_at = self._length
        block.add(text, logprobs)
        if opening is TEXT:
            self._length += len(text)
            if self._citations:
                self._cite_held(block)

    def _hear_parts(self, parts: list[object], logprobs: tuple[object, ...]) -> None:
        for part in parts:
            told = mapping(part)
            if told.get("type") == "thinking":
                self._reason_on("".join(texts_of(told.get("thinking"))))
                continue
            opening = REFUSAL if told.get("type") == "refusal" else TEXT
            text = part if isinstance(part, str) else "".join(texts_of([part]))
            if text:
                self._say(opening, text, logprobs)
                logprobs = ()

    def _cite(self, annotations: object) -> None:
        """Note the pages that are cited; they stand in the text that is open, else in the next one."""
        self._citations.extend(
            cited for each in listing(annotations) if (cited := web_citation(each)) is not None
        )
        block = self._blocks.last
        if isinstance(block, TextBlock) and block.opening is TEXT:
            self._cite_held(block)

    def _cite_held(self, block: TextBlock) -> None:
        """Chat counts places through the whole content, of which the block is a part."""
        for cited in self._citations:
            block.cite(_moved(cited, self._begun_at))
        self._citations.clear()

    def _call(self, entries: list[heard.ToolCall], data: bytes) -> None:
        before: ChatCall | None = None
        for entry in entries:
            fragment = Fragment(entry)
            call = self._calls.find(fragment, before)
            if call is None:
                call = self._calls.begin(fragment)
                if call is None:
                    continue
                self._blocks.begin(call)
            self._calls.add(call, fragment, data)
            before = call
        self._blocks.advance()

    def _call_function(self, function: heard.Function, data: bytes) -> None:
        call, is_new = self._calls.legacy()
        if is_new:
            self._blocks.begin(call)
        self._calls.add(call, Fragment(heard.ToolCall(function=function)), data)
        self._blocks.advance()

    def _tell_usage(self, value: object, data: bytes) -> None:
        """Counts are cumulative where they come more than once."""
        told = None if value is None else with_tier(read_usage(value), tier_in(data))
        if told is not None and told != self._usage:
            self._usage = told
            self._blocks.tell(UsageTold(told))

    def _close_answer(self) -> None:
        if self._reason is None:
            raise Broken("the upstream ended the stream without a finish reason")
        stop = _stop_of(self._reason)
        if stop is Stop.END and self._calls:
            stop = Stop.TOOL_CALLS
        elif stop is Stop.END and self._refused:
            stop = Stop.REFUSAL
        self._end(Finished(stop), cut=stop in CUTS)


def _stop_of(reason: str) -> Stop:
    return _STOPS.get(reason, Stop.END)


def _moved(cited: Cited, begun_at: int) -> Cited:
    if not begun_at or cited.start is None or cited.end is None:
        return cited
    if cited.start < begun_at:
        return Cited(cited.url, cited.title)
    return Cited(cited.url, cited.title, cited.start - begun_at, cited.end - begun_at)


def _is_error(chunk: heard.Chunk, data: bytes) -> bool:
    """Whether the chunk tells an error; older vLLM servers write a flat one."""
    if chunk.error or chunk.type in _FOREIGN_ERRORS:
        return True
    return chunk.choices is None and b"error" in data and mapping(load(data)).get("object") == "error"


def _text_of(value: object) -> str:
    """Reasoning is a text, at some servers an object or parts."""
    if isinstance(value, str):
        return value
    if isinstance(value, dict):
        value = value.get("content") or value.get("text")
    return "".join(texts_of(value))


def _details_text(value: object) -> Iterator[str]:
    """The readable parts of OpenRouter's form; what is encrypted there no other protocol can carry."""
    for entry in mappings(value):
        yield from texts_of(entry.get("text"))
        yield from texts_of(entry.get("summary"))
