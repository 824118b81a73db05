"""Reads each kind of output item of a Responses stream, from deltas, from final values, or from both."""

from tidegate.core.events import (
    CallKind,
    Closed,
    Opaque,
    ReasoningDelta,
    ReasoningForm,
    ReasoningOpened,
    RefusalOpened,
    Searched,
    TextDelta,
    TextOpened,
)
from tidegate.core.protocol import Protocol
from tidegate.protocols.blocks import REFUSAL, TEXT, Block, Broken, CallBlock, CallIds, Stage, Streamed
from tidegate.protocols.citations import web_citation
from tidegate.protocols.loose import listing, mapping, mappings, text
from tidegate.protocols.reading import load
from tidegate.protocols.responses.heard import Event
from tidegate.protocols.transcript import Transcript
from tidegate.protocols.whole_answers import argument_text

Object = dict[str, object]

_CUSTOM = "custom_tool_call"


class Item(Block):
    """An item of a kind that says nothing elsewhere: hosted tools, and kinds of later versions."""

    type = ""
    id: str | None = None

    def hear(self, kind: str, event: Event) -> None:
        """Take an event of this item. Raises Broken if it does not fit."""

    def finish(self, item: Object, *, cut: bool = False) -> None:
        """The final item came: say what is missing, and close. Raises Broken."""
        self.ended = True
        self.close(cut=cut or item.get("status") == "incomplete")

    @property
    def has_spoken(self) -> bool:
        """Whether it has said anything that would be lost without it."""
        return False


class _Part:
    """A part of a message: what of it has been said, and how many pages it cited."""

    __slots__ = ("cited", "index", "opening", "said")

    def __init__(self, index: int, opening: TextOpened | RefusalOpened) -> None:
        self.index = index
        self.opening = opening
        self.said = Streamed()
        self.cited = 0


class MessageItem(Item):
    """A message: each part is a block, opened by its first words."""

    def __init__(self, item: Object, index: int | None) -> None:
        super().__init__(index)
        self._parts: dict[int, _Part] = {}
        self._current: _Part | None = None
        self.refused = False
        for place, part in enumerate(mappings(item.get("content"))):
            self._complete(place, part)

    def say(
        self,
        place: int,
        opening: TextOpened | RefusalOpened,
        told: str,
        logprobs: tuple[object, ...] = (),
    ) -> None:
        """More text of the part at `place`, not empty."""
        part = self._current
        if part is None or part.index != place or part.opening is not opening:
            part = self._turn_to(place, opening)
        part.said.add(told)
        self.events.append(TextDelta(told, logprobs))

    def hear(self, kind: str, event: Event) -> None:
        """Text, its final value, or a citation."""
        place = event.content_index or 0
        match kind:
            case "response.output_text.delta" | "response.refusal.delta":
                opening = TEXT if kind == "response.output_text.delta" else REFUSAL
                if event.delta and isinstance(event.delta, str):
                    self.say(place, opening, event.delta, tuple(event.logprobs or ()))
            case "response.output_text.done":
                self._catch_up(place, TEXT, event.text, event.logprobs)
            case "response.refusal.done":
                self._catch_up(place, REFUSAL, event.refusal, None)
            case "response.content_part.added" | "response.content_part.done":
                self._complete(place, mapping(event.part))
            case "response.output_text.annotation.added":
                self._cite(self._parts.get(place) or self._turn_to(place, TEXT), [event.annotation])
            case _:
                _refuse_delta(kind)

    def finish(self, item: Object, *, cut: bool = False) -> None:
        """Say what its parts tell beyond what was streamed."""
        for place, part in enumerate(mappings(item.get("content"))):
            self._complete(place, part)
        super().finish(item, cut=cut)

    @property
    def has_spoken(self) -> bool:
        """Whether any text came."""
        return bool(self._parts)

    def _turn_to(self, place: int, opening: TextOpened | RefusalOpened) -> _Part:
        if self.stage is Stage.OPEN:
            self.events.append(Closed())
        part = self._parts.get(place)
        if part is None or part.opening is not opening:
            part = self._parts[place] = _Part(place, opening)
        self._current = part
        self.refused = self.refused or opening is REFUSAL
        self.stage = Stage.OPEN
        self.events.append(opening)
        return part

    def _complete(self, place: int, part: Object) -> None:
        """A part as it is told at once."""
        if part.get("type") == "refusal":
            self._catch_up(place, REFUSAL, text(part.get("refusal")), None)
        elif part.get("type") in ("output_text", "text"):
            self._catch_up(place, TEXT, text(part.get("text")), listing(part.get("logprobs")))
            if place in self._parts:
                self._cite(self._parts[place], listing(part.get("annotations")), known=True)

    def _catch_up(
        self,
        place: int,
        opening: TextOpened | RefusalOpened,
        whole: str | None,
        logprobs: list[object] | None,
    ) -> None:
        part = self._parts.get(place)
        said = part.said if part is not None and part.opening is opening else Streamed()
        rest = said.rest_of(whole or "")
        if rest:
            self.say(place, opening, rest, () if said else tuple(logprobs or ()))

    def _cite(self, part: _Part, annotations: list[object], *, known: bool = False) -> None:
        """Tell citations in their part; `known`: the list is all of them, those told before included."""
        for annotation in annotations[part.cited :] if known else annotations:
            part.cited += 1
            cited = web_citation(annotation)
            if cited is not None and part is self._current:
                self.events.append(cited)


