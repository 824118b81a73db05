"""Gathers a complete stream of Chat Completions into the whole answer that it says."""

from tidegate.core.failure import Failure
from tidegate.core.sse import Overflow
from tidegate.protocols.base import Asked
from tidegate.protocols.chat.answer import tells_failure
from tidegate.protocols.chat.errors import read_error_event
from tidegate.protocols.chat.fold import Choice, Object
from tidegate.protocols.loose import decoded, encoded, mappings
from tidegate.protocols.whole_answers import broken_stream
from tidegate.protocols.whole_streams import events_of, is_done

_NOT_KEPT = frozenset({"object", "choices", "usage", "obfuscation"})


def assemble(asked: Asked, stream: bytes) -> bytes | Failure:
    """The answer's JSON; a Failure if the stream told one, or did not finish every choice (CONTRACT.md)."""
    gathered = _Gathered()
    try:
        for frame in events_of(stream):
            if is_done(frame):
                return gathered.whole(asked.choices, confirmed=True)
            chunk = decoded(frame.data)
            if not isinstance(chunk, dict):
                return broken_stream("an event of the upstream is not a JSON object")
            if chunk.get("error") or frame.event == b"error" or _is_flat_error(chunk):
                return read_error_event(chunk)
            gathered.add(chunk)
        return gathered.whole(asked.choices, confirmed=False)
    except (Overflow, RecursionError):
        return broken_stream("an event of the upstream has too many lines or levels")


def _is_flat_error(chunk: Object) -> bool:
    """As older vLLM servers and other protocols tell errors."""
    return chunk.get("object") == "error" or chunk.get("type") in ("error", "response.failed")


class _Gathered:
    """What the chunks have told so far."""

    def __init__(self) -> None:
        self._head: Object = {}
        self._usage: object = None
        self._choices: dict[int, Choice] = {}

    def add(self, chunk: Object) -> None:
        """Take a chunk. The last usage that is told counts."""
        for name, value in chunk.items():
            if name not in _NOT_KEPT and (value is not None or name not in self._head):
                self._head[name] = value
        if isinstance(chunk.get("usage"), dict):
            self._usage = chunk["usage"]
        for entry in mappings(chunk.get("choices")):
            index = entry.get("index")
            self._choices.setdefault(index if isinstance(index, int) else 0, Choice()).add(entry)

    def whole(self, wanted: int, *, confirmed: bool) -> bytes | Failure:
        """The answer, if every choice seen and as many as were wanted have finished.

        An empty finish reason counts only where `[DONE]` has confirmed it.
        """
        reasons = [choice.finish_reason for choice in self._choices.values()]
        unfinished = None in reasons or (not confirmed and "" in reasons)
        if unfinished or len(reasons) < max(wanted, 1):
            return broken_stream("the upstream ended the stream without a finish reason")
        if any(tells_failure(reason or "") for reason in reasons):
            return broken_stream("the upstream gave up: finish reason " + str(reasons)[:200])
        choices = [choice.whole(index) for index, choice in sorted(self._choices.items())]
        answer = {**self._head, "object": "chat.completion", "choices": choices}
        if self._usage is not None:
            answer["usage"] = self._usage
        return encoded(answer)
