"""Says what a history holds in the way that both OpenAI protocols need it: call ids, inputs, results."""

from collections.abc import Iterator

from tidegate.core.conversation import Call, File, Image, Result, Text, Turn
from tidegate.core.events import CallKind
from tidegate.protocols.call_inputs import unwrapped
from tidegate.protocols.custom_tools import wrapped_input
from tidegate.protocols.losses import Losses

_ERROR = "Error"
_ERROR_START = "Error: "


def call_input(call: Call, wanted: CallKind) -> str:
    """The input for a tool of the kind that the upstream knows; no arguments are an empty object."""
    match wanted:
        case CallKind.CUSTOM:
            return call.input if call.kind is wanted else unwrapped(call.input)
        case CallKind.FUNCTION:
            return wrapped_input(call.input) if call.kind is CallKind.CUSTOM else call.input or "{}"


def failed_content(result: Result, losses: Losses) -> "str | tuple[Text | Image | File, ...]":
    """The content; of a call that failed, which only Messages can tell apart, marked as an error in words."""
    content = result.content or ""
    if not result.is_error:
        return content
    losses.approximated(f"{result.path}.is_error")
    if isinstance(content, str):
        return _marked(content)
    if not content:
        return _ERROR
    for number, part in enumerate(content):
        if isinstance(part, Text):
            marked = Text(text=_marked(part.text), path=part.path)
            return (*content[:number], marked, *content[number + 1 :])
    return (Text(text=_ERROR, path=result.path), *content)


class FirstResults:
    """Lets the first result of each call pass; more of them are dropped (conversion.md §3).

    Some servers give every answer's calls the same ids, so a call that comes again is another call.
    """

    def __init__(self, losses: Losses) -> None:
        self._losses = losses
        self._seen: set[str] = set()

    def call(self, call: Call) -> None:
        """A call stands in the history, so a result with its id is the first."""
        self._seen.discard(call.id)

    def of(self, turn: Turn) -> Iterator[Result]:
        """The results in a turn, in order."""
        for block in turn.blocks:
            if not isinstance(block, Result):
                continue
            if block.call_id in self._seen:
                self._losses.dropped(block.path)
                continue
            self._seen.add(block.call_id)
            yield block


def is_lone_string(turn: Turn) -> str | None:
    """The text of a turn that the client wrote as a string, not as an array of parts."""
    match turn.blocks:
        case ():
            return ""
        case (Text(text=text, path=path),) if "[" not in path[len(turn.path) :]:
            return text
        case _:  # parts
            return None


def _marked(text: str) -> str:
    if text.startswith(_ERROR_START):
        return text
    return _ERROR_START + text if text else _ERROR
