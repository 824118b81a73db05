"""Checks the output items of a Responses stream, and the parts that they are made of."""

from collections.abc import Iterator

from tidegate.doctor.findings import Finding, at
from tidegate.doctor.framing import Event
from tidegate.doctor.members import Object, count, elements, is_object_text, part, word

_PART_TEXTS = {
    "response.output_text.delta": ("content", "output_text"),
    "response.refusal.delta": ("content", "refusal"),
    "response.reasoning_text.delta": ("content", "reasoning_text"),
    "response.reasoning_summary_text.delta": ("summary", "summary_text"),
}
_PART_ENDS = {
    "response.output_text.done": ("content", "text"),
    "response.refusal.done": ("content", "refusal"),
    "response.reasoning_text.done": ("content", "text"),
    "response.reasoning_summary_text.done": ("summary", "text"),
}
_PARTS = {
    "response.content_part": "content",
    "response.reasoning_summary_part": "summary",
}
_INPUTS = {
    "response.function_call_arguments": "arguments",
    "response.custom_tool_call_input": "input",
}
_PREFIXES = (
    *("response.output_", "response.content_part.", "response.refusal.", "response.reasoning_"),
    *("response.function_call_arguments.", "response.custom_tool_call_input.", "response.web_search_call."),
    *("response.file_search_call.", "response.code_interpreter_call", "response.image_generation_call."),
    *("response.mcp_", "response.shell_call_", "response.compaction.", "response.audio."),
)


class _Item:
    """One item; the parts are by their kind and index."""

    def __init__(self, opening: Object) -> None:
        self.opening = opening
        self.final: Object | None = None
        self.parts: dict[tuple[str, int], list[str]] = {}
        self.closed: set[tuple[str, int]] = set()
        self.input: list[str] = []

    @property
    def kind(self) -> str:
        """Its type."""
        return word(self.opening, "type")


class Items:
    """All items of one response."""

    def __init__(self) -> None:
        self._items: dict[int, _Item] = {}
        self.spoken = 0

    @property
    def calls(self) -> tuple[str, ...]:
        """Names of called tools."""
        return tuple(
            word(item.opening, "name")
            for item in self._items.values()
            if item.kind in ("function_call", "custom_tool_call")
        )

    def see(self, event: Event, kind: str, told: Object) -> Iterator[Finding]:
        """An event of an item."""
        if not kind.startswith(_PREFIXES):
            yield at(event, "unknown-event", f"{kind} is no event that is known")
            return
        if kind.startswith("response.audio."):
            return
        index = count(told, "output_index")
        if kind == "response.output_item.added":
            yield from self._add(event, index, part(told, "item"))
            return
        item = None if index is None else self._items.get(index)
        if item is None or item.final is not None:
            yield at(event, "responses-item", f"{kind} for item {index}, which is not open")
            return
        if "item_id" in told and told["item_id"] != item.opening.get("id"):
            yield at(event, "responses-item", f"its item_id is not that of item {index}")
        if kind == "response.output_item.done":
            yield from self._close(event, item, part(told, "item"))
        else:
            yield from self._see_part(event, kind, item, told)

    def end(self, output: list[object], *, cut: bool) -> Iterator[Finding]:
        """The response ended in order; `cut` where a limit ended it. `output` is what it tells of itself."""
        for index, item in self._items.items():
            if item.final is None:
                yield Finding("responses-item", f"item {index} ({item.kind}) is never done")
            arguments = word(item.final, "arguments")
            if item.kind == "function_call" and not cut and not is_object_text(arguments):
                message = f"the arguments of item {index} are no JSON object"
                yield Finding("tool-arguments", message, arguments[:500])
        told = [(word(one, "id"), word(one, "type")) for one in output]
        seen = [(word(item.opening, "id"), item.kind) for item in self._items.values()]
        if told != seen:
            message = f"the final output holds {told}, the stream had {seen}"
            yield Finding("responses-output", message[:500])
        elif [_gist(item.final) for item in self._items.values()] != [_gist(item) for item in output]:
            yield Finding("responses-output", "the final output differs from the items that were done")

    def _add(self, event: Event, index: int | None, item: Object) -> Iterator[Finding]:
        if index != len(self._items):
            yield at(event, "responses-item", f"its output_index is {index}, not {len(self._items)}")
        if index in self._items:
            return
        if not word(item, "id") or not word(item, "type"):
            yield at(event, "responses-item", "an item without id or type")
        self._items[len(self._items) if index is None else index] = added = _Item(item)
        if added.kind in ("function_call", "custom_tool_call"):
            self.spoken += 1
            others = [other.opening.get("call_id") for other in self._items.values() if other is not added]
            if not word(item, "call_id") or item.get("call_id") in others:
                yield at(event, "tool-call-id", "a call without a call_id of its own")
            if not word(item, "name"):
                yield at(event, "tool-call-name", "a call without a name")

    def _close(self, event: Event, item: _Item, final: Object) -> Iterator[Finding]:
        item.final = final
        for name in ("id", "type", "call_id", "name"):
            if final.get(name) != item.opening.get(name):
                yield at(event, "responses-item", f"its {name} is not that of the item as it was added")
        for place in item.parts:
            if place not in item.closed:
                yield at(event, "responses-part", f"{place[0]} part {place[1]} is not done before its item")
        told = final.get("arguments", final.get("input"))
        if item.input and told != "".join(item.input):
            yield at(event, "responses-text", "the item differs from the deltas of its input")

    def _see_part(self, event: Event, kind: str, item: _Item, told: Object) -> Iterator[Finding]:
        stem, _, step = kind.rpartition(".")
        if stem in _INPUTS:
            yield from self._see_input(event, step, item, told, _INPUTS[stem])
        elif stem in _PARTS:
            yield from _see_edge(event, step, item, _PARTS[stem], told)
        elif kind in _PART_TEXTS:
            self.spoken += bool(told.get("delta"))
            yield from _see_text(event, item, _PART_TEXTS[kind][0], told)
        elif kind in _PART_ENDS:
            family, member = _PART_ENDS[kind]
            yield from _see_whole_text(event, item, family, told, member)

    def _see_input(
        self, event: Event, step: str, item: _Item, told: Object, member: str
    ) -> Iterator[Finding]:
        if step == "delta":
            item.input.append(word(told, "delta"))
        elif item.input and told.get(member) != "".join(item.input):
            yield at(event, "responses-text", f"{member} differs from the deltas before it")