class ReasoningItem(Item):
    """Reasoning: raw text or summaries, whichever is told first. The whole item is what goes back."""

    def __init__(self, index: int | None) -> None:
        super().__init__(index)
        self._form: ReasoningForm | None = None
        self._part = 0
        self._said = Streamed()

    def hear(self, kind: str, event: Event) -> None:
        """Text of the one form, or its final value."""
        raw, summary = event.content_index or 0, event.summary_index or 0
        match kind:
            case "response.reasoning_text.delta":
                self._say(ReasoningForm.RAW, raw, event.delta)
            case "response.reasoning_summary_text.delta":
                self._say(ReasoningForm.SUMMARY, summary, event.delta)
            case "response.reasoning_text.done":
                self._catch_up(ReasoningForm.RAW, raw, event.text)
            case "response.reasoning_summary_text.done":
                self._catch_up(ReasoningForm.SUMMARY, summary, event.text)
            case "response.content_part.done":
                self._catch_up(ReasoningForm.RAW, raw, mapping(event.part).get("text"))
            case "response.reasoning_summary_part.done":
                self._catch_up(ReasoningForm.SUMMARY, summary, mapping(event.part).get("text"))
            case _:
                _refuse_delta(kind)

    def finish(self, item: Object, *, cut: bool = False) -> None:
        """Say what was not streamed; raw text is preferred over summaries where neither was."""
        told = ((ReasoningForm.RAW, "content"), (ReasoningForm.SUMMARY, "summary"))
        for form, member in told:
            for place, part in enumerate(mappings(item.get(member))):
                self._catch_up(form, place, part.get("text"))
        if text(item.get("encrypted_content")) is not None:
            self._open()
        if self.stage is Stage.OPEN:
            cut = cut or item.get("status") == "incomplete"
            self.events.append(Closed(Opaque(Protocol.RESPONSES, item), cut))
        self.stage = Stage.CLOSED
        self.ended = True

    @property
    def has_spoken(self) -> bool:
        """Whether any text came."""
        return self.stage is not Stage.UNSAID

    def _open(self) -> None:
        if self.stage is Stage.UNSAID:
            self.stage = Stage.OPEN
            self.events.append(ReasoningOpened())

    def _say(self, form: ReasoningForm, place: int, told: object) -> None:
        if self._form not in (None, form) or not isinstance(told, str) or not told:
            return
        self._form = form
        self._open()
        if place != self._part:
            self._part = place
            self._said = Streamed()
        self._said.add(told)
        self.events.append(ReasoningDelta(told, form, place))

    def _catch_up(self, form: ReasoningForm, place: int, whole: object) -> None:
        """What came before the part that is being told cannot be mended."""
        if isinstance(whole, str) and place >= self._part:
            said = self._said if place == self._part else Streamed()
            self._say(form, place, said.rest_of(whole))


