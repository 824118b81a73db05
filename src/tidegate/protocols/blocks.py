"""Lets the blocks of an answer speak one after the other, however an upstream's fragments are interleaved."""

from enum import Enum
from hashlib import sha256

from tidegate.core.events import (
    CallDelta,
    CallKind,
    CallOpened,
    Cited,
    Closed,
    Event,
    RefusalOpened,
    TextDelta,
    TextOpened,
)
from tidegate.protocols.call_ids import call_id
from tidegate.protocols.transcript import Transcript

MAX_WAITING = 1000
"""More blocks than this never wait for their turn: real answers have a few, and each costs memory."""

_SOURCE_THAT_TELLS = 2000
TEXT = TextOpened()
REFUSAL = RefusalOpened()


class Broken(Exception):
    """The stream says what its protocol cannot mean; the text says why, for the operator."""


class Stage(Enum):
    """How far a block has come in what goes out."""

    UNSAID = "unsaid"
    OPEN = "open"
    CLOSED = "closed"


class Streamed:
    """Text that came in pieces, to be held against a final value that says all of it once more.

    The pieces are only joined where the lengths allow a difference: final values may come again and again.
    """

    __slots__ = ("_length", "_pieces")

    def __init__(self) -> None:
        self._pieces = Transcript()
        self._length = 0

    def __bool__(self) -> bool:
        """Whether anything came."""
        return self._length > 0

    def add(self, piece: str) -> None:
        """Another piece."""
        self._pieces.add(piece)
        self._length += len(piece)

    def text(self) -> str:
        """All of it."""
        return self._pieces.text()

    def equals(self, whole: str) -> bool:
        """Whether a final value is what was streamed."""
        return len(whole) == self._length and whole == self._pieces.text()

    def rest_of(self, whole: str) -> str:
        """What a final value tells beyond the pieces; nothing where the two differ otherwise."""
        if len(whole) <= self._length or not whole.startswith(self._pieces.text()):
            return ""
        return whole[self._length :]


class Block:
    """One block of an upstream, or one item of several. Whatever it says, it says into `events`.

    In turn those are the events that go out next; before, they are held. `order` is the place among calls or
    items that wait, None keeps the order of arrival. `ended` means that the upstream will add nothing.
    """

    __slots__ = ("ended", "events", "order", "stage")

    def __init__(self, order: int | None = None) -> None:
        self.order = order
        self.events: list[Event] = []
        self.stage = Stage.UNSAID
        self.ended = False

    def is_whole(self) -> bool:
        """Whether the next block may have its turn. Without a sign of the upstream: not before the end."""
        return self.ended

    def close(self, *, cut: bool = False) -> None:
        """Say that the block is whole, or was `cut` by a limit. Once is enough."""
        if self.stage is Stage.OPEN:
            self.events.append(Closed(cut=cut))
        self.stage = Stage.CLOSED


class TextBlock(Block):
    """Text or a refusal; opened by its first words, so an empty one is not told at all."""

    __slots__ = ("opening",)

    def __init__(self, opening: TextOpened | RefusalOpened, order: int | None = None) -> None:
        super().__init__(order)
        self.opening = opening

    def add(self, text: str, logprobs: tuple[object, ...] = ()) -> None:
        """Grow by a text that is not empty."""
        if self.stage is not Stage.OPEN:
            self._open()
        self.events.append(TextDelta(text, logprobs))

    def cite(self, cited: Cited) -> None:
        """Tell a page that the text cites, which some upstreams do before its first word."""
        if self.stage is not Stage.OPEN:
            self._open()
        self.events.append(cited)

    def _open(self) -> None:
        self.stage = Stage.OPEN
        self.events.append(self.opening)


