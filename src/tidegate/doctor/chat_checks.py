"""Checks the order and the members of a Chat Completions stream."""

from collections.abc import Iterator

from tidegate.core.protocol import Protocol
from tidegate.doctor.calls import Calls
from tidegate.doctor.expectation import Expectation, Summary
from tidegate.doctor.findings import Finding, at
from tidegate.doctor.framing import Event
from tidegate.doctor.members import Object, count, elements, part, word
from tidegate.doctor.phase import Phase
from tidegate.doctor.usage_checks import check_usage

FINISHES = frozenset({"stop", "length", "tool_calls", "content_filter", "function_call"})
_TEXTS = ("content", "refusal", "reasoning_content", "reasoning")


class _Choice:
    """What came of one choice so far."""

    def __init__(self) -> None:
        self.calls = Calls()
        self.finish: str | None = None
        self.deltas = 0


class ChatReader:
    """Follows one stream."""

    def __init__(self, expected: Expectation) -> None:
        self._expected = expected
        self._choices: dict[int, _Choice] = {}
        self._same: dict[str, object] = {}
        self._usage: Object | None = None
        self._spoken = 0
        self._heard: list[tuple[float, int]] = []
        self._phase = Phase.BEFORE

    def see_done(self, event: Event) -> Iterator[Finding]:
        """The end mark."""
        if self._phase.is_over:
            yield at(event, "after-end", "[DONE] after the end")
        self._phase = Phase.ENDED

    def see(self, event: Event, told: Object) -> Iterator[Finding]:
        """A chunk, or an error."""
        if self._phase.is_over:
            yield at(event, "after-end", "it comes after the end of the stream")
        if told.get("error"):
            self._phase = Phase.FAILED
            yield from check_error_event(event, told.get("error"))
            return
        yield from self._check_members(event, told)
        usage = told.get("usage")
        if isinstance(usage, dict):
            yield from self._check_place(event, told)
            self._usage = usage
        elif usage is not None:
            yield at(event, "usage-form", "usage is no object")
        elif self._usage is not None and elements(told, "choices") and self._waits_for_usage():
            yield at(event, "usage-place", "a choice goes on after usage, which comes last")
        for choice in elements(told, "choices"):
            yield from self._see_choice(event, choice)

    def end(self) -> Iterator[Finding]:
        """What is missing."""
        if self._phase is Phase.FAILED:
            return
        if not self._choices:
            yield Finding("finish", "no choice ever came")
        for index, choice in self._choices.items():
            yield from _end_choice(index, choice, self._expected.tool)
        if self._phase is not Phase.ENDED:
            yield Finding("end-mark", "the stream ends without data: [DONE]")
        if self._usage is not None:
            yield from check_usage(self._usage, Protocol.CHAT, spoken=self._spoken > 0)
        elif self._expected.usage:
            yield Finding("usage-missing", "usage was asked for (include_usage), and did not come")

    def summary(self) -> Summary:
        """What it said."""
        first = self._choices.get(0)
        return Summary(
            spoken=self._spoken,
            calls=() if first is None else first.calls.names,
            stop=None if first is None else first.finish,
            failed=self._phase is Phase.FAILED,
            output_tokens=count(self._usage, "completion_tokens"),
            heard=tuple(self._heard),
        )

    def _check_members(self, event: Event, told: Object) -> Iterator[Finding]:
        if not elements(told, "choices") and not isinstance(told.get("usage"), dict):
            message = "it has no choice: code that reads choices[0] fails"
            yield at(event, "chat-choices-empty", message)
            if told.get("choices") == [] and told.get("id") == "":
                return  # a filter tells of the prompt, before there is an answer with an id
        if told.get("object") != "chat.completion.chunk":
            message = f"its object is {told.get('object')!r}, not chat.completion.chunk"
            yield at(event, "chat-object", message)
        for name, right in (
            ("id", bool(word(told, "id"))),
            ("created", count(told, "created") is not None),
            ("model", bool(word(told, "model"))),
            ("choices", isinstance(told.get("choices"), list)),
        ):
            if not right:
                yield at(event, "chat-members", f"{name} is missing, or of the wrong kind")
            elif name != "choices" and self._same.setdefault(name, told[name]) != told[name]:
                yield at(event, "chat-same", f"{name} is not that of the chunks before")

    def _waits_for_usage(self) -> bool:
        return self._expected.usage and not self._phase.is_over

    def _check_place(self, event: Event, told: Object) -> Iterator[Finding]:
        if not self._expected.usage:
            yield at(event, "usage-unasked", "it tells usage, which was not asked for")
        elif elements(told, "choices"):
            yield at(event, "usage-place", "usage stands beside choices, not in a chunk of its own")
        elif self._usage is not None:
            yield at(event, "usage-place", "usage comes a second time")

    def _see_choice(self, event: Event, choice: object) -> Iterator[Finding]:
        index = count(choice, "index")
        if index is None:
            yield at(event, "chat-choice-index", "a choice has no index")
            return
        if index not in self._choices and index != len(self._choices):
            yield at(event, "chat-choice-index", f"choice {index} comes before choice {len(self._choices)}")
        known = self._choices.setdefault(index, _Choice())
        delta = choice.get("delta") if isinstance(choice, dict) else None
        if not isinstance(delta, dict):
            yield at(event, "chat-delta", "delta is no object")
            return
        yield from self._see_delta(event, known, delta)
        yield from _see_finish(event, known, choice)

    def _see_delta(self, event: Event, known: _Choice, delta: Object) -> Iterator[Finding]:
        yield from _check_role(event, delta.get("role"), first=known.deltas == 0)
        known.deltas += 1
        for name in _TEXTS:
            text = delta.get(name)
            if text is not None and not isinstance(text, str):
                yield at(event, "chat-delta", f"delta.{name} is no text")
        if delta.get("tool_calls") is not None and not isinstance(delta["tool_calls"], list):
            yield at(event, "chat-delta", "delta.tool_calls is no list")
        says = any(delta.get(name) for name in (*_TEXTS, "tool_calls"))
        self._spoken += says
        size = max(len(word(delta, name)) for name in _TEXTS)  # reasoning may stand there under both names
        if size:
            self._heard.append((event.at, size))
        if says and known.finish is not None:
            yield at(event, "chat-after-finish", "a choice goes on after its finish_reason")
        for call in elements(delta, "tool_calls"):
            yield from known.calls.see(event, call)


