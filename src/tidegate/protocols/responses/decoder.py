"""Reads a Responses stream as the events of an answer."""

from collections import deque

from tidegate.core.events import Finished, Started, Stop, UsageTold
from tidegate.core.sse import Frame
from tidegate.protocols.blocks import Broken, CallIds
from tidegate.protocols.decoding import NOT_JSON, StreamDecoder
from tidegate.protocols.loose import mapping, mappings, text
from tidegate.protocols.reading import load
from tidegate.protocols.responses import errors, heard
from tidegate.protocols.responses.upstream_items import CallItem, Item, MessageItem, ReasoningItem, item_of
from tidegate.protocols.responses.usage import calls_among, read_usage, with_searches
from tidegate.protocols.service_tier import with_tier

Object = dict[str, object]

_OPENINGS = frozenset(f"response.{name}" for name in ("created", "queued", "in_progress"))
_TERMINALS = frozenset(f"response.{name}" for name in ("completed", "incomplete", "done"))
_ERRORS = frozenset({"error", "response.failed", "response.cancelled"})
_GROWING = ("output_text", "refusal", "reasoning_text", "reasoning_summary_text")
_INPUTS = ("function_call_arguments", "custom_tool_call_input")
_PARTS = ("content_part", "reasoning_summary_part")
_UNANNOUNCED = {
    "response.output_text.delta": "message",
    "response.refusal.delta": "message",
    "response.reasoning_text.delta": "reasoning",
    "response.reasoning_summary_text.delta": "reasoning",
    "response.reasoning_summary_part.added": "reasoning",
}
"""What begins an item of that type on servers that leave out `output_item.added`."""
_OF_AN_ITEM = frozenset(
    {
        *(f"response.{name}.{step}" for name in (*_GROWING, *_INPUTS) for step in ("delta", "done")),
        *(f"response.{name}.{step}" for name in _PARTS for step in ("added", "done")),
        "response.output_text.annotation.added",
    }
)


