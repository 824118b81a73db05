"""What every decoder does alike: it ends once, and what cannot be meant is a failure."""

from abc import ABC, abstractmethod

from tidegate.core.events import Event, Failed, Finished
from tidegate.core.failure import Failure, Kind
from tidegate.core.sse import Frame
from tidegate.protocols.blocks import Blocks, Broken
from tidegate.protocols.failures import failed
from tidegate.protocols.split_characters import SplitCharacters

NOT_JSON = "an event of the upstream is not a JSON object"


class StreamDecoder(ABC):
    """Reads one upstream stream; see `conversion.Decoder`. After Finished or Failed it says nothing."""

    def __init__(self) -> None:
        self._blocks = Blocks()
        self._over = False
        self._characters = SplitCharacters()

    def decode(self, frame: Frame) -> tuple[Event, ...]:
        """The events that the frame says."""
        if self._over or not frame.data or frame.data.isspace():
            return ()
        try:
            self._read(self._characters.join(frame))
        except (Broken, RecursionError) as error:
            self._give_up(error)
        return self._blocks.take()

    @property
    def finished(self) -> bool:
        """Whether the model has said how it ended, so that an orderly end of the stream loses nothing."""
        return False

    def finish(self) -> tuple[Event, ...]:
        """What was held back; it ends in Finished if the answer lacked only its end mark."""
        if self._over or not self.finished:
            return ()
        try:
            self._close_answer()
        except Broken as error:
            self._give_up(error)
        return self._blocks.take()

    def _close_answer(self) -> None:
        """The answer has ended. Raises Broken."""
        raise Broken("the upstream's answer has no end")

    @abstractmethod
    def _read(self, frame: Frame) -> None:
        """Take a frame that has data. Raises Broken."""

    def _give_up(self, error: Broken | RecursionError) -> None:
        detail = str(error) if isinstance(error, Broken) else "an event of the upstream has too many levels"
        self._fail(failed(Kind.UPSTREAM, detail))

    def _fail(self, failure: Failure) -> None:
        self._blocks.tell(Failed(failure))
        self._over = True

    def _end(self, finished: Finished, *, cut: bool) -> None:
        """The end mark came. Raises Broken if a block cannot be closed."""
        self._blocks.settle(cut=cut)
        self._blocks.tell(finished)
        self._over = True