def _check_role(event: Event, role: object, *, first: bool) -> Iterator[Finding]:
    if first and role != "assistant":
        yield at(event, "chat-role", "the first delta of a choice does not tell the role assistant")
    elif role not in (None, "", "assistant"):
        yield at(event, "chat-role", f"the role is {role!r}, not assistant")


def _see_finish(event: Event, known: _Choice, choice: object) -> Iterator[Finding]:
    finish = choice.get("finish_reason") if isinstance(choice, dict) else None
    if finish is None:
        return
    if known.finish is not None:
        yield at(event, "finish", "a second finish_reason for the same choice")
    if not isinstance(finish, str):
        yield at(event, "finish", "finish_reason is no text")
    elif finish not in FINISHES:
        yield at(event, "finish-word", f"{finish!r} is no finish_reason of the protocol")
    known.finish = str(finish)


def _end_choice(index: int, choice: _Choice, forced: str | None) -> Iterator[Finding]:
    if choice.finish is None:
        yield Finding("finish", f"choice {index} has no finish_reason")
    yield from choice.calls.end(whole=choice.finish not in (None, "length"))
    if choice.finish == "stop" and choice.calls.names:
        known = "tool-finish-forced" if forced in choice.calls.names else "tool-finish"
        yield Finding(known, "the finish_reason is stop, though tools are called")
    if choice.finish == "tool_calls" and not choice.calls.names:
        yield Finding("tool-finish", "the finish_reason is tool_calls, but no tool is called")


def check_error_event(event: Event, error: object) -> Iterator[Finding]:
    """An error of the OpenAI protocols within a stream."""
    message = word(error, "message")
    yield at(event, "error-event", f"the stream ends with an error: {message or error}"[:300])
    if not message or not isinstance(part({"error": error}, "error").get("type"), str):
        yield at(event, "error-form", "error is no object with message and type")