class ResponsesDecoder(StreamDecoder):
    """Reads the events of one response. Items that are interleaved come one after the other."""

    def __init__(self) -> None:
        super().__init__()
        self._items: list[Item] = []
        self._open: dict[int, Item] = {}
        self._by_id: dict[str, Item] = {}
        self._done: set[int | None] = set()
        self._ids = CallIds()
        self._started = False

    def _read(self, frame: Frame) -> None:
        data = frame.data
        if data.startswith(b"[DONE]"):
            return
        event = heard.parse(data)
        if event is None:
            raise Broken(NOT_JSON)
        kind = event.type
        if kind is None:
            kind = "" if frame.event is None else frame.event.decode("utf-8", "replace")
        if event.error or kind in _ERRORS:
            self._fail(errors.read_error_event(load(data)))
        elif kind in _OF_AN_ITEM:
            self._hear(kind, event)
        else:
            self._read_lifecycle(kind, event, data)

    def _read_lifecycle(self, kind: str, event: heard.Event, data: bytes) -> None:
        match kind:
            case _ if kind in _OPENINGS:
                self._start(mapping(event.response))
            case _ if kind in _TERMINALS:
                self._conclude(kind, mapping(event.response), data)
            case "response.output_item.added":
                self._add(mapping(event.item), event.output_index, data)
            case "response.output_item.done":
                self._finish_item(mapping(event.item), event.output_index, data)
            case _:  # steps of hosted tools, keepalives, and events that this version does not know
                pass

    def _start(self, response: Object) -> None:
        if not self._started:
            self._started = True
            self._ids.answer = text(response.get("id")) or ""
            self._blocks.tell(Started(text(response.get("id")), text(response.get("service_tier"))))

    def _add(self, item: Object, index: int | None, data: bytes) -> None:
        """An item begins, unless it is told once more."""
        known = None if index is None else self._open.get(index)
        if known is None or known.type != item.get("type") or known.id not in (None, item.get("id")):
            self._begin(item, index, data)

    def _begin(self, item: Object, index: int | None, data: bytes) -> Item:
        """A new item. One that is open at its place is over: some servers number every item alike."""
        if not self._started:
            raise Broken("an item of the upstream begins before its response")
        begun = item_of(item, index, self._ids, data)
        if index is not None:
            _abandon(self._open.get(index))
            self._open[index] = begun
        if begun.id is not None:
            self._by_id[begun.id] = begun
        self._items.append(begun)
        self._blocks.begin(begun)
        return begun

    def _hear(self, kind: str, event: heard.Event) -> None:
        item = self._item_at(event.output_index, event.item_id)
        if item is None and self._begins_unannounced(kind, event.output_index):
            item = self._begin({"type": _UNANNOUNCED[kind], "id": event.item_id}, event.output_index, b"")
        if item is None:
            if kind.endswith(".delta"):
                raise Broken(f"a {kind} of the upstream belongs to no open item")
            return
        item.hear(kind, event)

    def _begins_unannounced(self, kind: str, index: int | None) -> bool:
        """A delta for a place whose item has been done comes too late, and begins none."""
        return kind in _UNANNOUNCED and not (kind.endswith(".delta") and index in self._done)

    def _item_at(self, index: int | None, id_: str | None) -> Item | None:
        """The open item of an event: by its place, which servers keep, else by its id, which some do not."""
        if index is not None:
            return self._open.get(index)
        item = None if id_ is None else self._by_id.get(id_)
        return None if item is None or item.ended else item

    def _finish_item(self, item: Object, index: int | None, data: bytes) -> None:
        found = self._item_at(index, text(item.get("id")))
        if found is None or found.type != item.get("type"):
            found = self._begin(item, index, data)
        if index is not None:
            self._open.pop(index, None)
            self._done.add(index)
        found.finish(item)
        self._blocks.advance()

    def _conclude(self, kind: str, response: Object, data: bytes) -> None:
        if not response:
            raise Broken("the terminal event of the upstream holds no response")
        status = text(response.get("status"))
        if status in ("failed", "cancelled"):
            self._fail(errors.read_error_event({"response": response}))
            return
        self._start(response)
        is_cut = kind == "response.incomplete" or status == "incomplete"
        output = mappings(response.get("output"))
        self._complete(output, data, cut=is_cut)
        self._check_open(output, cut=is_cut)
        calls = calls_among(output)
        counts = with_searches(read_usage(response.get("usage")), response.get("tool_usage"), calls)
        usage = with_tier(counts, response.get("service_tier"))
        if usage is not None:
            self._blocks.tell(UsageTold(usage))
        self._end(Finished(self._stop(response, cut=is_cut)), cut=is_cut)

    def _complete(self, output: list[Object], data: bytes, *, cut: bool) -> None:
        """Take from the final output what was not streamed, and what of it is still open."""
        partners = self._partners(output)
        for place, item in enumerate(output, start=1):
            partner = partners.get(place) or self._begin(item, None, data)
            if not partner.ended:
                is_last = place == len(output) and item.get("status") is None
                partner.finish(item, cut=cut and is_last)
        self._blocks.advance()

    def _partners(self, output: list[Object]) -> dict[int, Item]:
        """The streamed item of each final one, by place from 1: that of its id, else the next of its type."""
        known = {(item.type, item.id): item for item in self._items if item.id is not None}
        found = {
            place: partner
            for place, item in enumerate(output, start=1)
            if (partner := known.pop((text(item.get("type")) or "", text(item.get("id")) or ""), None))
            is not None
        }
        taken = set(map(id, found.values()))
        left: dict[str, deque[Item]] = {}
        for each in self._items:
            if id(each) not in taken:
                left.setdefault(each.type, deque()).append(each)
        for place, item in enumerate(output, start=1):
            queue = left.get(text(item.get("type")) or "")
            if place not in found and queue:
                found[place] = queue.popleft()
        return found

    def _check_open(self, output: list[Object], *, cut: bool) -> None:
        """An item that is neither done nor in the final output was lost, unless the output is left out."""
        for item in self._items:
            if item.ended or cut or not isinstance(item, MessageItem | ReasoningItem | CallItem):
                continue
            if output or isinstance(item, CallItem) or not item.has_spoken:
                raise Broken("an output item of the upstream was never done")

    def _stop(self, response: Object, *, cut: bool) -> Stop:
        reason = text(mapping(response.get("incomplete_details")).get("reason"))
        if cut:
            return Stop.CONTENT_FILTER if reason == "content_filter" else Stop.LENGTH
        if any(isinstance(item, CallItem) for item in self._items):
            return Stop.TOOL_CALLS
        refused = any(isinstance(item, MessageItem) and item.refused for item in self._items)
        return Stop.REFUSAL if refused else Stop.END


def _abandon(item: Item | None) -> None:
    """Another item took its place before it was done. Raises Broken if a call may be in the middle."""
    if isinstance(item, CallItem):
        raise Broken("a tool call of the upstream was never done")
    if item is not None:
        item.ended = True
