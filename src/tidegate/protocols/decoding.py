"""What every decoder does alike: it ends once, and what cannot be meant is a failure."""

from abc import ABC, abstractmethod

from tidegate.core.events import Event, Failed, Finished
from tidegate.core.failure import Failure, Kind
from tidegate.core.sse import Frame
from tidegate.protocols.blocks import Blocks, Broken
from tidegate.protocols.failures import failed

NOT_JSON = "an event of the upstream is not a JSON object"


class StreamDecoder(ABC):
    """Reads one upstream stream; see `conversion.Decoder`. After Finished or Failed it says nothing."""

    def __init__(self) -> None:
        self._blocks = Blocks()
        self._over = False

    def decode(self, frame: Frame) -> tuple[Event, ...]:
        """The events that the frame says."""
        if self._over or not frame.data or frame.data.isspace():
            return ()
        try:
            self._read(frame)
        except (Broken, RecursionError) as error:
            self._give_up(error)
        return self._blocks.take()

    def finish(self) -> tuple[Event, ...]:
        """Nothing: only the upstream's own end mark makes an answer whole."""
        return ()

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
