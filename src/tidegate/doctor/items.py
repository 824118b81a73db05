"""Checks the output items of a Responses stream, and the parts that they are made of."""

from collections.abc import Iterator

from tidegate.doctor.findings import Finding, at
from tidegate.doctor.framing import Event
from tidegate.doctor.members import Object, count, elements, is_object_text, part, word
from tidegate.doctor.parts import Parts

_TEXTS = {
    "response.output_text": "output_text",
    "response.refusal": "refusal",
    "response.reasoning_text": "reasoning_text",
    "response.reasoning_summary_text": "summary_text",
}
_EDGES = {
    "response.content_part": "content",
    "response.reasoning_summary_part": "summary",
}
_INPUTS = {
    "response.function_call_arguments": ("function_call", "arguments"),
    "response.custom_tool_call_input": ("custom_tool_call", "input"),
}
_PREFIXES = (
    *("response.output_", "response.content_part.", "response.refusal.", "response.reasoning_"),
    *("response.function_call_arguments.", "response.custom_tool_call_input.", "response.web_search_call."),
    *("response.file_search_call.", "response.code_interpreter_call", "response.image_generation_call."),
    *("response.mcp_", "response.shell_call_", "response.compaction.", "response.audio."),
)


class _Item:
    """One item, from its start to its end."""

    def __init__(self, opening: Object) -> None:
        self.opening = opening
        self.final: Object | None = None
        self.parts = Parts()
        self.input: list[str] = []
        self.input_ended = False

    @property
    def kind(self) -> str:
        """Its type."""
        return word(self.opening, "type")


class Items:
    """All items of one response."""

    def __init__(self) -> None:
        self._items: dict[int, _Item] = {}
        self.spoken = 0
        self.heard: list[tuple[float, int]] = []

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
        if kind == "response.output_item.done":
            yield from self._close(event, item, part(told, "item"))
            return
        if not kind.startswith("response.shell_call_") and told.get("item_id") != item.opening.get("id"):
            yield at(event, "responses-item", f"its item_id is not that of item {index}")
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
        for odd in _odd(item):
            yield at(event, "responses-item", odd)
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
        if final.get("status") == "in_progress":
            yield at(event, "responses-item", "it is done, and its status is in_progress")
        for odd in _odd(final):
            yield at(event, "responses-item", odd)
        for odd in item.parts.end():
            yield at(event, "responses-part", odd)
        if item.input and not item.input_ended:
            yield at(event, "responses-part", "its input is not done before it")
        told = final.get("arguments", final.get("input"))
        if item.input and told != "".join(item.input):
            yield at(event, "responses-text", "the item differs from the deltas of its input")

    def _see_part(self, event: Event, kind: str, item: _Item, told: Object) -> Iterator[Finding]:
        stem, _, step = kind.rpartition(".")
        if stem in _INPUTS:
            yield from _see_input(event, step, item, told, *_INPUTS[stem])
        elif stem in _EDGES and step in ("added", "done"):
            yield from item.parts.see_edge(event, step, _EDGES[stem], told)
        elif stem in _TEXTS and step == "delta":
            self.spoken += bool(told.get("delta"))
            if word(told, "delta"):
                self.heard.append((event.at, len(word(told, "delta"))))
            yield from item.parts.see_text(event, _TEXTS[stem], told)
        elif stem in _TEXTS and step == "done":
            yield from item.parts.see_whole_text(event, _TEXTS[stem], told)


def _see_input(
    event: Event, step: str, item: _Item, told: Object, kind: str, member: str
) -> Iterator[Finding]:
    if item.kind != kind or item.input_ended:
        yield at(event, "responses-part", f"{member} for an item of {item.kind} that takes none any more")
    if step == "delta":
        if not isinstance(told.get("delta"), str):
            yield at(event, "responses-part", "delta is no text")
        item.input.append(word(told, "delta"))
        return
    item.input_ended = True
    if not isinstance(told.get(member), str):
        yield at(event, "responses-part", f"{member} is no text")
    elif item.input and told.get(member) != "".join(item.input):
        yield at(event, "responses-text", f"{member} differs from the deltas before it")


_DEMANDED: dict[str, tuple[tuple[str, type], ...]] = {
    "message": (("content", list), ("role", str), ("status", str)),
    "function_call": (("arguments", str),),
    "custom_tool_call": (("input", str),),
    "reasoning": (("summary", list),),
}


def _odd(item: Object) -> Iterator[str]:
    """What an item of the commonest types lacks."""
    kind = word(item, "type")
    for name, right in _DEMANDED.get(kind, ()):
        if not isinstance(item.get(name), right):
            yield f"{kind}.{name} is missing, or of the wrong kind"
    if kind == "message" and item.get("role") != "assistant":
        yield f"message.role is {item.get('role')!r}, not assistant"


def _gist(item: object) -> tuple[object, ...]:
    """What an item says. Its encrypted part may be sealed anew, and what nobody reads may be left out."""
    said = [
        [word(one, "type"), word(one, "text") or word(one, "refusal")]
        for family in ("content", "summary")
        for one in elements(item, family)
    ]
    return (said, *(word(item, name) for name in ("call_id", "name", "arguments", "input")))