class CallItem(CallBlock, Item):
    """A call of a client's tool.

    Its input may already stand in the event that begins it, all of it or only the beginning: then the
    fragments are held until the end tells what they add up to.
    """

    def __init__(self, item: Object, index: int | None, ids: CallIds, source: bytes) -> None:
        """`source`: the event, of which a missing id is made."""
        super().__init__(CallKind.CUSTOM if item.get("type") == _CUSTOM else CallKind.FUNCTION, index)
        self._ids = ids
        self._source = source
        self._begun = self._input_of(item)
        self._held = Transcript()
        self._introduce(item)

    def is_whole(self) -> bool:
        """Only the upstream's end of the item tells."""
        return self.ended

    def hear(self, kind: str, event: Event) -> None:
        """A fragment of the input, or all of it."""
        match kind:
            case "response.function_call_arguments.delta" | "response.custom_tool_call_input.delta":
                self._grow(event.delta)
            case "response.function_call_arguments.done":
                self._catch_up(argument_text(event.arguments))
            case "response.custom_tool_call_input.done":
                self._catch_up(argument_text(event.input))
            case _:
                _refuse_delta(kind)

    def finish(self, item: Object, *, cut: bool = False) -> None:
        """Say what of the input was not streamed. Raises Broken if the tool was never named."""
        self._introduce(item)
        self._catch_up(self._input_of(item))
        Item.finish(self, item, cut=cut)

    def close(self, *, cut: bool = False) -> None:
        """As for any call."""
        if not self.given:
            is_all = isinstance(load(self._begun.encode()), dict)
            self.given = self._begun if is_all else self._begun + self._held.text()
        super().close(cut=cut)

    def _introduce(self, item: Object) -> None:
        name = text(item.get("name"))
        if self.opening is None and name is not None:
            told = text(item.get("call_id")) or text(item.get("id"))
            self.name(self._ids.take(told, self._source), name, text(item.get("namespace")))

    def _grow(self, delta: object) -> None:
        if not isinstance(delta, str):
            return
        if self._begun:
            self._held.add(delta)
        else:
            self.add(delta)

    def _catch_up(self, whole: str) -> None:
        if self._begun:
            self.given = whole or self.given
        else:
            self.add(self.said.rest_of(whole))

    def _input_of(self, item: Object) -> str:
        return argument_text(item.get("arguments" if self.kind is CallKind.FUNCTION else "input"))


class SearchItem(Item):
    """A web search of the upstream's own."""

    def finish(self, item: Object, *, cut: bool = False) -> None:
        """Tell the search; opening a page and looking for words in it are none."""
        action = mapping(item.get("action"))
        if self.stage is Stage.UNSAID and action.get("type", "search") == "search":
            self.events.append(Searched(self.id or "", text(action.get("query"))))
        super().finish(item, cut=cut)


def item_of(item: Object, index: int | None, ids: CallIds, source: bytes) -> Item:
    """The item that an event begins."""
    begun = _new_item(item, index, ids, source)
    begun.type = text(item.get("type")) or ""
    begun.id = text(item.get("id"))
    return begun


def _new_item(item: Object, index: int | None, ids: CallIds, source: bytes) -> Item:
    match item.get("type"):
        case "message":
            return MessageItem(item, index)
        case "reasoning":
            return ReasoningItem(index)
        case "function_call" | "custom_tool_call":
            return CallItem(item, index, ids, source)
        case "web_search_call":
            return SearchItem(index)
        case _:  # what only this protocol's clients can use
            return Item(index)


def _refuse_delta(kind: str) -> None:
    """An event of another kind of item tells nothing here, but a delta of one would be lost."""
    if kind.endswith(".delta"):
        raise Broken(f"a {kind} of the upstream does not fit its item")