def _gist(item: object) -> tuple[object, ...]:
    """What an item says. Its encrypted part may be sealed anew, and what nobody reads may be left out."""
    said = [
        [word(one, "type"), word(one, "text") or word(one, "refusal")]
        for family in ("content", "summary")
        for one in elements(item, family)
    ]
    return (said, *(word(item, name) for name in ("call_id", "name", "arguments", "input")))


def _place(family: str, told: Object) -> tuple[str, int]:
    index = count(told, f"{family}_index")
    return family, -1 if index is None else index


def _see_edge(event: Event, step: str, item: _Item, family: str, told: Object) -> Iterator[Finding]:
    place = _place(family, told)
    if step == "added":
        expected = sum(known == family for known, _ in item.parts)
        if place[1] != expected:
            yield at(event, "responses-part", f"its {family}_index is {place[1]}, not {expected}")
        item.parts[place] = []
        return
    if place not in item.parts or place in item.closed:
        yield at(event, "responses-part", f"{family} part {place[1]} is done, but not open")
        return
    item.closed.add(place)
    final = part(told, "part")
    text = final.get("text", final.get("refusal"))
    if text != "".join(item.parts[place]):
        yield at(event, "responses-text", "the part differs from the deltas before it")


def _see_text(event: Event, item: _Item, family: str, told: Object) -> Iterator[Finding]:
    place = _place(family, told)
    if place not in item.parts or place in item.closed:
        yield at(event, "responses-part", f"text for {family} part {place[1]}, which is not open")
        return
    if not isinstance(told.get("delta"), str):
        yield at(event, "responses-part", "delta is no text")
    item.parts[place].append(word(told, "delta"))


def _see_whole_text(event: Event, item: _Item, family: str, told: Object, member: str) -> Iterator[Finding]:
    place = _place(family, told)
    if place not in item.parts or place in item.closed:
        yield at(event, "responses-part", f"text for {family} part {place[1]}, which is not open")
    elif told.get(member) != "".join(item.parts[place]):
        yield at(event, "responses-text", f"{member} differs from the deltas before it")
