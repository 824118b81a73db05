"""Tells which tool call of a Chat stream a fragment belongs to, and when a call is whole."""

import re

from tidegate.core.events import CallKind
from tidegate.protocols.blocks import Broken, CallBlock, CallIds, Stage, Streamed
from tidegate.protocols.chat.heard import ToolCall
from tidegate.protocols.reading import load
from tidegate.protocols.whole_answers import argument_text

_MARK = re.compile(r'["\[\]{}]')
_STRING_MARK = re.compile(r'["\\]')


class Fragment:
    """What one entry of `delta.tool_calls` says, in one form for functions and custom tools."""

    __slots__ = ("id", "index", "input", "kind", "name")

    def __init__(self, entry: ToolCall) -> None:
        called, custom = entry.function, entry.custom
        self.index = entry.index
        self.id = entry.id or None
        if custom is not None:
            self.kind, self.name, self.input = (
                CallKind.CUSTOM,
                custom.name or None,
                argument_text(custom.input),
            )
        elif called is not None:
            self.kind, self.name = CallKind.FUNCTION, called.name or None
            self.input = argument_text(called.arguments)
        else:
            self.kind, self.name, self.input = CallKind.FUNCTION, None, ""


class ChatCall(CallBlock):
    """One call. Id and name count once, however often they come."""

    __slots__ = ("_object", "_unread", "told_id")

    def __init__(self, kind: CallKind, index: int | None) -> None:
        super().__init__(kind, index)
        self.told_id: str | None = None
        self._object = JsonObject()
        self._unread: list[str] = []

    def add(self, piece: str) -> None:
        """Grow by a fragment of the input."""
        super().add(piece)
        self._unread.append(piece)

    def is_whole(self) -> bool:
        """Whether the arguments are a complete object. Nothing tells that of a custom tool's free text."""
        for piece in self._unread:
            self._object.add(piece)
        self._unread.clear()
        return self.kind is CallKind.FUNCTION and self._object.is_closed(self.said)


class JsonObject:
    """Follows a JSON text piece by piece until its object is closed; each character is looked at once."""

    __slots__ = ("_closed", "_depth", "_escaped", "_in_string", "_sound")

    def __init__(self) -> None:
        self._depth = 0
        self._in_string = False
        self._escaped = False
        self._closed = False
        self._sound: bool | None = None

    def add(self, piece: str) -> None:
        """The next piece."""
        at = 0
        if self._escaped and piece:
            self._escaped, at = False, 1
        while (mark := (_STRING_MARK if self._in_string else _MARK).search(piece, at)) is not None:
            at = mark.end()
            match mark.group():
                case '"':
                    self._in_string = not self._in_string
                case "\\":
                    self._escaped = at >= len(piece)
                    at += 1
                case "{" | "[":
                    self._depth += 1
                case _:  # a closing bracket
                    self._depth -= 1
                    self._closed = self._closed or self._depth <= 0

    def is_closed(self, said: Streamed) -> bool:
        """Whether all that was `said` is an object and nothing more; decoded once, when it closes."""
        if self._closed and self._sound is None:
            self._sound = isinstance(load(said.text().encode()), dict)
        return bool(self._sound)


class ChatCalls:
    """The calls of one answer. Servers number them, or only give them ids, or neither.

    A fragment belongs to the call of its index, else to that of its id, else to the last one. What names
    itself under a new id is a new call, and so is what names itself when its call is already whole.
    """

    __slots__ = ("_by_id", "_by_index", "_last", "_legacy", "ids")

    def __init__(self) -> None:
        self._by_index: dict[int, ChatCall] = {}
        self._by_id: dict[str, ChatCall] = {}
        self.ids = CallIds()
        self._last: ChatCall | None = None
        self._legacy: ChatCall | None = None

    def __bool__(self) -> bool:
        """Whether anything was called."""
        return self._last is not None or self._legacy is not None

    def find(self, fragment: Fragment, before: ChatCall | None) -> ChatCall | None:
        """The call that a fragment goes on with, None: a new one. `before`: that of the entry beside it."""
        if fragment.index is not None:
            found = self._of_index(fragment.index, fragment.id)
        else:
            found = self._last if fragment.id is None else self._by_id.get(fragment.id)
        if found is None or fragment.name is None:
            return found
        return None if _is_another(found, fragment.name, fragment, before) else found

    def begin(self, fragment: Fragment) -> ChatCall | None:
        """The new call that a fragment begins; None: it says nothing. Raises Broken if it belongs to none."""
        if fragment.name is None and fragment.id is None:
            if fragment.input:
                raise Broken("a fragment of a tool call of the upstream belongs to none")
            return None
        self._last = ChatCall(fragment.kind, fragment.index)
        return self._last

    def legacy(self) -> tuple[ChatCall, bool]:
        """The call of the deprecated `function_call`, of which there is only one; whether it is new."""
        is_new = self._legacy is None
        self._legacy = self._legacy or ChatCall(CallKind.FUNCTION, None)
        return self._legacy, is_new

    def add(self, call: ChatCall, fragment: Fragment, source: bytes) -> None:
        """Let the call take what the fragment says. `source`: the event, of which a missing id is made.

        Raises Broken where a call that has been closed would change.
        """
        self._note(call, fragment)
        if call.stage is Stage.CLOSED:
            if fragment.input.strip() and not call.said.equals(fragment.input):
                raise Broken("the upstream went on with a tool call that was whole")
            return
        if fragment.name is not None and call.opening is None:
            call.name(self.ids.take(call.told_id, source), fragment.name)
        call.add(fragment.input)

    def _note(self, call: ChatCall, fragment: Fragment) -> None:
        if fragment.index is not None:
            self._by_index[fragment.index] = call
            call.order = fragment.index if call.order is None else call.order
        if fragment.id is not None and call.told_id is None:
            call.told_id = fragment.id
            self._by_id[fragment.id] = call

    def _of_index(self, index: int, id_: str | None) -> ChatCall | None:
        """A call that was not numbered so far may be by now."""
        found = self._by_index.get(index)
        if found is None and id_ is not None:
            same_id = self._by_id.get(id_)
            found = same_id if same_id is not None and same_id.order is None else None
        return found


def _is_another(call: ChatCall, name: str, fragment: Fragment, before: ChatCall | None) -> bool:
    """Whether a fragment that names itself begins another call although it has this one's place."""
    if fragment.id is None and call is before:
        return True
    if None not in (fragment.id, call.told_id) and fragment.id != call.told_id:
        return True
    if not fragment.input.strip() or not call.is_whole():
        return False
    return call.opening is None or name != call.opening.name or not call.said.equals(fragment.input)
