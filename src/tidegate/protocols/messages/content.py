"""Reads each kind of block of a Messages stream."""

from tidegate.core.events import CallKind, Closed, Opaque, ReasoningDelta, ReasoningOpened, Searched
from tidegate.core.protocol import Protocol
from tidegate.protocols.blocks import TEXT, Block, Broken, CallBlock, CallIds, Stage, TextBlock
from tidegate.protocols.citations import web_citation
from tidegate.protocols.loose import listing, mapping, text
from tidegate.protocols.messages.heard import Delta
from tidegate.protocols.reading import load
from tidegate.protocols.transcript import Transcript
from tidegate.protocols.whole_answers import argument_text

Object = dict[str, object]


class Content(Block):
    """A block that tells a client of another protocol nothing: results of hosted tools, unknown kinds."""

    def grow(self, delta: Delta) -> None:
        """Take a delta. Raises Broken if it does not fit the block; deltas of unknown types say nothing."""


class Text(TextBlock, Content):
    """A `text` block."""

    def __init__(self, start: Object) -> None:
        super().__init__(TEXT)
        if (told := text(start.get("text"))) is not None:
            self.add(told)
        for each in listing(start.get("citations")):
            self._cite(each)

    def grow(self, delta: Delta) -> None:
        """More text, or a citation."""
        if delta.text and delta.type in ("text_delta", None):
            self.add(delta.text)
        elif delta.type == "citations_delta":
            self._cite(delta.citation)
        else:
            _check(delta, "text_delta")

    def _cite(self, citation: object) -> None:
        """Only pages of the web have a form elsewhere."""
        cited = web_citation(citation)
        if cited is not None:
            self.cite(cited)


class Thinking(Content):
    """A `thinking` block, or a `redacted_thinking` block, which is whole at its start.

    What the upstream wants back is the block as it was, if it is signed.
    """

    __slots__ = ("_said", "_signature", "_start")

    def __init__(self, start: Object) -> None:
        super().__init__()
        self._start = start
        self._said = Transcript()
        self._signature = text(start.get("signature"))
        self.stage = Stage.OPEN
        self.events.append(ReasoningOpened())
        self._think(text(start.get("thinking")))

    def grow(self, delta: Delta) -> None:
        """More thinking, or the signature, which replaces the one before."""
        if delta.thinking and delta.type in ("thinking_delta", None):
            self._think(delta.thinking)
        elif delta.signature and delta.type in ("signature_delta", None):
            self._signature = delta.signature
        else:
            _check(delta, "thinking_delta", "signature_delta")

    def close(self, *, cut: bool = False) -> None:
        """As for any block, with the block in one piece."""
        if self.stage is Stage.OPEN:
            self.events.append(Closed(self._opaque(), cut))
        self.stage = Stage.CLOSED

    def _think(self, told: str | None) -> None:
        if told:
            self._said.add(told)
            self.events.append(ReasoningDelta(told))

    def _opaque(self) -> Opaque | None:
        if self._start.get("type") == "redacted_thinking":
            return Opaque(Protocol.MESSAGES, [self._start])
        if self._signature is None:
            return None
        told = {"thinking": self._said.text(), "signature": self._signature}
        return Opaque(Protocol.MESSAGES, [self._start | told])


class ToolUse(CallBlock, Content):
    """A `tool_use` block."""

    def __init__(self, start: Object, ids: CallIds, source: bytes) -> None:
        """`source`: the event, of which a missing id is made. Raises Broken if the tool has no name."""
        super().__init__(CallKind.FUNCTION)
        name = text(start.get("name"))
        if name is None:
            raise Broken("a tool call of the upstream has no name")
        self.name(ids.take(text(start.get("id")), source), name)
        self.given = argument_text(start.get("input") or None)

    def grow(self, delta: Delta) -> None:
        """A fragment of the input."""
        if delta.partial_json and delta.type in ("input_json_delta", None):
            self.add(delta.partial_json)
        else:
            _check(delta, "input_json_delta")

    def is_whole(self) -> bool:
        """Only the upstream's stop tells."""
        return self.ended


class WebSearch(Content):
    """A `server_tool_use` block of a web search."""

    __slots__ = ("_input", "_pieces", "_start")

    def __init__(self, start: Object) -> None:
        super().__init__()
        self._start = start
        self._pieces = Transcript()

    def grow(self, delta: Delta) -> None:
        """A fragment of the input, which tells what is searched for."""
        if delta.partial_json:
            self._pieces.add(delta.partial_json)
        else:
            _check(delta, "input_json_delta")

    def close(self, *, cut: bool = False) -> None:
        """Tell the search, between the blocks."""
        del cut
        if self.stage is not Stage.CLOSED:
            asked = mapping(load(self._pieces.text().encode())) or mapping(self._start.get("input"))
            self.events.append(Searched(text(self._start.get("id")) or "", text(asked.get("query"))))
        self.stage = Stage.CLOSED


def content_of(start: Object, ids: CallIds, source: bytes) -> Content:
    """The block that a `content_block_start` begins. Raises Broken."""
    match start.get("type"):
        case "text":
            return Text(start)
        case "thinking" | "redacted_thinking":
            return Thinking(start)
        case "tool_use":
            return ToolUse(start, ids, source)
        case "server_tool_use" if start.get("name") == "web_search":
            return WebSearch(start)
        case _:  # what only this protocol's clients can use
            return Content()


_DELTAS = frozenset(
    {"text_delta", "thinking_delta", "signature_delta", "input_json_delta", "citations_delta"}
)


def _check(delta: Delta, *fitting: str) -> None:
    """A delta that says nothing here may be empty or of an unknown type, but not one of another block."""
    if delta.type in _DELTAS and delta.type not in fitting:
        raise Broken(f"a {delta.type} of the upstream does not fit its block")
