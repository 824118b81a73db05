"""Writes the output items of words in a Responses stream: messages and reasoning."""

from tidegate.core.events import Cited, ReasoningDelta, ReasoningForm, TextDelta
from tidegate.protocols.logprobs import logprob_entries
from tidegate.protocols.responses.numbered import Delta, Events, Object, Place, closed, json_text, opened
from tidegate.protocols.transcript import Transcript

_SUMMARY = "response.reasoning_summary"
_PART_GAP = "\n\n"


class MessageItem:
    """A message with one part: text, or a refusal."""

    def __init__(self, events: Events, place: Place, *, refusal: bool = False) -> None:
        self._events = events
        self._place = place
        self._kind, self._member = ("refusal", "refusal") if refusal else ("output_text", "text")
        self._at = place.members(content_index=0)
        logged = b"" if refusal else b',"logprobs":[]'
        self._delta = Delta(events, f"response.{self._kind}.delta", self._at, logged)
        self._text = Transcript()
        self._length = 0
        self._logprobs: list[Object] = []
        self._logged: list[Object] = []
        """Those that no delta has told yet."""
        self._cited: list[Cited] = []

    def opened(self) -> bytes:
        """The item and its part, empty."""
        part = self._part("", [], [])
        return opened(self._events, self._place, self._item("in_progress", [])) + self._events.event(
            "response.content_part.added", {**self._at, "part": part}
        )

    def grown(self, event: TextDelta) -> bytes:
        """More text. Log probabilities without text (of a part of a character) wait for it."""
        text = event.text
        self._text.add(text)
        self._length += len(text)
        if event.logprobs and self._member == "text":
            self._logged += logprob_entries(event.logprobs)
        if not text:
            return b""
        if not self._logged:
            return self._delta.event(text)
        logged, self._logged = self._logged, []
        self._logprobs += logged
        return self._events.event(
            "response.output_text.delta", {**self._at, "delta": text, "logprobs": logged}
        )

    def cite(self, cited: Cited) -> None:
        """Note a citation, to be told when the text is whole, since it may cite all of it.

        A refusal cites nothing.
        """
        if self._member == "text":
            self._cited.append(cited)

    def closed(self, status: str, carrier: str | None) -> tuple[bytes, bytes]:
        """The rest of the item's events, and the item as JSON text."""
        del carrier
        events, text, annotations = self._events, self._text.text(), self._annotations()
        written = b"".join(
            events.event(
                "response.output_text.annotation.added",
                {**self._at, "annotation_index": number, "annotation": annotation},
            )
            for number, annotation in enumerate(annotations)
        )
        logprobs = self._logprobs + self._logged
        part = self._part(text, annotations, logprobs)
        logged: Object = {"logprobs": logprobs} if self._member == "text" else {}
        written += events.event(f"response.{self._kind}.done", {**self._at, self._member: text, **logged})
        written += events.event("response.content_part.done", {**self._at, "part": part})
        return closed(events, self._place, self._item(status, [part]), written)

    def so_far(self) -> bytes:
        """The item as JSON text when the stream breaks off."""
        part = self._part(self._text.text(), self._annotations(), self._logprobs)
        return json_text(self._item("incomplete", [part]))

    def _annotations(self) -> list[Object]:
        return [
            {
                "type": "url_citation",
                "url": cited.url,
                "title": cited.title,
                "start_index": 0 if cited.start is None else cited.start,
                "end_index": self._length if cited.end is None else cited.end,
            }
            for cited in self._cited
        ]

    def _part(self, text: str, annotations: list[Object], logprobs: list[Object]) -> Object:
        if self._member != "text":
            return {"type": "refusal", "refusal": text}
        return {"type": "output_text", "text": text, "annotations": annotations, "logprobs": logprobs}

    def _item(self, status: str, content: list[Object]) -> Object:
        return {
            "id": self._place.id,
            "type": "message",
            "status": status,
            "role": "assistant",
            "content": content,
        }


class ReasoningItem:
    """Reasoning, as summary parts if the client asked for a summary, else as one text."""

    def __init__(self, events: Events, place: Place, *, summarized: bool) -> None:
        self._events = events
        self._place = place
        self._summarized = summarized
        self._form: ReasoningForm | None = None
        self._parts: list[Transcript] = []
        self._part_told = 0
        self._delta: Delta | None = None

    def opened(self) -> bytes:
        """The item, empty."""
        return opened(self._events, self._place, self._item("in_progress", [], None))

    def grown(self, event: ReasoningDelta) -> bytes:
        """More text; a new part of a summary is a part of its own, or stands apart in the one text.

        An item that is told twice is taken in the form it began in.
        """
        self._form = self._form or event.form
        if event.form is not self._form:
            return b""
        before, text, apart = b"", event.text, bool(self._parts) and event.part != self._part_told
        self._part_told = event.part
        if apart and not self._summarized:
            text = _PART_GAP + text
        if self._delta is None or (apart and self._summarized):
            before = self._part_done() if apart else b""
            before += self._part_added()
        self._parts[-1].add(text)
        delta = self._delta
        return before if delta is None else before + delta.event(text)

    def closed(self, status: str, carrier: str | None) -> tuple[bytes, bytes]:
        """The rest of the item's events, and the item as JSON text."""
        written = self._part_done() if self._parts else b""
        item = self._item(status, [part.text() for part in self._parts], carrier)
        return closed(self._events, self._place, item, written)

    def so_far(self) -> bytes:
        """The item as JSON text when the stream breaks off."""
        return json_text(self._item("incomplete", [part.text() for part in self._parts], None))

    def _part_added(self) -> bytes:
        self._parts.append(Transcript())
        at = self._at()
        if self._summarized:
            self._delta = Delta(self._events, f"{_SUMMARY}_text.delta", at)
            return self._events.event(f"{_SUMMARY}_part.added", {**at, "part": self._part("")})
        self._delta = Delta(self._events, "response.reasoning_text.delta", at)
        return self._events.event("response.content_part.added", {**at, "part": self._part("")})

    def _part_done(self) -> bytes:
        at, text, event = self._at(), self._parts[-1].text(), self._events.event
        text_done, part_done = (
            (f"{_SUMMARY}_text.done", f"{_SUMMARY}_part.done")
            if self._summarized
            else ("response.reasoning_text.done", "response.content_part.done")
        )
        return event(text_done, {**at, "text": text}) + event(part_done, {**at, "part": self._part(text)})

    def _at(self) -> Object:
        index = len(self._parts) - 1
        if self._summarized:
            return self._place.members(summary_index=index)
        return self._place.members(content_index=index)

    def _part(self, text: str) -> Object:
        return {"type": "summary_text" if self._summarized else "reasoning_text", "text": text}

    def _item(self, status: str, texts: list[str], carrier: str | None) -> Object:
        parts = [self._part(text) for text in texts]
        item: Object = {"id": self._place.id, "type": "reasoning", "status": status}
        item["summary"] = parts if self._summarized else []
        if parts and not self._summarized:
            item["content"] = parts
        return item if carrier is None else item | {"encrypted_content": carrier}
