"""Checks the parts of an item of a Responses stream, from their start to their end."""

from collections.abc import Iterator

from tidegate.doctor.findings import Finding, at
from tidegate.doctor.framing import Event
from tidegate.doctor.members import Object, count, part, word

_FAMILIES = {"output_text": "content", "refusal": "content", "reasoning_text": "content"}
"""Where a type of part stands; any other is part of a summary."""


class _Part:
    def __init__(self, kind: str) -> None:
        self.kind = kind
        self.text: list[str] = []
        self.text_ended = False
        self.closed = False


class Parts:
    """The parts of one item, by the list that they stand in and their index there."""

    def __init__(self) -> None:
        self._parts: dict[tuple[str, int], _Part] = {}

    def see_edge(self, event: Event, step: str, family: str, told: Object) -> Iterator[Finding]:
        """The start or the end of a part."""
        place, shown = _place(family, told), part(told, "part")
        if step == "added":
            yield from self._open(event, place, shown)
            return
        known = self._find(place)
        if known is None:
            yield at(event, "responses-part", f"{family} part {place[1]} is done, but not open")
            return
        known.closed = True
        if known.kind and word(shown, "type") != known.kind:
            yield at(event, "responses-part", f"its type is not {known.kind}, as when it was added")
        yield from _check_annotations(event, shown)
        if known.text and not known.text_ended:
            yield at(event, "responses-part", "its text is not done before it")
        if shown.get("text", shown.get("refusal")) != "".join(known.text):
            yield at(event, "responses-text", "the part differs from the deltas before it")

    def see_text(self, event: Event, kind: str, told: Object) -> Iterator[Finding]:
        """A piece of the text of a part."""
        known, why = self._of(kind, told)
        if known is None or known.text_ended:
            yield at(event, "responses-part", why or "text after its text is done")
            return
        if not isinstance(told.get("delta"), str):
            yield at(event, "responses-part", "delta is no text")
        known.text.append(word(told, "delta"))

    def see_whole_text(self, event: Event, kind: str, told: Object) -> Iterator[Finding]:
        """All of the text of a part."""
        member = "refusal" if kind == "refusal" else "text"
        known, why = self._of(kind, told)
        if known is None or known.text_ended:
            yield at(event, "responses-part", why or "its text is done a second time")
            return
        known.text_ended = True
        if told.get(member) != "".join(known.text):
            yield at(event, "responses-text", f"{member} differs from the deltas before it")

    def end(self) -> Iterator[str]:
        """What is wrong when the item is done."""
        for (family, index), known in self._parts.items():
            if not known.closed:
                yield f"{family} part {index} is not done before its item"

    def _open(self, event: Event, place: tuple[str, int], shown: Object) -> Iterator[Finding]:
        family, index = place
        expected = sum(known == family for known, _ in self._parts)
        if index != expected:
            yield at(event, "responses-part", f"its {family}_index is {index}, not {expected}")
        self._parts[place] = _Part(word(shown, "type"))
        if not word(shown, "type"):
            yield at(event, "responses-part", "its part is no object with a type")
        elif not isinstance(shown.get("refusal" if shown["type"] == "refusal" else "text"), str):
            yield at(event, "responses-part", "its part has no text to begin with")
        yield from _check_annotations(event, shown)

    def _find(self, place: tuple[str, int]) -> _Part | None:
        known = self._parts.get(place)
        return None if known is None or known.closed else known

    def _of(self, kind: str, told: Object) -> tuple[_Part | None, str]:
        """The open part that a text is for; or why there is none."""
        family = _FAMILIES.get(kind, "summary")
        place = _place(family, told)
        known = self._find(place)
        if known is None:
            return None, f"text for {family} part {place[1]}, which is not open"
        if known.kind not in ("", kind):
            return None, f"{kind} for a part of {known.kind}"
        return known, ""


def _check_annotations(event: Event, shown: Object) -> Iterator[Finding]:
    if shown.get("type") == "output_text" and not isinstance(shown.get("annotations"), list):
        yield at(event, "responses-part", "a part of output_text whose annotations are no list")


def _place(family: str, told: Object) -> tuple[str, int]:
    index = count(told, f"{family}_index")
    return family, -1 if index is None else index
