"""Watches a Responses stream on its way to a caller of the same protocol."""

import re

from tidegate.core.failure import Failure, Kind
from tidegate.core.sse import Form, Frame, reframed
from tidegate.core.usage import Usage, count
from tidegate.protocols.base import NO_IMPRINT, Asked, Clean, Imprint, Said, Seed
from tidegate.protocols.cleaning import cleaned_failure
from tidegate.protocols.event_edits import cleaned, event_name, with_data, with_known_model
from tidegate.protocols.loose import mapping
from tidegate.protocols.reading import load
from tidegate.protocols.responses import errors, usage, wire
from tidegate.protocols.service_tier import with_tier
from tidegate.protocols.transcript import Transcript

_DELTAS = frozenset(
    f"response.{name}.delta"
    for name in (
        "output_text",
        "refusal",
        "reasoning_text",
        "reasoning_summary_text",
        "function_call_arguments",
        "custom_tool_call_input",
        "audio",
        "audio.transcript",
    )
)
_OF_A_CALL = re.compile(r"response\.(?:\w+_call(?:_\w+)?|mcp_list_tools)\.\w+")
_OPENINGS = frozenset(f"response.{name}" for name in ("created", "queued", "in_progress"))
_TERMINALS = frozenset(f"response.{name}" for name in ("completed", "incomplete", "done"))
_FOREIGN = frozenset({"keepalive", "message_stop"})