class CallBlock(Block):
    """A tool call; opened as soon as its name is known. Its input grows by fragments, which stay as they are.

    `given` is an input that was told apart from them; it counts where no fragment came.
    """

    __slots__ = ("given", "kind", "opening", "said")

    def __init__(self, kind: CallKind, order: int | None = None) -> None:
        super().__init__(order)
        self.kind = kind
        self.opening: CallOpened | None = None
        self.given = ""
        self.said = Streamed()

    def name(self, id_: str, name: str, namespace: str | None = None) -> None:
        """Open the call, and tell the input that came before its name."""
        self.opening = CallOpened(id_, name, self.kind, namespace)
        self.stage = Stage.OPEN
        self.events.append(self.opening)
        if self.said:
            self.events.append(CallDelta(self.said.text()))

    def add(self, piece: str) -> None:
        """Grow by a fragment of the input; an empty one says nothing."""
        if piece:
            self.said.add(piece)
            if self.stage is Stage.OPEN:
                self.events.append(CallDelta(piece))

    def require_name(self) -> None:
        """Raises Broken if the name never came."""
        if self.stage is Stage.UNSAID:
            raise Broken("a tool call of the upstream has no name")

    def close(self, *, cut: bool = False) -> None:
        """As for any block. No input at all stays nothing: every client is told of it in another way.

        Raises Broken if the name never came.
        """
        if not cut:
            self.require_name()
        if self.stage is Stage.OPEN and not self.said:
            self.add(self.given)
        super().close(cut=cut)


class CallIds:
    """Ids for the calls of one answer: the upstream's own where every client takes them, and no id twice.

    Ids that must be made come from the id of the `answer` and from the event that began the call, so that two
    answers of one conversation do not get the same.
    """

    __slots__ = ("_taken", "answer")

    def __init__(self) -> None:
        self.answer = ""
        self._taken: set[str] = set()

    def take(self, told: str | None, source: bytes) -> str:
        """The id of the next call; `source` is the event that began it."""
        identifier = call_id(told) if told else ""
        if not identifier or identifier in self._taken:
            seed = f"{self.answer} {len(self._taken)} ".encode()
            identifier = "call_" + sha256(seed + source[:_SOURCE_THAT_TELLS]).hexdigest()[:24]
        self._taken.add(identifier)
        return identifier


class Blocks:
    """The blocks of one answer in line: the first speaks, the others are held until it is whole.

    A whole block is closed when another one stands behind it, or at the end: only then it is known whether a
    limit has cut it.
    """

    __slots__ = ("_line", "_out")

    def __init__(self) -> None:
        self._out: list[Event] = []
        self._line: list[Block] = []

    @property
    def last(self) -> Block | None:
        """The block that began last, as far as it is not closed."""
        return self._line[-1] if self._line else None

    def tell(self, event: Event) -> None:
        """Say something that belongs to no block."""
        self._out.append(event)

    def begin(self, block: Block) -> None:
        """Put a new block in line: at the end, but before those that wait in a run with a higher order."""
        line = self._line
        at = len(line)
        if at > MAX_WAITING:
            raise Broken("too many blocks of the upstream are interleaved")
        while at > 1 and _goes_before(block, line[at - 1]):
            at -= 1
        line.insert(at, block)
        if at == 0:
            self._give_turn(block)
        self.advance()

    def advance(self) -> None:
        """Let the next ones speak as long as the first is whole and another waits."""
        line = self._line
        while len(line) > 1 and line[0].is_whole():
            self._pass_on(cut=False)

    def release(self, *, cut: bool) -> None:
        """Let all speak, whole or not; the last one stays open. `cut`: a limit ended the answer."""
        while len(self._line) > 1:
            self._pass_on(cut=cut and not self._line[0].is_whole())

    def settle(self, *, cut: bool) -> None:
        """The answer ends: let all speak and close them."""
        self.release(cut=cut)
        if self._line:
            self._line.pop().close(cut=cut)

    def take(self) -> tuple[Event, ...]:
        """What may go out now."""
        events = tuple(self._out)
        self._out.clear()
        return events

    def _pass_on(self, *, cut: bool) -> None:
        first = self._line.pop(0)
        first.close(cut=cut)
        first.events = []
        self._give_turn(self._line[0])

    def _give_turn(self, block: Block) -> None:
        self._out.extend(block.events)
        block.events = self._out


def _goes_before(block: Block, other: Block) -> bool:
    return block.order is not None and other.order is not None and block.order < other.order