class ResponsesWatcher:
    """Reads the events of one response; keeps its id and numbering for an error event."""

    def __init__(self, asked: Asked, clean: Clean, seed: Seed) -> None:
        self._asked = asked
        self._clean = clean
        self._said = Transcript()
        self._event = wire.Event()
        self._sequence = -1
        self._response_id = "resp_" + seed.id
        self._created_at = seed.now
        self._opened = False
        self.usage: Usage | None = None
        self.finish_reason: str | None = None
        self.incomplete = False
        self.failure: Failure | None = None
        self.ids: list[str] = []
        self.imprint = NO_IMPRINT
        self._noted: set[str] = set()

    @property
    def may_end(self) -> bool:
        """Never: on the same protocol the caller looks for the end mark itself."""
        return False

    @property
    def owes_usage(self) -> bool:
        """Never: usage stands in the terminal event."""
        return False

    def read(self, frame: Frame) -> Said:
        """What the event means; see `Watcher.read`."""
        data = frame.data
        if not data or data.isspace() or data.startswith(b"[DONE]"):
            return Said.DROPPED
        event = wire.parse(data)
        if event is None:
            self.failure = Failure(
                kind=Kind.UPSTREAM, message="an event of the upstream is not a JSON object"
            )
            return Said.BROKEN
        if event.type is None and frame.event is not None:
            event.type = frame.event.decode()
        self._event = event
        said = self._read_event(event, data)
        if said not in (Said.DROPPED, Said.ERROR):
            number = count(event.sequence_number)
            self._sequence = self._sequence if number is None else number
        return said

    def outgoing(self, frame: Frame) -> bytes:
        """The event for the caller: named after its type, `response.model` the caller's."""
        event = self._event
        name = event_name(event.type)
        data = frame.data if self.failure is None else self._cleaned_error(frame.data)
        if data is None:
            failure = self.failure or Failure(kind=Kind.UPSTREAM, message="")
            return self.error_event(cleaned_failure(failure, self._clean))
        response = event.response
        if response is not None and response.model is not None and response.model != self._asked.model:
            data = with_known_model(data, self._asked.model, "response")
        if data is not frame.data and data != frame.data:
            return with_data(frame, data, name)
        if frame.form is Form.PLAIN and frame.event == name:
            return frame.raw
        return reframed(frame, name)

    def text(self, start: int = 0) -> str:
        """Text, reasoning, refusals, tool names and arguments, in order."""
        return self._said.text(start)

    @property
    def spoken(self) -> int:
        """See `Watcher`."""
        return len(self._said)

    def error_event(self, failure: Failure) -> bytes:
        """`response.failed` with the next number and the stream's own id; opened first if nothing was."""
        return errors.failed_event(
            failure,
            sequence_number=self._sequence + 1,
            response_id=self._response_id,
            model=self._asked.model,
            created_at=self._created_at,
            opened=self._opened,
        )

    def closing(self, estimate: Usage | None) -> bytes:
        """Nothing: the terminal event came from the upstream."""
        del estimate
        return b""

    def _cleaned_error(self, data: bytes) -> bytes | None:
        """The upstream's own error, cleaned; None where it is in no form of this protocol."""
        payload = mapping(load(data))
        match payload.get("type"):
            case "response.failed":
                known = isinstance(payload.get("response"), dict)
            case "error":
                known = isinstance(payload.get("error"), dict) or isinstance(payload.get("message"), str)
            case _:  # an error object of another protocol, or a bare sentence
                known = False
        return cleaned(data, self._clean) if known else None

    def _read_event(self, event: wire.Event, data: bytes) -> Said:
        kind = event.type or ""
        if kind in _DELTAS:
            return self._heard(event.delta)
        if event.response is not None:
            self._remember(event.response)
        if kind in _OPENINGS:
            return Said.OPENING
        if kind in _TERMINALS:
            return self._read_terminal(kind, event.response or wire.Response())
        if kind in ("response.failed", "error") or event.error:
            self.failure = errors.read_error_event(load(data))
            return Said.ERROR
        if kind in _FOREIGN:
            return Said.DROPPED
        return self._read_inner(kind, event)

    def _read_inner(self, kind: str, event: wire.Event) -> Said:
        match kind:
            case "response.output_item.added":
                return Said.NOISE if event.item is None else self._read_added(event.item)
            case "response.output_item.done":
                return Said.NOISE if event.item is None else self._read_item_done(event.item)
            case "response.output_text.annotation.added":
                return Said.OUTPUT
            case "response.content_part.added" | "response.reasoning_summary_part.added":
                return Said.OUTPUT if _text_of(event.part) else Said.OPENING
            case "response.content_part.done" | "response.reasoning_summary_part.done":
                return Said.OUTPUT if _text_of(event.part) else Said.OPENING
            case _ if _OF_A_CALL.fullmatch(kind):
                return self._heard(event.delta or True)
            case _ if kind.startswith("response.") and kind.endswith(".done"):
                return Said.OUTPUT if event.text or event.refusal else Said.OPENING
            case _:  # events this version does not know
                return Said.NOISE

    def _heard(self, delta: object) -> Said:
        if not delta:
            return Said.NOISE
        if isinstance(delta, str):
            self._said.add(delta)
        return Said.OUTPUT

    def _read_added(self, item: wire.Item) -> Said:
        self._note_id(item.id)
        match item.type:
            case "message":
                return Said.OUTPUT if _holds_text(item.content) else Said.OPENING
            case "reasoning":
                said = _holds_text(item.content) or _holds_text(item.summary)
                return Said.OUTPUT if said else Said.REASONING
            case kind if (kind or "").endswith("_call"):
                self._said.add(item.name or "")
                return Said.OUTPUT
            case _:  # an item of a kind this version does not know
                return Said.NOISE

    def _read_item_done(self, item: wire.Item) -> Said:
        self._note_id(item.id)
        if item.type not in ("message", "reasoning"):
            return Said.OUTPUT if (item.type or "").endswith("_call") else Said.NOISE
        said = _holds_text(item.content) or _holds_text(item.summary) or bool(item.encrypted_content)
        return Said.OUTPUT if said else Said.OPENING

    def _read_terminal(self, kind: str, response: wire.Response) -> Said:
        reason = None if response.incomplete_details is None else response.incomplete_details.reason
        cut = kind == "response.incomplete" or response.status == "incomplete"
        self.incomplete = cut and reason != "content_filter"
        self.finish_reason = (reason or "incomplete") if cut else "completed"
        calls = ((item.type, item.action) for item in response.output or ())
        told = usage.with_searches(usage.read_usage(response.usage), response.tool_usage, calls)
        self.usage = with_tier(told, response.service_tier) or self.usage
        for item in response.output or ():
            self._note_id(item.id)
        return Said.END

    def _remember(self, response: wire.Response) -> None:
        self._opened = True
        if response.id is not None:
            self._response_id = response.id
            self._note_id(response.id)
        self.imprint = Imprint(response.id or self.imprint.id, response.model or self.imprint.model)
        self._created_at = count(response.created_at) or self._created_at

    def _note_id(self, identifier: str | None) -> None:
        if self._asked.stores and identifier and identifier not in self._noted:
            self._noted.add(identifier)
            self.ids.append(identifier)


def _text_of(part: wire.Part | None) -> str | None:
    return None if part is None else part.text or part.refusal


def _holds_text(parts: object) -> bool:
    """Whether any part of a content or summary list says something."""
    if isinstance(parts, str):
        return bool(parts)
    if not isinstance(parts, list):
        return False
    return any(isinstance(part, dict) and (part.get("text") or part.get("refusal")) for part in parts)
